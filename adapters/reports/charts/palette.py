"""
Colours by their role, for light and for dark, and the shapes that go with them.

A chart is drawn once, in the light colours; the style sheet of the page gives each of
them its role again, so that one drawing follows the reader's choice. No meaning hangs
on colour alone: lines differ in their dashes, points in their shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """
    One role: how it is called in the style sheet, and what it is in light and dark.
    """

    role: str
    light: str
    dark: str


INK = Colour("ink", "#1f2328", "#e8ecf1")
FAINT = Colour("faint", "#59636e", "#a3adb8")
LINE = Colour("line", "#c9d1d9", "#4b5561")
GRID = Colour("grid", "#e4e9ee", "#303842")
CARD = Colour("card", "#ffffff", "#1a1f26")
PAGE = Colour("page", "#f3f5f8", "#11151a")
LINK = Colour("link", "#0a58a8", "#7cbcff")
GOOD = Colour("good", "#17702f", "#62cc80")
BAD = Colour("bad", "#b0231a", "#ff8f85")

SERIES = (
    Colour("s0", "#0b5fb5", "#6fb5ff"),
    Colour("s1", "#b84a08", "#ffa366"),
    Colour("s2", "#0d7a66", "#52d0b8"),
    Colour("s3", "#7b3fb3", "#c9a0ff"),
    Colour("s4", "#8f6a00", "#e3c04d"),
    Colour("s5", "#a51d5d", "#ff8cbd"),
)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (7, 3),
    (2, 2),
    (9, 3, 2, 3),
    (5, 2),
    (3, 5),
)

USED = Colour("used", "#2a6db0", "#4b93d8")
FRAGMENTED = Colour("fragmented", "#d9821b", "#f2ad50")
QUOTA = Colour("quota", "#7d52bd", "#b394ef")
UNWANTED = Colour("unwanted", "#b9c2cc", "#4d5763")
HELD = Colour("held", "#1d9a8a", "#46c7b4")
FREED = Colour("freed", "#8a8f2a", "#c9cf5e")
LENT = Colour("lent", "#7fb2e0", "#a9d1f7")
INCOMPLETE = Colour("incomplete", "#c2347a", "#f27fb2")
AWAY = Colour("away", "#3c434b", "#8b96a3")

HEAT = (
    Colour("h0", "#edf1f5", "#232a32"),
    Colour("h1", "#c3d9ee", "#24425f"),
    Colour("h2", "#86b4dc", "#2c6499"),
    Colour("h3", "#4184c5", "#4c96da"),
    Colour("h4", "#0c4d92", "#a3d0ff"),
)

EVERY = (
    *(INK, FAINT, LINE, GRID, CARD, PAGE, LINK, GOOD, BAD),
    *SERIES,
    *(USED, LENT, FRAGMENTED, QUOTA, UNWANTED, HELD, FREED, INCOMPLETE, AWAY),
    *HEAT,
)

_KNOWN = ("solver", "greedy", "easy", "fifo", "best-fit", "per-pod", "conservative")


def ranks(strategies: Sequence[str]) -> dict[str, int]:
    """
    Give each strategy its place in the series: the same one in every report.
    """
    others = [name for name in strategies if name not in _KNOWN]
    every = (*_KNOWN, *others)
    return {name: every.index(name) for name in strategies}


def colour(rank: int) -> Colour:
    """
    Give the colour of a place in the series.
    """
    return SERIES[rank % len(SERIES)]


def shape(rank: int) -> str:
    """
    Give the shape of the points of a place in the series.
    """
    return SHAPES[(rank + rank // len(SERIES)) % len(SHAPES)]


def dashes(rank: int) -> list[int]:
    """
    Give the dashes of the lines of a place in the series.
    """
    return list(DASHES[(rank + rank // len(SERIES)) % len(DASHES)])


def style_sheet() -> str:
    """
    Write the roles as variables, and give every colour in a drawing its role.
    """
    light = ";".join(f"--{each.role}:{each.light}" for each in EVERY)
    dark = ";".join(f"--{each.role}:{each.dark}" for each in EVERY)
    rules = [
        f":root{{color-scheme:light dark;{light}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}",
    ]
    rules += [
        f'svg [{what}="{each.light}"],.{what}-{each.role}{{{what}:var(--{each.role})}}'
        for each in EVERY
        for what in ("fill", "stroke")
    ]
    return "\n".join(rules)
