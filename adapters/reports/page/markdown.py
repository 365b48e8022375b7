"""
Write a page as Markdown: what a pull request can show, without its drawings.
"""

import re
from collections.abc import Iterator, Sequence

from adapters.reports.page.page import Block, Facts, Figure, Grid, Items, Page, Text
from models.errors import escaped

MOST_ROWS = 30
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$@!&]|:(?=\S))")


def as_markdown(page: Page) -> str:
    """
    Write a page; the same page gives the same bytes.
    """
    return "\n".join(_lines(page)).rstrip() + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield f"## {plain(page.title)}"
    yield ""
    yield f"**{plain(page.verdict)}** {plain(page.certainty)}"
    yield ""
    for line in page.lead:
        yield plain(line)
        yield ""
    if page.tiles:
        yield "| | | |"
        yield "|---|---:|---|"
        for tile in page.tiles:
            yield f"| {plain(tile.label)} | {plain(tile.value)} | {plain(tile.note)} |"
        yield ""
    for section in page.sections:
        yield f"<details><summary>{plain(section.heading)}</summary>"
        yield ""
        for block in section.blocks:
            yield from _block(block)
        yield "</details>"
        yield ""
    facts = "; ".join(f"{plain(name)} {plain(value)}" for name, value in page.made_by)
    yield facts


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            for paragraph in block.paragraphs:
                yield plain(paragraph)
                yield ""
        case Items():
            for item in block.items:
                yield f"- {plain(item)}"
            yield ""
        case Facts():
            for name, value in block.pairs:
                yield f"- {plain(name)}: {plain(value)}"
            yield ""
        case Grid():
            yield from _grid(block)
        case Figure():
            if block.numbers is not None:
                yield from _grid(block.numbers)


def _grid(grid: Grid) -> Iterator[str]:
    yield f"**{plain(grid.caption)}**"
    yield ""
    yield _row([column.name for column in grid.columns])
    yield _row(["---:" if column.right else "---" for column in grid.columns], raw=True)
    for row in grid.rows[:MOST_ROWS]:
        yield _row([cell.text for cell in row])
    yield ""
    for note in notes_below(grid):
        yield plain(note)
        yield ""


def notes_below(grid: Grid) -> Sequence[str]:
    """
    Say below a table how many of its rows are left out, and what it notes itself.
    """
    left = len(grid.rows) - MOST_ROWS
    cut = [f"{left:,} more rows are left out here."] if left > 0 else []
    return [*cut, *grid.notes]


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(plain, cells))} |"


def plain(text: str) -> str:
    """
    Escape what Markdown would read as more than text, line ends among it.
    """
    return _SIGNS.sub(r"\\\1", escaped(" ".join(text.split())))
