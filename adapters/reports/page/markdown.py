"""
Write a page as Markdown: what a pull request can show, without its drawings.
"""

import re
from collections.abc import Iterator, Sequence

from adapters.reports.page.page import Block, Facts, Figure, Grid, Items, Page, Text
from models.errors import escaped

MOST_ROWS = 30
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$@!&]|:(?=\S))")


def as_markdown(page: Page, *, folded: bool = True) -> str:
    """
    Write a page; the same page gives the same bytes.

    Sections are ``folded`` where they can be opened; in a terminal they have headings.
    """
    return "\n".join(_lines(page, folded=folded)).rstrip() + "\n"


def _lines(page: Page, *, folded: bool) -> Iterator[str]:
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
        body = [line for block in section.blocks for line in _block(block)]
        heading = plain(section.heading)
        yield f"<details><summary>{heading}</summary>" if folded else f"### {heading}"
        yield ""
        yield from body
        if folded:
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
    left = len(grid.rows) - MOST_ROWS
    notes = [f"{left:,} more rows are left out here.", *grid.notes]
    for note in notes if left > 0 else notes[1:]:
        yield plain(note)
        yield ""


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(plain, cells))} |"


def plain(text: str) -> str:
    """
    Escape what Markdown would read as more than text, line ends among it.
    """
    return _SIGNS.sub(r"\\\1", escaped(" ".join(text.split())))
