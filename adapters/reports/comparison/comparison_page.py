"""
The report of `phalanx compare`: solver against greedy, case by case.
"""

from collections.abc import Sequence
from statistics import median

from adapters.compare.outcome import percent
from adapters.compare.pairs import Pair, comparison_document
from adapters.reports.charts.number_text import number, seconds, short_time
from adapters.reports.comparison.cases import MOST_LISTED, gap_of, sides
from adapters.reports.comparison.certainty import gaps
from adapters.reports.comparison.decision_times import times
from adapters.reports.comparison.differences import better, both, differences
from adapters.reports.comparison.who_waits import waits
from adapters.reports.page.page import (
    Cell,
    Column,
    Grid,
    Items,
    Page,
    Section,
    Tile,
    Tone,
)
from models.devices.gpu_counts import shown_gpus, signed_gpus
from models.errors import printable
from models.why.reasons import counted

_NOT_MODELLED = (
    (
        "Time: every case is one round. What a plan does to later rounds is the matter "
        "of a replay."
    ),
    (
        "How long jobs run, how fast they run where they are placed, and what they "
        "share besides what they request."
    ),
    (
        "Choice of cases: they were picked by whoever ran this, not drawn from a "
        "population, so sums and shares over them carry no interval."
    ),
)
_PLAYED = (
    "Every case is one round, planned twice from the same input with the same policy "
    "and seed."
)
_COLUMNS = (
    "GPUs at work and satisfied gangs: after the plan, greedy's first, then the "
    "solver's, where they differ. Greedy, Solver: decision time on the machine that "
    "ran this. Gap: the widest of the solver's tiers."
)


def comparison_page(pairs: Sequence[Pair]) -> Page:
    """
    Make the page of a comparison.
    """
    return Page(
        kind="comparison",
        title=f"Solver against greedy: {counted(len(pairs), 'case')}",
        lead=[_PLAYED],
        verdict=_verdict(pairs),
        certainty=_certainty(pairs),
        tiles=_tiles(pairs) if pairs else (),
        sections=[
            Section(
                name="difference",
                heading="Where they differ",
                blocks=differences(pairs),
            ),
            Section(name="gaps", heading="How sure that is", blocks=gaps(pairs)),
            Section(
                name="times",
                heading="Decision time by problem size",
                blocks=times(pairs),
            ),
            Section(name="cases", heading="Every case", blocks=[_cases(pairs)]),
            Section(name="waits", heading="Who waits, and why", blocks=waits(pairs)),
            Section(
                name="limits",
                heading="What was not modelled",
                blocks=[Items(_NOT_MODELLED)],
            ),
        ],
        document=comparison_document(pairs),
        made_by=_made_by(pairs),
    )


# --- the summary -----------------------------------------------------------------


def _verdict(pairs: Sequence[Pair]) -> str:
    if not pairs:
        return "There was no case to compare."
    ahead = sum(pair.sign > 0 for pair in pairs)
    worse = sum(pair.sign < 0 for pair in pairs)
    equal = len(pairs) - ahead - worse
    less = f"worse in {worse:,}" if worse else "worse in none"
    return (
        f"The solver's plan is better in {ahead:,} of {counted(len(pairs), 'case')}, "
        f"equal in {equal:,}, {less}."
    )


def _certainty(pairs: Sequence[Pair]) -> str:
    proven = sum(pair.certainty == "proven" for pair in pairs)
    if proven == len(pairs):
        return "Every tier of every case is proven: no plan does better."
    widest = max(map(gap_of, pairs))
    return (
        f"Every tier is proven in {proven:,} of {counted(len(pairs), 'case')}; "
        f"elsewhere at most {percent(widest)} may be missing."
    )


def _tiles(pairs: Sequence[Pair]) -> list[Tile]:
    ahead = sum(pair.sign > 0 for pair in pairs)
    worse = sum(pair.sign < 0 for pair in pairs)
    proven = sum(pair.certainty == "proven" for pair in pairs)
    gpus = [sum(side.totals.gpus for side in each) for each in sides(pairs)]
    gangs = [sum(side.totals.gangs for side in each) for each in sides(pairs)]
    took = [median(side.seconds for side in each) for each in sides(pairs)]
    have = sum(pair.size.gpus for pair in pairs)
    return [
        Tile(
            "Better plans",
            f"{ahead:,} of {len(pairs):,}",
            f"cases; worse in {worse:,}",
            _tone(ahead - worse),
        ),
        Tile(
            "GPUs at work after the plans",
            shown_gpus(gpus[1]),
            f"{_change(*gpus)} greedy's {shown_gpus(gpus[0])}; "
            f"the cases have {shown_gpus(have)}",
            _tone(gpus[1] - gpus[0]),
        ),
        Tile(
            "Gangs that have enough",
            f"{gangs[1]:,}",
            f"{_change(*gangs)} greedy's {gangs[0]:,}",
            _tone(gangs[1] - gangs[0]),
        ),
        Tile("Proven best", f"{proven:,} of {len(pairs):,}", "cases, in every tier"),
        Tile(
            "Median decision",
            short_time(took[1]),
            f"greedy {short_time(took[0])}, on this machine",
        ),
    ]


def _change(before: float, after: float) -> str:
    if before == after:
        return "as"
    if not before:
        return f"{signed_gpus(after - before)} on"
    return f"{100 * (after - before) / before:+.1f} % on".replace("-", "−")


def _tone(difference: float) -> Tone:
    return "good" if difference > 0 else "bad" if difference < 0 else ""


# --- every case ------------------------------------------------------------------


def _cases(pairs: Sequence[Pair]) -> Grid:
    left = len(pairs) - MOST_LISTED
    more = [f"{left:,} more are in results.json."] if left > 0 else []
    return Grid(
        caption=f"{counted(len(pairs), 'case')}, each planned by both",
        columns=[
            Column("Case"),
            *(Column(name, right=True) for name in ("Nodes", "Gangs", "Pods")),
            Column("GPUs", right=True),
            Column("Satisfied", right=True),
            Column("Greedy", right=True),
            Column("Solver", right=True),
            Column("Gap", right=True),
            Column("Better"),
            Column("In tier"),
        ],
        rows=[_case(pair) for pair in pairs[:MOST_LISTED]],
        stacked=True,
        notes=[_COLUMNS, *more],
    )


def _case(pair: Pair) -> list[Cell]:
    size = pair.size
    return [
        Cell(printable(pair.name)),
        *(number(value) for value in (size.nodes, size.gangs, size.pods)),
        both(pair.greedy.totals.gpus, pair.solver.totals.gpus),
        both(pair.greedy.totals.gangs, pair.solver.totals.gangs),
        seconds(pair.greedy.seconds),
        seconds(pair.solver.seconds),
        Cell(pair.certainty, gap_of(pair)),
        better(pair),
        Cell(pair.better_in or ""),
    ]


def _made_by(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    if not pairs:
        return []
    plans = [pair.solver.plan for pair in pairs]
    seeds = sorted({pair.seed for pair in pairs})
    by_clock = sum(not plan.deterministic for plan in plans)
    manner = (
        f"by the clock in {by_clock:,} of {len(plans):,} cases"
        if by_clock
        else "deterministic: the same input gives the same plans"
    )
    return [
        *((name, version) for name, version in sorted(plans[0].versions.items())),
        ("Seeds", ", ".join(map(str, seeds[:10]))),
        ("Search", manner),
    ]
