"""
How long the decisions of a comparison took, by the size of the case.
"""

from collections.abc import Sequence
from statistics import median

from adapters.compare.pairs import Pair
from adapters.reports.charts.charts import (
    Points,
)
from adapters.reports.charts.number_text import (
    number,
    power_axis,
    seconds,
)
from adapters.reports.charts.series import point_keys
from adapters.reports.comparison.cases import (
    RANK,
    STRATEGIES,
    sides,
)
from adapters.reports.page.page import (
    Block,
    Cell,
    Column,
    Figure,
    Grid,
    Panel,
    Text,
)


def times(pairs: Sequence[Pair]) -> list[Block]:
    """
    Draw how long decisions took, by the size of the case.
    """
    measured = [pair for pair in pairs if pair.solver.seconds > 0]
    if not measured:
        return [Text(["Nothing was measured."])]
    sizes = [float(max(1, pair.size.pods)) for pair in measured]
    every = [side.seconds for each in sides(measured) for side in each]
    up, floor = power_axis(every, "decision, seconds")
    across, _ = power_axis(sizes, "pods of the case")
    points = [
        (size, max(side.seconds, floor), RANK[who])
        for pair, size in zip(measured, sizes, strict=True)
        for who, side in (("greedy", pair.greedy), ("solver", pair.solver))
    ]
    return [
        Figure(
            name="decisions",
            caption="Decision time by the number of pods",
            reading="One point for each case and strategy, from the loaded snapshot to "
            "the verified plan; both axes count by powers of ten. Times were "
            "measured on the machine that ran this, and differ from run to run.",
            keys=point_keys(STRATEGIES),
            panels=[Panel("", Points(points=points, across=across, up=up))],
            numbers=_time_table(measured),
        )
    ]


def _time_table(pairs: Sequence[Pair]) -> Grid:
    """
    Put the cases into classes by powers of ten of their pods.
    """
    classes: dict[int, list[Pair]] = {}
    for pair in pairs:
        classes.setdefault(len(str(max(1, pair.size.pods))), []).append(pair)
    rows = []
    for digits in sorted(classes):
        inside = classes[digits]
        times = [[side.seconds for side in each] for each in sides(inside)]
        rows.append(
            [
                Cell(f"{10 ** (digits - 1):,}–{10**digits - 1:,}", float(digits)),
                number(len(inside)),
                *(seconds(median(each)) for each in times),
                *(seconds(max(each)) for each in times),
            ]
        )
    return Grid(
        caption="Decision time, by the number of pods",
        columns=[
            Column("Pods"),
            Column("Cases", right=True),
            Column("Greedy, median", right=True),
            Column("Solver, median", right=True),
            Column("Greedy, longest", right=True),
            Column("Solver, longest", right=True),
        ],
        rows=rows,
    )
