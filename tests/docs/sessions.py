"""
Sessions of the documents, run inside this process: ``phalanx`` and little else.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from adapters.cli.main import run
from tests.docs.pages import REPOSITORY, Block, blocks, recipe

COMMANDS = frozenset({"phalanx", ".venv/bin/phalanx"})
# They run this very suite, or all of CI, or take minutes.
NOT_RUN = frozenset({"make test", "make bench", "make setup", ".ci/run"})
_STATUS = "; echo $?"
_TIME = re.compile(r"\b\d+\.\d\d\b")
_VERSION = re.compile(r"\b\d+\.\d+\.\d+\b")

Capture = Callable[[], str]


def furnish(folder: Path, page: Path) -> None:
    """
    Lay out what a page's sessions see: the scenarios, and the page's own files.
    """
    (folder / "scenarios").symlink_to(REPOSITORY / "scenarios")
    for block in blocks(page):
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")


def play(command: str, capture: Capture) -> str:
    """
    Run one command line and give what a terminal would show.
    """
    line = command.removesuffix(_STATUS)
    if line.startswith("make "):
        line = recipe(line.removeprefix("make "))
    words = shlex.split(line)
    target = None
    if ">" in words:
        at = words.index(">")
        target, words = Path(words[at + 1]), words[:at]
    assert words[0] in COMMANDS, f"cannot run {command!r}"
    code = run(words[1:])
    shown = capture()
    if target is not None:
        target.write_text(shown, encoding="utf-8")
        shown = ""
    return f"{shown}{code}\n" if command.endswith(_STATUS) else shown


def settled(output: str) -> str:
    """
    Blank what differs from run to run and from machine to machine.
    """
    return _VERSION.sub("V", _TIME.sub("T", output)).strip()


def page_and_line(block: Block) -> str:
    return f"{block.page.relative_to(REPOSITORY)}:{block.line}"
