"""
What every command shares on its way out: formats, tables, colour.

What others wrote may hold anything; here, where it leaves, it is escaped.
"""

import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TextIO

from adapters.machine.csv_cells import CsvWriter
from models.errors import LONGEST_SHOWN, escaped

# Longer than any name of an object, its namespace and what stands beside it: two names
# of nodes and an arrow have 507 characters.
_LONGEST_WORD = 600
_LONG = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")


class ReaderGoneError(Exception):
    """
    Whoever read our output has closed it; the rest is not wanted.
    """


class Format(StrEnum):
    """
    How an answer is written.
    """

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Table:
    """
    Rows for eyes, or as CSV; columns named in ``right`` are aligned to the right.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int] = frozenset()

    def lines(self) -> list[str]:
        """
        Lay the rows out in columns.
        """
        every = [list(self.head), *map(_cells, self.rows)]
        widths = [max(len(row[i]) for row in every) for i in range(len(self.head))]
        return [self._line(row, widths) for row in every]

    def folded(self, width: int | None) -> list[str]:
        """
        Lay the rows out; where they are too wide, the last cell goes below its row.
        """
        lines = self.lines()
        if width is None or max(map(len, lines)) <= width:
            return lines
        narrow = Table(self.head[:-1], [row[:-1] for row in self.rows], self.right)
        head, *rest = narrow.lines()
        laid = [head]
        for line, row in zip(rest, self.rows, strict=True):
            laid += [line, *noted([for_eyes(row[-1])], width)]
        return laid

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            cell.rjust(width) if index in self.right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def csv(self) -> str:
        """
        Write the rows as comma-separated values.
        """
        out = io.StringIO()
        writer = CsvWriter(out)
        writer.row([name.lower() for name in self.head])
        for row in self.rows:
            writer.row(row)
        return out.getvalue()


def _cells(row: Sequence[str]) -> list[str]:
    """
    Write the cells of a row; only the last may be longer than any name.
    """
    *others, last = row
    return [*(for_eyes(cell, _LONGEST_WORD) for cell in others), for_eyes(last)]


def for_eyes(text: str, most: int | None = None) -> str:
    """
    Escape a text and cut what is longer than any name: nobody's may hide the others'.
    """
    if len(text) > _LONGEST_WORD:
        text = _LONG.sub(lambda word: f"{word[0][:LONGEST_SHOWN]}…", text)
        if most is not None and len(text) > most:
            text = f"{text[:most]}…"
    return escaped(text)


def noted(notes: Sequence[str], width: int | None) -> list[str]:
    """
    Indent notes below what they are about, wrapped where the screen is narrow.
    """
    if width is None:
        return [f"  {note}" for note in notes]
    room = max(20, width - 2)
    return [f"  {line}" for note in notes for line in textwrap.wrap(note, room)]


def joined(parts: Sequence[str], width: int | None) -> list[str]:
    """
    Join facts with dots, on more lines where the screen is too narrow for one.
    """
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        if width is None or len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(f"  {part}")
    return lines


def screen_width() -> int | None:
    """
    Give the columns of the terminal, or nothing where no person looks.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def as_text(document: Any, form: Format) -> str:  # noqa: ANN401 - plain values
    """
    Write plain values as JSON or YAML.
    """
    if form is Format.YAML:
        from adapters.files.writing.yaml_writer import yaml_document

        return yaml_document(document)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    return escaped(text, lambda sign: sign if sign == "\n" else json.dumps(sign)[1:-1])


def say(*lines: str) -> None:
    """
    Put lines for eyes on standard output, each on one line whatever it holds.
    """
    emit("\n".join(map(_shown, lines)))


def emit(text: str) -> None:
    """
    Put data on standard output; in it, its form has escaped what others wrote.
    """
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        _give_up(sys.stdout)
        raise ReaderGoneError from error


def note(text: str) -> None:
    """
    Put a line that is not data on standard error; where nobody reads it, it is lost.
    """
    try:
        sys.stderr.write(f"{for_eyes(text)}\n")
    except BrokenPipeError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """
    Let nothing more be written there, not even by the interpreter's own exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def warn(texts: Iterable[str], where: str = "") -> None:
    """
    Put what was not read, or not obeyed, on standard error.
    """
    for text in texts:
        note(f"warning: {where}{text}")


_CODES = {"green": "32", "yellow": "33", "red": "31", "grey": "90", "bold": "1"}


class Painted(str):
    """
    A whole line that has a colour.
    """

    __slots__ = ("colour",)
    colour: str

    def __new__(cls, text: str, colour: str) -> Self:
        """
        Keep the colour beside the text, which is escaped later.
        """
        made = super().__new__(cls, text)
        made.colour = colour
        return made


def _shown(line: str) -> str:
    text = for_eyes(line)
    if isinstance(line, Painted):
        return f"\033[{_CODES[line.colour]}m{text}\033[0m"
    return text


class Paint:
    """
    Colour for lines, only where a person looks and has not said no.
    """

    def __init__(self, *, no_color: bool = False) -> None:
        plain = no_color or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self._on = not plain and sys.stdout.isatty()

    def __call__(self, colour: str, text: str) -> str:
        """
        Colour a line, or give it as it is.
        """
        return Painted(text, colour) if self._on else text
