"""
Cells of comma-separated values: what others wrote is shown there and run nowhere.

A spreadsheet runs a text that begins with one of a few signs, so such a cell gets an
apostrophe before it; whoever reads our files takes it away again.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from models.errors import escaped

_RUN = re.compile(r"'*[=+\-@|＝＋－＠]")  # noqa: RUF001 - some read these alike
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?: %)?")


class CsvWriter:
    """
    Writes rows with every text in them made safe.
    """

    def __init__(self, stream: TextIO) -> None:
        self._rows = csv.writer(stream, lineterminator="\n")

    def row(self, cells: Iterable[object]) -> None:
        """
        Write one row.
        """
        self._rows.writerow([_guarded(c) if isinstance(c, str) else c for c in cells])


def csv_rows(lines: Iterable[str]) -> Iterator[list[str]]:
    """
    Read rows that were written here, cells as they were given.
    """
    for row in csv.reader(lines):
        yield [as_given(cell) for cell in row]


def as_given(cell: str) -> str:
    """
    Take away the apostrophe that guards a cell.
    """
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def _guarded(text: str) -> str:
    shown = escaped(text)
    if _RUN.match(shown) and not _NUMBER.fullmatch(shown):
        return f"'{shown}"
    return shown
