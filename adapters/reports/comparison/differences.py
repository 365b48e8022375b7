"""
Where the plans of a comparison differ: in which tier, by how many GPUs, and why.
"""

from collections import Counter
from collections.abc import Sequence

from adapters.compare.outcome import first_difference, paired_tiers
from adapters.compare.pairs import Pair
from adapters.compare.verdict import verdict
from adapters.files.writing.plan_writer import started
from adapters.reports.charts.charts import (
    Axis,
    Bars,
    ChartPart,
    ChartPiece,
    Pairs,
)
from adapters.reports.charts.number_text import (
    count_axis,
    gpus,
    number,
    short_names,
)
from adapters.reports.charts.series import point_keys
from adapters.reports.comparison.cases import (
    MOST_DRAWN,
    RANK,
    STRATEGIES,
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
from models.devices.gpu_counts import shown_gpus
from models.errors import printable
from models.plan import gap_between
from models.why.reasons import counted

_BETTER = {1: "solver better", -1: "greedy better"}
_WHO_IS_BETTER = (
    ChartPart("solver better", "s0"),
    ChartPart("greedy better", "s1"),
)


def differences(pairs: Sequence[Pair]) -> list[Block]:
    """
    Draw in which tiers and by how many GPUs the plans differ, and say why.
    """
    apart = sorted((pair for pair in pairs if pair.sign), key=_order)
    if not apart:
        return [Text(["In no case does any tier differ: both plans are equally good."])]
    return [_by_tier(apart), *_by_gpus(apart), _largest(apart)]


def _order(pair: Pair) -> tuple[int, float, str]:
    """
    Put first what differs in the most important tier, and there by the most.
    """
    found = first_difference(pair.solver.plan, pair.greedy.plan)
    if found is None:
        return (len(pair.solver.plan.tiers), 0.0, pair.name)
    every = paired_tiers(pair.solver.plan, pair.greedy.plan)
    mine, theirs = found
    apart = gap_between(mine.value, theirs.value)
    return (every.index(found), -apart, pair.name)


def _by_tier(apart: Sequence[Pair]) -> Figure:
    names = in_order([_tiers_of(pair) for pair in apart])
    counts = Counter((_tier_of(pair), pair.sign) for pair in apart)
    rows = [name for name in names if any((name, sign) in counts for sign in (1, -1))]
    most = max(sum(counts[name, sign] for sign in _BETTER) for name in rows)
    bars = Bars(
        rows=rows,
        parts=_WHO_IS_BETTER,
        pieces=[
            ChartPiece(name, word, counts[name, sign])
            for name in rows
            for sign, word in _BETTER.items()
        ],
        axis=count_axis(most, "cases"),
    )
    return Figure(
        name="by-tier",
        caption="The first tier in which the plans differ",
        reading="Tiers are listed from the most important one; the first in which two "
        "plans differ says which is better. Bars count cases.",
        keys=[Key(part.name, part.role) for part in _WHO_IS_BETTER],
        panels=[Panel("", bars)],
        numbers=Grid(
            caption="Cases by the first tier in which the plans differ",
            columns=[
                Column("Tier"),
                Column("Solver better", right=True),
                Column("Greedy better", right=True),
            ],
            rows=[
                [Cell(name), *(number(counts[name, sign]) for sign in _BETTER)]
                for name in rows
            ],
        ),
    )


def _tiers_of(pair: Pair) -> list[str]:
    every = paired_tiers(pair.solver.plan, pair.greedy.plan)
    return list(dict.fromkeys(tier.name for tier, _ in every))


def in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """
    Join the tiers of many policies into one order, in which each keeps its own.

    Policies may contradict each other; then the one that was seen first has its way.
    """
    left = list(dict.fromkeys(name for names in lists for name in names))
    after: dict[str, set[str]] = {name: set() for name in left}
    for names in {tuple(each): None for each in lists}:
        for at, name in enumerate(names):
            after[name] |= set(names[:at])
    found: list[str] = []
    while left:
        free = (name for name in left if not after[name] & set(left) - {name})
        name = next(free, left[0])
        found.append(name)
        left.remove(name)
    return found


def _tier_of(pair: Pair) -> str:
    found = first_difference(pair.solver.plan, pair.greedy.plan)
    return "" if found is None else found[0].name


def _by_gpus(apart: Sequence[Pair]) -> list[Figure]:
    """
    Draw the cases in which the plans leave different numbers of GPUs at work.
    """
    differing = [pair for pair in apart if _gained(pair) and pair.size.gpus]
    shown = sorted(differing, key=lambda pair: (-abs(_of_all(pair)), pair.name))
    shown = shown[:MOST_DRAWN]
    if not shown:
        return []
    which = (
        f"The {len(shown):,} with the largest difference"
        if (len(differing) > len(shown))
        else "All that differ"
    )
    figure = Figure(
        name="by-gpus",
        caption="GPUs at work after the plan, of each case's own",
        reading=f"{which}, of {counted(len(apart), 'case')} in which the plans are "
        "not equally good. Further right is more; a better plan may have fewer, "
        "where a more important tier wants it.",
        keys=point_keys(STRATEGIES),
        panels=[Panel("", _gpus_at_work(shown))],
        numbers=_gpu_table(shown),
    )
    return [figure]


def _gpus_at_work(shown: Sequence[Pair]) -> Pairs:
    names = short_names([pair.name for pair in shown])
    points = [
        (name, RANK[who], 100 * side.totals.gpus / pair.size.gpus)
        for name, pair in zip(names, shown, strict=True)
        for who, side in (("greedy", pair.greedy), ("solver", pair.solver))
    ]
    axis = Axis(title="% of the case's GPUs", low=0, high=100)
    return Pairs(rows=names, points=points, axis=axis)


def _gpu_table(shown: Sequence[Pair]) -> Grid:
    return Grid(
        caption="GPUs at work after the plan",
        columns=[
            Column("Case"),
            Column("Greedy", right=True),
            Column("Solver", right=True),
            Column("Of", right=True),
        ],
        rows=[
            [
                Cell(printable(pair.name)),
                gpus(pair.greedy.totals.gpus),
                gpus(pair.solver.totals.gpus),
                gpus(pair.size.gpus),
            ]
            for pair in shown
        ],
    )


def _gained(pair: Pair) -> float:
    return pair.solver.totals.gpus - pair.greedy.totals.gpus


def _of_all(pair: Pair) -> float:
    return _gained(pair) / pair.size.gpus


def _largest(apart: Sequence[Pair]) -> Grid:
    return Grid(
        caption=f"The {min(10, len(apart))} cases with the largest difference, and why",
        columns=[
            Column("Case"),
            Column("Better"),
            Column("GPUs", right=True),
            Column("Gangs", right=True),
            Column("Why"),
        ],
        rows=[
            [
                Cell(printable(pair.name)),
                better(pair),
                both(pair.greedy.totals.gpus, pair.solver.totals.gpus),
                both(pair.greedy.totals.gangs, pair.solver.totals.gangs),
                Cell(_why(pair)),
            ]
            for pair in apart[:10]
        ],
        stacked=True,
        notes=["GPUs and gangs: greedy's first, then the solver's, after the plan."],
    )


def _why(pair: Pair) -> str:
    """
    Say in which tier the better one is better, and who starts only there.
    """
    mine, theirs = started(pair.solver.plan), started(pair.greedy.plan)
    parts = [verdict(pair.solver.plan, pair.greedy.plan)]
    for who, only in (
        ("solver", sorted(mine.keys() - theirs.keys())),
        ("greedy", sorted(theirs.keys() - mine.keys())),
    ):
        if only:
            names = ", ".join(printable(n.removeprefix("default/")) for n in only[:4])
            more = f" and {len(only) - 4:,} more" if len(only) > 4 else ""
            parts.append(f"only {who} starts {names}{more}")
    return "; ".join(parts)


def better(pair: Pair) -> Cell:
    """
    Name who is better.
    """
    match pair.sign:
        case 1:
            return Cell("solver", tone="good")
        case -1:
            return Cell("greedy", tone="bad")
        case _:
            return Cell("equal", tone="faint")


def both(before: float, after: float) -> Cell:
    """
    Show two numbers where they differ, greedy's first.
    """
    if before == after:
        return Cell(shown_gpus(after), 0.0, "faint")
    words = f"{shown_gpus(before)} → {shown_gpus(after)}"
    return Cell(words, float(after - before))
