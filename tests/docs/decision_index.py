"""
The table of decisions in ``docs/README.md``: a row of each page, by its title.
"""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "README.md"
HEADER = "| number | decision |\n|---|---|\n"
_TITLE = re.compile(r"# (?P<number>\d{4}): (?P<decision>[^a-z].+)")


def fresh() -> str:
    """
    Write the page anew from the titles of the decisions.
    """
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(HEADER)
    after = rest[rest.index("\n\n") :]
    return head + HEADER + "\n".join(_rows()) + after


def titles() -> list[tuple[str, str, Path]]:
    """
    Read number and title of every decision.

    Raises
    ------
    ValueError
        When a page does not begin with ``# 0123: What was decided``.
    """
    found = []
    for path in sorted((DOCS / "adr").glob("*.md")):
        line = path.read_text(encoding="utf-8").partition("\n")[0]
        title = _TITLE.fullmatch(line)
        if title is None or not path.name.startswith(title["number"]):
            raise ValueError(f"{path.name} begins with {line!r}, not its number")
        found.append((title["number"], title["decision"], path))
    return found


def _rows() -> list[str]:
    return [
        f"| [{number}]({path.relative_to(DOCS)}) | {decision} |"
        for number, decision, path in titles()
    ]
