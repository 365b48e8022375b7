"""
Where we are not as good as another scheduler on purpose: the table in the documents.
"""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "conformance.md"
MOST = 8
_ROW = re.compile(r"\| `([a-z0-9/-]+)` \| (.+?) \| (.+?) \| (.+?) \|")


@dataclass(frozen=True)
class Listed:
    """
    A difference that is listed, with the sentence that is the reason.
    """

    name: str
    other: str
    ours: str
    sentence: str


def listed() -> dict[str, Listed]:
    """
    Read the differences that the documents list, by case.
    """
    rows = (_ROW.fullmatch(line) for line in PAGE.read_text().splitlines())
    found = [Listed(*row.groups()) for row in rows if row]
    return {one.name: one for one in found}
