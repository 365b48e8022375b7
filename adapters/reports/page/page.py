"""
A report as records: sections of texts, tables and drawings, before they are written.

The same page becomes HTML and Markdown. Nothing here knows what was compared, and no
text is escaped: whoever writes the page does that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.reports.charts.charts import Chart

Tone = Literal["", "good", "bad", "faint"]


@dataclass(frozen=True, slots=True)
class Cell:
    """
    One cell of a table; ``key`` is what its column is sorted by.
    """

    text: str
    key: float | None = None
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Column:
    """
    The head of a column; ``right`` is for numbers.
    """

    name: str
    right: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """
    A table with a caption; the first cell of a row is its head.

    A ``stacked`` one becomes a list of its rows on a phone; others are moved sideways.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    sortable: bool = True
    stacked: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """
    Paragraphs.
    """

    paragraphs: Sequence[str]


@dataclass(frozen=True, slots=True)
class Items:
    """
    A list of short sentences.
    """

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """
    Names with their values.
    """

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tile:
    """
    One number of the summary: what it is, how much, and compared with what.
    """

    label: str
    value: str
    note: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Key:
    """
    One line of a legend: a colour's role, and the shape or the dashes that go with it.
    """

    label: str
    role: str
    mark: str = "area"
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """
    One drawing of a figure; of those of one ``group`` all are seen together.
    """

    title: str
    chart: Chart
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """
    Drawings with one legend, what they say in words, and their numbers as a table.

    Of a figure with ``choice`` one group of panels is seen at a time; the choice names
    what a reader chooses between.
    """

    name: str
    caption: str
    reading: str
    panels: Sequence[Panel]
    keys: Sequence[Key] = ()
    numbers: Grid | None = None
    choice: str = ""


Block = Text | Items | Facts | Grid | Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """
    One part of the page, which the list of contents names.
    """

    name: str
    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    A whole report: the summary of one screen, the sections, and every number.

    ``document`` is what ``results.json`` holds; the page carries it along. Where that
    file also lies on the disk, it is ``beside`` the page's source.
    """

    kind: str
    title: str
    lead: Sequence[str]
    verdict: str
    certainty: str
    tiles: Sequence[Tile]
    sections: Sequence[Section]
    document: dict[str, Any]
    beside: bool = False
    made_by: Sequence[tuple[str, str]] = field(default_factory=tuple)
