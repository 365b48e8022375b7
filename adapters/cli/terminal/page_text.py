"""
Write a page of a report for a terminal: headings, paragraphs and aligned tables.
"""

import textwrap
from collections.abc import Iterator

from adapters.cli.terminal.output import Table, for_eyes
from adapters.reports.page.markdown import MOST_ROWS, notes_below
from adapters.reports.page.page import Block, Facts, Figure, Grid, Items, Page, Text

_LEAST_WIDTH = 40


def page_text(page: Page, width: int) -> str:
    """
    Write a page for a screen of so many columns; nothing is escaped as Markdown is.
    """
    room = max(_LEAST_WIDTH, width)
    return "\n".join(_lines(page, room)).rstrip() + "\n"


def _lines(page: Page, width: int) -> Iterator[str]:
    yield from _heading(page.title, "=", width)
    for text in (f"{page.verdict} {page.certainty}", *page.lead):
        yield from _paragraph(text, width)
    if page.tiles:
        rows = [
            tuple(map(_words, (tile.label, tile.value, tile.note)))
            for tile in page.tiles
        ]
        _, *lines = Table(("", "", ""), rows, frozenset({1})).folded(width)
        yield from lines
        yield ""
    for section in page.sections:
        yield from _heading(section.heading, "-", width)
        for block in section.blocks:
            yield from _block(block, width)
    facts = "; ".join(f"{name} {value}" for name, value in page.made_by)
    yield from _paragraph(facts, width)


def _heading(text: str, rule: str, width: int) -> Iterator[str]:
    lines = textwrap.wrap(for_eyes(text), width)
    yield from lines
    yield rule * max(map(len, lines), default=0)
    yield ""


def _paragraph(text: str, width: int, mark: str = "") -> Iterator[str]:
    yield from textwrap.wrap(
        for_eyes(_words(text)),
        width,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
    )
    yield ""


def _words(text: str, most: int | None = None) -> str:
    """
    Put plain spaces between words, none that keep lines together; cut what is long.
    """
    words = " ".join(text.split())
    return words if most is None or len(words) <= most else f"{words[: most - 1]}…"


def _block(block: Block, width: int) -> Iterator[str]:
    match block:
        case Text():
            for paragraph in block.paragraphs:
                yield from _paragraph(paragraph, width)
        case Items():
            for item in block.items:
                yield from [*_paragraph(item, width, "- ")][:-1]
            yield ""
        case Facts():
            for name, value in block.pairs:
                yield from [*_paragraph(f"{name}: {value}", width, "- ")][:-1]
            yield ""
        case Grid():
            yield from _grid(block, width)
        case Figure():
            if block.numbers is not None:
                yield from _grid(block.numbers, width)


def _grid(grid: Grid, width: int) -> Iterator[str]:
    yield from [*_paragraph(grid.caption, width)][:-1]
    rows = [
        [*(_words(cell.text, width // 2) for cell in row[:-1]), _words(row[-1].text)]
        for row in grid.rows[:MOST_ROWS]
    ]
    table = Table(
        [column.name.upper() for column in grid.columns],
        rows,
        frozenset(at for at, column in enumerate(grid.columns) if column.right),
    )
    yield from table.folded(width)
    yield ""
    for note in notes_below(grid):
        yield from _paragraph(note, width)
