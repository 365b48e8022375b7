"""
How sure the plans of a comparison are: the gaps of the solver's tiers.
"""

from collections import Counter
from collections.abc import Sequence

from adapters.compare.pairs import Pair
from adapters.reports.charts.charts import (
    Axis,
    Bars,
    ChartPart,
    ChartPiece,
)
from adapters.reports.charts.number_text import (
    count_axis,
    number,
    short_names,
)
from adapters.reports.comparison.cases import (
    MOST_DRAWN,
    MOST_LISTED,
    gap_of,
)
from adapters.reports.page.page import (
    Block,
    Cell,
    Column,
    Figure,
    Grid,
    Key,
    Panel,
    Text,
)
from models.errors import printable
from models.why.reasons import counted

_CERTAINTIES = (
    ChartPart("proven", "good"),
    ChartPart("up to 1 %", "h2"),
    ChartPart("up to 5 %", "fragmented"),
    ChartPart("more than 5 %", "bad"),
)


def gaps(pairs: Sequence[Pair]) -> list[Block]:
    """
    Draw how sure the solver's plans are, and the gap of each that is not proven.
    """
    if not pairs:
        return [Text(["There is nothing to be sure of."])]
    open_ones = sorted(
        (pair for pair in pairs if pair.certainty != "proven"),
        key=lambda pair: (-gap_of(pair), pair.name),
    )
    whole = _by_class(Counter(map(_class_of, pairs)))
    if not open_ones:
        return [whole]
    return [whole, _widest(open_ones)]


def _by_class(counts: Counter[str]) -> Figure:
    pieces = [ChartPiece("solver", name, n) for name, n in counts.items()]
    bars = Bars(
        rows=["solver"],
        parts=_CERTAINTIES,
        pieces=pieces,
        axis=count_axis(counts.total(), "cases"),
    )
    return Figure(
        name="certainty",
        caption="Cases by the widest gap of their tiers",
        reading="A gap is what the solver's plan may lack to the best plan, in percent "
        "of the larger of value and bound; proven means that no plan does better.",
        keys=[Key(part.name, part.role) for part in _CERTAINTIES],
        panels=[Panel("", bars)],
        numbers=Grid(
            caption="Cases by the widest gap of their tiers",
            columns=[Column("Gap"), Column("Cases", right=True)],
            rows=[
                [Cell(part.name), number(counts[part.name])] for part in _CERTAINTIES
            ],
        ),
    )


def _class_of(pair: Pair) -> str:
    if pair.certainty == "proven":
        return "proven"
    gap = gap_of(pair)
    return (
        "up to 1 %" if gap <= 0.01 else "up to 5 %" if gap <= 0.05 else "more than 5 %"
    )


def _widest(open_ones: Sequence[Pair]) -> Figure:
    shown = open_ones[:MOST_DRAWN]
    names = short_names([pair.name for pair in shown])
    most = max(100 * gap_of(pair) for pair in shown)
    every = counted(len(open_ones), "case")
    which = f"{every} not proven in every tier"
    if len(open_ones) > len(shown):
        which = f"{len(shown):,} of {which}"
    return Figure(
        name="widest",
        caption="The model's gap, case by case",
        reading=f"{which}, widest first. 0 means: the best for the tiers above as they "
        "were decided.",
        panels=[
            Panel(
                "",
                Bars(
                    rows=names,
                    parts=[ChartPart("gap", "s0")],
                    pieces=[
                        ChartPiece(name, "gap", 100 * gap_of(pair))
                        for name, pair in zip(names, shown, strict=True)
                    ],
                    axis=Axis(title="widest gap, %", low=0, high=max(most, 0.1)),
                ),
            )
        ],
        numbers=Grid(
            caption="The widest gap of each case that is not proven",
            columns=[Column("Case"), Column("Gap", right=True)],
            rows=[
                [Cell(printable(pair.name)), Cell(pair.certainty, gap_of(pair))]
                for pair in open_ones[:MOST_LISTED]
            ],
        ),
    )
