"""
Write what the commands of a page print into the page: ``python -m tests.docs.rewrite``.

Run from the top of the checkout after the output has changed on purpose, and read the
difference before it is committed.
"""

import contextlib
import io
import os
import tempfile
from pathlib import Path

from tests.docs import decision_index, scenario_index
from tests.docs.pages import blocks, is_session, pages, steps
from tests.docs.sessions import NOT_RUN, furnish, play, settled


def rewrite(page: Path) -> None:
    """
    Play every session of a page; keep what differs in nothing but times and versions.
    """
    text = page.read_text(encoding="utf-8")
    for block in filter(is_session, blocks(page)):
        parts = []
        for step in steps(block):
            output = step.output
            if step.command not in NOT_RUN:
                fresh = _printed(step.command)
                if settled(fresh) != settled(output):
                    output = fresh
            parts.append(f"$ {step.command}\n{output}")
        text = text.replace(block.text, "".join(parts), 1)
    page.write_text(text, encoding="utf-8")


def _printed(command: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return play(command, lambda: _taken(out) + _taken(err))


def _taken(stream: io.StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text


def main() -> None:
    """
    Rewrite all pages that hold sessions, and the indexes of scenarios and decisions.
    """
    for index in (scenario_index, decision_index):
        index.PAGE.write_text(index.fresh(), encoding="utf-8")
    here = Path.cwd()
    for page in pages():
        if not any(is_session(block) for block in blocks(page)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            furnish(Path(folder), page)
            os.chdir(folder)
            try:
                rewrite(page)
            finally:
                os.chdir(here)


if __name__ == "__main__":
    main()
