"""
The measures of a replay: every strategy beside the baseline, with intervals and bounds.
"""

from collections.abc import Sequence
from statistics import fmean

from adapters.replay.measures.paired_measures import LEAST_SHARE
from adapters.reports.charts.number_text import NOTHING, SPACE, amount, share, span
from adapters.reports.page.page import Cell, Column, Grid, Tone
from adapters.reports.replay.results import Folder, Interval, Paired
from models.why.reasons import counted

NOT_COMPARABLE = "not comparable"
OPEN = "not told apart"
FEWEST_PAIRS = 3
"""
With fewer pairs of replays no interval is given.
"""
_SHARES = (
    "Shares are of all GPU time between the first and the last submission. A job that "
    "never started counts with what it has waited."
)
_ABSOLUTE = (
    ("Mean wait", "wait.mean", "s"),
    ("Mean wait for each GPU", "wait.perGpu", "s"),
    ("Median wait", "wait.median", "s"),
    ("90th percentile wait", "wait.p90", "s"),
    ("99th percentile wait", "wait.p99", "s"),
    ("Longest wait", "wait.max", "s"),
    ("Mean time to completion", "jct.mean", "s"),
    ("Mean bounded slowdown", "slowdown.mean", "ratio"),
    ("Makespan", "makespan", "s"),
    ("GPU time used", "gpus.used", "share"),
    ("Idle: fragmented", "gpus.fragmented", "share"),
    ("Idle: blocked by quota", "gpus.quota", "share"),
    ("Idle: held for a head", "gpus.held", "share"),
    ("Idle: between rounds", "gpus.freed", "share"),
    ("Of the used: lent by a head", "gpus.lent", "share"),
    ("Idle: unwanted", "gpus.unwanted", "share"),
    ("Held by incomplete gangs", "gpus.incomplete", "share"),
    ("Jobs that waited over 12 h", "starved.over12h", "jobs"),
    ("… of 8 GPUs and more", "starved.over12hLarge", "jobs"),
    ("Fairness (Jain, 1 is even)", "fairness.jain", "ratio"),
    ("Longest mean wait of a queue", "fairness.worstWait", "s"),
    ("Evictions", "lost.evictions", "attempts"),
    ("Failed attempts", "lost.failures", "attempts"),
    ("Work lost", "lost.gpuHours", "GPU-h"),
    ("Jobs done", "jobs.done", "jobs"),
    ("Jobs still running at the end", "jobs.running", "jobs"),
    ("Jobs still waiting at the end", "jobs.waiting", "jobs"),
)


def value_of(value: float | None, unit: str) -> str:
    """
    Write a measure in its unit.
    """
    if value is None:
        return NOTHING
    match unit:
        case "s":
            return span(value)
        case "share":
            return share(value)
        case "GPU-h":
            return f"{amount(value)}{SPACE}GPU-h"
        case _:
            return amount(value)


def verdict_of(row: Paired) -> tuple[str, Tone]:
    """
    Say who is better in a measure, as far as the pairs tell.
    """
    mean, low, high = row.difference.mean, row.difference.low, row.difference.high
    if mean is None:
        return NOTHING, "faint"
    if not row.comparable:
        return NOT_COMPARABLE, "faint"
    if mean == 0:
        return "equal", "faint"
    if row.unit == "share" and abs(mean) < LEAST_SHARE:
        return "about equal", "faint"
    if low is not None and high is not None and low <= 0 <= high:
        return OPEN, "faint"
    better = (mean < 0) == (row.better == "lower")
    return ("better", "good") if better else ("worse", "bad")


def paired_grid(folder: Folder, strategy: str) -> Grid | None:
    """
    Lay the measures of a strategy beside the baseline's.
    """
    rows = [row for row in folder.results.paired if row.strategy == strategy]
    if not rows:
        return None
    baseline = folder.results.baseline or "baseline"
    notes = [_interval_note(rows)]
    has_interval = any(row.difference.low is not None for row in rows)
    has_bound = any(row.bound is not None for row in rows)
    if any(verdict_of(row)[0] == "about equal" for row in rows):
        least = share(LEAST_SHARE, 2).replace("%", "points")
        notes.append(f"About equal: less than {least} apart.")
    if not all(row.comparable for row in rows):
        notes.append(f"Not comparable: {unfinished(folder, (baseline, strategy))}.")
    if has_bound:
        notes.append("Bound: what no schedule can be better than, by arithmetic.")
    return Grid(
        caption=f"{strategy} beside {baseline}",
        columns=[
            Column("Measure"),
            Column(baseline, right=True),
            Column(strategy, right=True),
            Column("Difference", right=True),
            *([Column("95 % interval", right=True)] if has_interval else []),
            *([Column("Bound", right=True)] if has_bound else []),
            Column("Verdict"),
        ],
        rows=[
            _paired_row(row, has_interval=has_interval, has_bound=has_bound)
            for row in rows
        ],
        sortable=False,
        stacked=True,
        notes=notes,
    )


