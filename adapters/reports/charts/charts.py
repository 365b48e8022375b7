"""
Charts as records: what is drawn, against which axes, in which roles.

Whoever draws them needs the extra ``report``; whoever makes them does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """
    One axis: its title with the unit, its ticks as people read them, its ends.
    """

    title: str
    ticks: Sequence[tuple[float, str]] = ()
    low: float | None = None
    high: float | None = None
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class ChartPart:
    """
    A part of a whole, and the role of its colour.
    """

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class ChartPiece:
    """
    How much of a row, or of a moment, a part takes.
    """

    at: str
    part: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """
    Rows of bars, each split into parts.
    """

    rows: Sequence[str]
    parts: Sequence[ChartPart]
    pieces: Sequence[ChartPiece]
    axis: Axis


@dataclass(frozen=True, slots=True)
class Span:
    """
    From a low over a middle to a high value of one series in one row.

    ``text`` says the values in words.
    """

    at: str
    rank: int
    low: float
    middle: float
    high: float
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """
    Rows in which each series has a dot, a tick and an end, joined by a line.

    Within a row the series stand in the order of ``ranks``.
    """

    rows: Sequence[str]
    ranks: Sequence[int]
    spans: Sequence[Span]
    axis: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """
    Rows with one dot for each series, joined by a line: how far they are apart.
    """

    rows: Sequence[str]
    points: Sequence[tuple[str, int, float]]
    axis: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Areas:
    """
    Parts of a whole over time, on top of each other; each moment lasts to the next.

    ``detail`` is the same with more moments, for who looks closer.
    """

    moments: Sequence[float]
    parts: Sequence[ChartPart]
    shares: Sequence[Sequence[float]]
    time: Axis
    axis: Axis
    detail: "Areas | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """
    Values of some series over time; each holds until the next.

    ``detail`` is the same with more moments.
    """

    moments: Sequence[float]
    series: Sequence[tuple[int, Sequence[float | None]]]
    time: Axis
    axis: Axis
    detail: "Lines | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """
    Points of some series.
    """

    points: Sequence[tuple[float, float, int]]
    across: Axis
    up: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """
    One line for each row, in colours by how full it is: from, to, row, role.

    ``levels`` say it again for each row, one digit for each of many equal steps.
    """

    rows: Sequence[str]
    runs: Sequence[tuple[float, float, int, str]]
    time: Axis
    levels: Sequence[str] = ()


Chart = Bars | Spans | Pairs | Areas | Lines | Points | Strip
