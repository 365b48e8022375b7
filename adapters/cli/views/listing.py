"""
Rows of any kind as a table, as JSON, YAML, CSV or names, once or as they change.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Generic, TypeVar

import typer

from adapters.cli.main import INTERRUPTED
from adapters.cli.terminal.output import Format, Paint, Table, as_text, emit, say
from models.names import nearest
from models.why.reasons import counted

T = TypeVar("T")
_EVERY = 1.0
COLOURS = {
    "Running": "green",
    "Waiting": "yellow",
    "Reserved": "yellow",
    "Leaving": "yellow",
    "Closed": "grey",
    "Finished": "grey",
    "rejected": "red",
    "failed": "red",
    "dropped": "yellow",
}


@dataclass(frozen=True, slots=True)
class ListColumn(Generic[T]):
    """
    One column: its head, its cell, and what rows are sorted by instead of the cell.

    ``wide`` is only shown with ``-o wide``; ``plain`` are the columns that take its
    place where programs read them.
    """

    head: str
    cell: Callable[[T], str]
    by: Callable[[T], Any] | None = None
    wide: bool = False
    right: bool = False
    plain: Mapping[str, Callable[[T], object]] = field(default_factory=dict)

    def key(self, row: T) -> Any:  # noqa: ANN401 - what can be compared
        """
        Give what a row is sorted by.
        """
        return _natural(self.cell(row)) if self.by is None else self.by(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """
    How rows of one kind are shown; ``kind`` is that of the list in JSON.

    ``foot`` sums the rows up for eyes; ``empty`` is said where there is no row.
    ``by_name`` says that rows have no order of their own.
    """

    kind: str
    columns: Sequence[ListColumn[T]]
    name: Callable[[T], str]
    document: Callable[[T], dict[str, Any]]
    state: Callable[[T], str]
    foot: Callable[[Sequence[T]], str]
    empty: str
    by_name: bool = False


def none_of(number: int, noun: str, source: str, so: str = "") -> str:
    """
    Say that there are none, or that none of those there are was asked for.
    """
    if number:
        return f"None of the {counted(number, noun)} in {source} matches."
    return f"No {noun}s in {source}{so}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """
    How rows are to be written.
    """

    form: Format = Format.TABLE
    sort: str | None = None
    head: bool = True
    paint: Paint = field(default_factory=Paint)


def look_of(
    form: Format, sort: str | None, *, no_color: bool, no_headers: bool
) -> Look:
    """
    Gather the options that say how rows are written.
    """
    return Look(
        form=form, sort=sort, head=not no_headers, paint=Paint(no_color=no_color)
    )


def show_or_follow(
    listing: Listing[T],
    rows: Callable[[], Iterable[T]],
    look: Look,
    *,
    watching: bool,
) -> None:
    """
    Write rows once, or what changes of them until somebody interrupts.
    """
    if not watching:
        show(listing, rows(), look)
        return
    pause = Event()
    try:
        for _ in watch(listing, iter(rows, None), look):
            pause.wait(_EVERY)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def show(listing: Listing[T], rows: Iterable[T], look: Look) -> None:
    """
    Write rows once.
    """
    found = _sorted(listing, rows, look)
    match look.form:
        case Format.JSON | Format.YAML:
            head = {"apiVersion": "phalanx/v1", "kind": listing.kind}
            items = [listing.document(row) for row in found]
            emit(as_text({**head, "items": items}, look.form))
        case Format.NAME:
            say(*map(listing.name, found))
        case Format.CSV:
            emit(_plain(listing, found).csv())
        case _:
            say(*_lines(listing, found, look))


def watch(
    listing: Listing[T], looks: Iterable[Iterable[T]], look: Look
) -> Iterator[None]:
    """
    Write all rows, then those that have changed since, as often as somebody looks.

    JSON is one object a line.
    """
    if look.form not in {Format.TABLE, Format.WIDE, Format.JSON, Format.NAME}:
        raise typer.BadParameter(f"-o {look.form} cannot be watched, use json")
    said: dict[str, tuple[str, T]] = {}
    first = True
    for rows in looks:
        found = _sorted(listing, rows, look)
        written = {
            listing.name(row): (_written(listing, row, look), row) for row in found
        }
        new = [
            row
            for name, (text, row) in written.items()
            if name not in said or said[name][0] != text
        ]
        gone = [row for name, (_, row) in said.items() if name not in written]
        said = written
        _update(listing, new, gone, replace(look, head=look.head and first))
        first = False
        yield


def _update(
    listing: Listing[T], new: Sequence[T], gone: Sequence[T], look: Look
) -> None:
    match look.form:
        case Format.JSON:
            lines = [json.dumps(listing.document(row)) for row in new]
            last = ({**listing.document(row), "state": "Gone"} for row in gone)
            lines += map(json.dumps, last)
        case Format.NAME:
            lines = [listing.name(row) for row in new]
        case _:
            table = _table(listing, new, wide=look.form is Format.WIDE)
            lines = table.lines() if new or look.head else []
            lines = lines if look.head else lines[1:]
            lines += [f"{listing.name(row)} is gone" for row in gone]
    if lines:
        say(*lines)


def _written(listing: Listing[T], row: T, look: Look) -> str:
    """
    Write all of a row that is shown: it has changed when this has.
    """
    # The time that goes by is no change.
    if look.form is Format.JSON:
        return json.dumps({**listing.document(row), "ageSeconds": None})
    wide = look.form is Format.WIDE
    shown = (c for c in listing.columns if wide or not c.wide)
    return "\t".join(c.cell(row) for c in shown if c.head != "AGE")


def _lines(listing: Listing[T], rows: Sequence[T], look: Look) -> list[str]:
    if not rows:
        return [listing.empty]
    table = _table(listing, rows, wide=look.form is Format.WIDE)
    head, *lines = table.lines()
    painted = [
        look.paint(COLOURS[state], line)
        if (state := listing.state(row)) in COLOURS
        else line
        for line, row in zip(lines, rows, strict=True)
    ]
    foot = listing.foot(rows).split("\n")
    return [*([head] if look.head else []), *painted, "", *foot]


def table_of(listing: Listing[T], rows: Sequence[T], look: Look) -> Table:
    """
    Lay rows out in columns, without anything around them.
    """
    return _table(listing, rows, wide=look.form is Format.WIDE)


def _table(listing: Listing[T], rows: Sequence[T], *, wide: bool) -> Table:
    columns = [column for column in listing.columns if wide or not column.wide]
    right = frozenset(at for at, column in enumerate(columns) if column.right)
    cells = [[column.cell(row) for column in columns] for row in rows]
    return Table([column.head for column in columns], cells, right)


def _plain(listing: Listing[T], rows: Sequence[T]) -> Table:
    """
    Lay rows out for programs: numbers without commas, nothing where there is nothing.
    """
    cells: dict[str, Callable[[T], object]] = {}
    for column in listing.columns:
        head = column.head.lower().replace(" ", "_")
        cells |= column.plain or {head: column.cell}
    written = [[_bare(str(cell(row))) for cell in cells.values()] for row in rows]
    return Table(list(cells), written)


def _bare(cell: str) -> str:
    if cell == "–":
        return ""
    bare = cell.replace(",", "")
    return bare if bare.isdecimal() else cell


def _sorted(listing: Listing[T], rows: Iterable[T], look: Look) -> list[T]:
    found = list(rows)
    if look.sort is None:
        if not listing.by_name:
            return found
        return sorted(found, key=lambda row: _natural(listing.name(row)))
    word, down = look.sort.removeprefix("-").upper(), look.sort.startswith("-")
    column = next((c for c in listing.columns if c.head == word), None)
    if column is None:
        heads = [column.head.lower() for column in listing.columns]
        meant = nearest(word, heads)
        hint = f", did you mean {meant}?" if meant else f": {', '.join(heads)}"
        raise typer.BadParameter(f"nothing is sorted by {look.sort!r}{hint}")
    return sorted(found, key=column.key, reverse=down)


_DIGITS = re.compile(r"([0-9]+)")


def _natural(text: str) -> list[tuple[int, str]]:
    """
    Order texts as people count: a-2 comes before a-10.
    """
    return [
        (len(digits := part.lstrip("0")), digits) if at % 2 else (0, part)
        for at, part in enumerate(_DIGITS.split(text))
    ]


def span(seconds: float) -> str:
    """
    Write a time that went by as kubectl does: 41s, 4m, 3h12m, 2d4h.
    """
    whole = int(max(0, seconds))
    if whole < 120:
        return f"{whole}s"
    minutes, hours = whole // 60, whole // 3600
    if minutes < 60:
        return f"{minutes}m"
    if hours < 48:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    days = hours // 24
    return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
