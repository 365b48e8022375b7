"""
What the report of a comparison draws: where plans differ, how sure that is, how long.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from adapters.compare.outcome import distance, first_difference, paired_tiers
from adapters.compare.pairs import Pair, Side
from adapters.compare.verdict import verdict
from adapters.files.plan_writer import started
from adapters.reports.charts.charts import (
    Axis,
    Bars,
    ChartPart,
    ChartPiece,
    Pairs,
    Points,
)
from adapters.reports.charts.number_text import (
    count_axis,
    number,
    power_axis,
    seconds,
    short_names,
)
from adapters.reports.charts.palette import ranks
from adapters.reports.charts.series import point_keys
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
from models.reasons import counted

MOST_DRAWN = 20
MOST_LISTED = 1_000
STRATEGIES = ("greedy", "solver")
_RANK = ranks(STRATEGIES)


def sides(pairs: Sequence[Pair]) -> tuple[list[Side], list[Side]]:
    """
    Give greedy's sides, and the solver's.
    """
    return [pair.greedy for pair in pairs], [pair.solver for pair in pairs]


def gap_of(pair: Pair) -> float:
    """
    Give the widest gap of the solver's tiers.
    """
    return max(map(distance, pair.solver.plan.tiers), default=0.0)


# --- where they differ -----------------------------------------------------------


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
    largest = max(abs(mine.value), abs(theirs.value), 1)
    return (every.index(found), -abs(mine.value - theirs.value) / largest, pair.name)


def _by_tier(apart: Sequence[Pair]) -> Figure:
    names = in_order([_tiers_of(pair) for pair in apart])
    counts = Counter((_tier_of(pair), pair.sign) for pair in apart)
    rows = [name for name in names if any((name, sign) in counts for sign in (1, -1))]
    words = {1: "solver better", -1: "greedy better"}
    pieces = [
        ChartPiece(name, words[sign], counts[name, sign])
        for name in rows
        for sign in words
    ]
    most = max(sum(counts[name, sign] for sign in words) for name in rows)
    return Figure(
        name="by-tier",
        caption="The first tier in which the plans differ",
        reading="Tiers are listed from the most important one; the first in which two "
        "plans differ says which is better. Bars count cases.",
        keys=[Key("solver better", "s0"), Key("greedy better", "s1")],
        panels=[
            Panel(
                "",
                Bars(
                    rows=rows,
                    parts=[
                        ChartPart("solver better", "s0"),
                        ChartPart("greedy better", "s1"),
                    ],
                    pieces=pieces,
                    axis=count_axis(most, "cases"),
                ),
            )
        ],
        numbers=Grid(
            caption="Cases by the first tier in which the plans differ",
            columns=[
                Column("Tier"),
                Column("Solver better", right=True),
                Column("Greedy better", right=True),
            ],
            rows=[
                [Cell(name), *(number(counts[name, sign]) for sign in words)]
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
    names = short_names([pair.name for pair in shown])
    points = [
        (name, _RANK[side], 100 * gpus / pair.size.gpus)
        for name, pair in zip(names, shown, strict=True)
        for side, gpus in (
            ("greedy", pair.greedy.totals.gpus),
            ("solver", pair.solver.totals.gpus),
        )
    ]
    which = (
        f"The {len(shown):,} with the largest difference"
        if (len(differing) > len(shown))
        else "All that differ"
    )
    return [
        Figure(
            name="by-gpus",
            caption="GPUs at work after the plan, of each case's own",
            reading=f"{which}, of {counted(len(apart), 'case')} in which the plans are "
            "not equally good. Further right is more; a better plan may have fewer, "
            "where a more important tier wants it.",
            keys=point_keys(STRATEGIES),
            panels=[
                Panel(
                    "",
                    Pairs(
                        rows=names,
                        points=points,
                        axis=Axis(title="% of the case's GPUs", low=0, high=100),
                    ),
                )
            ],
            numbers=Grid(
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
                        number(pair.greedy.totals.gpus),
                        number(pair.solver.totals.gpus),
                        number(pair.size.gpus),
                    ]
                    for pair in shown
                ],
            ),
        )
    ]


def _gained(pair: Pair) -> int:
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


def both(before: int, after: int) -> Cell:
    """
    Show two numbers where they differ, greedy's first.
    """
    if before == after:
        return Cell(f"{after:,}", 0.0, "faint")
    return Cell(f"{before:,} → {after:,}", float(after - before))


# --- how sure that is ------------------------------------------------------------

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
    counts = Counter(_class_of(pair) for pair in pairs)
    open_ones = sorted(
        (pair for pair in pairs if pair.certainty != "proven"),
        key=lambda pair: (-gap_of(pair), pair.name),
    )
    whole = Figure(
        name="certainty",
        caption="Cases by the widest gap of their tiers",
        reading="A gap is what the solver's plan may lack to the best plan, in percent "
        "of the larger of value and bound; proven means that no plan does better.",
        keys=[Key(part.name, part.role) for part in _CERTAINTIES],
        panels=[
            Panel(
                "",
                Bars(
                    rows=["solver"],
                    parts=_CERTAINTIES,
                    pieces=[
                        ChartPiece("solver", name, n) for name, n in counts.items()
                    ],
                    axis=count_axis(len(pairs), "cases"),
                ),
            )
        ],
        numbers=Grid(
            caption="Cases by the widest gap of their tiers",
            columns=[Column("Gap"), Column("Cases", right=True)],
            rows=[
                [Cell(part.name), number(counts[part.name])] for part in _CERTAINTIES
            ],
        ),
    )
    if not open_ones:
        return [whole]
    return [whole, _widest(open_ones)]


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


# --- decision time ---------------------------------------------------------------


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
        (size, max(side.seconds, floor), _RANK[who])
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