def _paired_row(row: Paired, *, has_interval: bool, has_bound: bool) -> list[Cell]:
    words, tone = verdict_of(row)
    return [
        Cell(row.label or row.metric),
        Cell(value_of(row.baseline, row.unit), row.baseline),
        Cell(value_of(row.value, row.unit), row.value),
        Cell(difference_of(row), row.relative.mean),
        *([Cell(_interval(row))] if has_interval else []),
        *([Cell(value_of(row.bound, row.unit), row.bound)] if has_bound else []),
        Cell(words, tone=tone),
    ]


def difference_of(row: Paired) -> str:
    """
    Write a difference in its unit, and in percent of the baseline where it has one.
    """
    mean = row.difference.mean
    if mean is None:
        return NOTHING
    if mean == 0:
        return "none"
    text = points(mean) if row.unit == "share" else _with_sign(mean, row.unit)
    part = row.relative.mean
    return text if part is None or row.unit == "share" else f"{text} ({change(part)})"


def change(part: float) -> str:
    """
    Write a relative change: −35 %, and how many times it is where that says more.
    """
    if part >= 9:
        return f"×{part + 1:,.0f}"
    digits = 0 if abs(part) >= 0.1 else 1
    text = f"{100 * part:+.{digits}f}{SPACE}%".replace("-", "−")
    return text if part else f"0{SPACE}%"


def _interval(row: Paired) -> str:
    part, whole = row.relative, row.difference
    if whole.low is None or whole.high is None:
        return counted(row.pairs, "pair")
    if whole.low == whole.high == 0:
        return NOTHING
    if row.unit == "share":
        low, high = (points(end).partition(SPACE)[0] for end in (whole.low, whole.high))
        return f"[{low}, {high}]{SPACE}points"
    if part.low is not None and part.high is not None:
        return f"[{change(part.low)}, {change(part.high)}]"
    low, high = (_with_sign(end, row.unit) for end in (whole.low, whole.high))
    return f"[{low}, {high}]"


def points(part: float) -> str:
    """
    Write a difference of two shares, with a second digit where one would say nothing.
    """
    digits = 1 if abs(part) >= 0.0005 else 2
    text = f"{100 * part:+.{digits}f}".replace("-", "−")
    return f"{text if text.strip('+−0.') else '0'}{SPACE}points"


def _with_sign(value: float, unit: str) -> str:
    text = value_of(value, unit)
    return f"+{text}" if value > 0 else text


def _interval_note(rows: Sequence[Paired]) -> str:
    pairs = max(row.pairs for row in rows)
    if pairs < FEWEST_PAIRS:
        return (
            f"Difference: {counted(pairs, 'pair')} of replays, so there is no "
            "interval: what differs, differs for this trace and seed."
        )
    return (
        f"Difference: mean over {pairs:,} pairs of replays of the same seed; interval: "
        "95 % by Fieller over the pairs. Not told apart: the interval holds zero."
    )


def every_grid(folder: Folder) -> Grid:
    """
    Lay the measures of all strategies side by side, as means over the seeds.
    """
    names = folder.results.strategies
    rows = []
    for label, metric, unit in _ABSOLUTE:
        values = [mean_of(folder, name, metric) for name in names]
        if any(value is not None for value in values):
            cells = [Cell(value_of(value, unit), value) for value in values]
            rows.append([Cell(label), *cells])
    seeds = len(folder.results.seeds)
    which = f", means over {seeds:,} seeds" if seeds > 1 else ""
    return Grid(
        caption=f"All measures of all strategies{which}",
        columns=[Column("Measure"), *(Column(name, right=True) for name in names)],
        rows=rows,
        sortable=False,
        notes=[_SHARES],
    )


def mean_of(folder: Folder, strategy: str, metric: str) -> float | None:
    """
    Give the mean of a metric over the seeds of a strategy.
    """
    found = [run.get(metric) for run in folder.runs(strategy)]
    known = [value for value in found if value is not None]
    return fmean(known) if known else None


def is_comparable(folder: Folder, strategy: str, metric: str) -> bool:
    """
    Tell whether a measure says as much of a strategy as of the baseline.
    """
    return all(
        row.comparable
        for row in folder.results.paired
        if (row.strategy, row.metric) == (strategy, metric)
    )


def unfinished(folder: Folder, names: Sequence[str]) -> str:
    """
    Say how many jobs each strategy left: what is measured is not of the same jobs.
    """
    left = {
        name: sum(mean_of(folder, name, f"jobs.{word}") or 0 for word in _LEFT)
        for name in names
    }
    parts = [f"{name} left {amount(number)}" for name, number in left.items() if number]
    return f"not all jobs ended ({listed(parts)})"


_LEFT = ("running", "waiting")


def interval_of(folder: Folder, strategy: str, metric: str) -> Interval | None:
    """
    Give the relative difference of a measure, with its interval.
    """
    for row in folder.results.paired:
        if (row.strategy, row.metric) == (strategy, metric):
            return row.relative
    return None


def listed(names: Sequence[str]) -> str:
    """
    Join names as a sentence does.
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
