"""
Who waits by the solver's plans, and why: the sentences of `phalanx why`.
"""

from collections.abc import Sequence

from adapters.compare.pairs import LeftWaiting, Pair
from adapters.reports.charts.number_text import NOTHING, gpus
from adapters.reports.comparison.cases import MOST_LISTED
from adapters.reports.page.page import Cell, Column, Grid, Text
from models.errors import printable
from models.why.reasons import counted


def waits(pairs: Sequence[Pair]) -> list[Grid | Text]:
    """
    List of each case the largest gangs that wait.
    """
    rows = [_row(pair, one) for pair in pairs for one in pair.waits]
    if not rows:
        return [Text(["Nobody does, by the solver's plans."])]
    left = len(rows) - MOST_LISTED
    more = [f"{left:,} more are in results.json."] if left > 0 else []
    grid = Grid(
        caption=f"{counted(len(rows), 'gang')} by the solver's plans",
        columns=[
            Column("Case"),
            Column("Gang"),
            Column("GPUs", right=True),
            Column("Why"),
            Column("Starts"),
        ],
        rows=rows[:MOST_LISTED],
        stacked=True,
        notes=["Of each case the largest are listed.", *more],
    )
    return [grid]


def _row(pair: Pair, one: LeftWaiting) -> list[Cell]:
    return [
        Cell(printable(pair.name)),
        Cell(printable(one.gang)),
        gpus(one.gpus),
        Cell(printable(one.why)),
        Cell(one.starts or NOTHING),
    ]
