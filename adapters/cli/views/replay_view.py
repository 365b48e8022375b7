"""
What a person reads after a replay: who was compared, and by how much they differ.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.cli.terminal.output import Table
from models.why.reasons import counted

Document = Mapping[str, Any]
_REGIMES = {"rounds": "rounds over a queue", "online": "a round at each event"}


def lines_of(document: Document) -> list[str]:
    """
    Lay out the results of a comparison, or of one strategy.
    """
    lines = _head(document)
    for strategy in document["strategies"][1:]:
        rows = [row for row in document["paired"] if row["strategy"] == strategy]
        lines += ["", *_paired(document, strategy, rows)]
    if len(document["strategies"]) == 1:
        lines += ["", *_single(document)]
    lines += ["", *_certainty(document)]
    return lines


def _head(document: Document) -> list[str]:
    trace, cluster, settings = (document[k] for k in ("trace", "cluster", "settings"))
    load = cluster["load"]
    shown = "" if load is None else f", {100 * load:.0f} % mean load"
    every = settings["every"]
    how = _REGIMES[document["regime"]] + (f", every {time(every)}" if every else "")
    seeds = len(document["seeds"])
    nodes = counted(cluster["nodes"], "node")
    what = f"{counted(trace['jobs'], 'job')}, {trace['gpuHours']:,.0f} GPU-h"
    where = f"{nodes}, {counted(cluster['gpus'], 'GPU')}{shown}"
    drawn = (
        "as given" if seeds == 1 else "one as given, the others drawn from its weeks"
    )
    return [
        f"Replay of {trace['name']} · {what}, submitted within {time(trace['span'])}",
        f"on {cluster['name']} · {where} · {counted(len(cluster['queues']), 'queue')}",
        f"{how} · {counted(seeds, 'trace')}, {drawn}",
    ]


def _paired(
    document: Document, strategy: str, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """
    Lay out one strategy beside the baseline.
    """
    base = document["baseline"]
    sure = any(row["difference"]["low"] is not None for row in rows)
    columns = ["METRIC", base.upper(), strategy.upper(), "CHANGE"]
    head = [*columns, *(["95 % INTERVAL"] if sure else []), "BOUND", "BETTER"]
    found = []
    for row in rows:
        unit = row["unit"]
        interval = [_interval(row["relative"])] if sure else []
        found.append(
            [
                row["label"],
                amount(row["baseline"], unit),
                amount(row["value"], unit),
                part(row["relative"]["mean"]),
                *interval,
                "" if row["bound"] is None else amount(row["bound"], unit),
                _better(row, base, strategy),
            ]
        )
    return Table(head, found, frozenset(range(1, len(head) - 1))).lines()


def _better(row: Mapping[str, Any], base: str, strategy: str) -> str:
    """
    Name who is better, unless the interval holds both, or not all jobs ended.
    """
    from adapters.replay.measures.paired_measures import LEAST_SHARE

    change, apart = row["difference"], abs(row["value"] - row["baseline"])
    if not row.get("comparable", True):
        return "not comparable"
    if not apart:
        return "equal"
    if row["unit"] == "share" and apart < LEAST_SHARE:
        return "about equal"
    low, high = change["low"], change["high"]
    if low is not None and low <= 0 <= high:
        return "open"
    lower = row["value"] < row["baseline"]
    return strategy if lower == (row["better"] == "lower") else base


def _single(document: Document) -> list[str]:
    """
    Lay out the metrics of the only strategy, as means over the traces.
    """
    from adapters.replay.measures.paired_measures import METRICS

    rows = []
    for metric in METRICS:
        values = [metric.of(run["metrics"]) for run in document["runs"]]
        known = [value for value in values if value is not None]
        bounds = [bound.get(metric.bound) for bound in document["bounds"]]
        if not known:
            continue
        bound = "" if None in bounds else amount(sum(bounds) / len(bounds), metric.unit)
        rows.append([metric.label, amount(sum(known) / len(known), metric.unit), bound])
    head = ("METRIC", document["strategies"][0].upper(), "BOUND")
    return Table(head, rows, frozenset({1, 2})).lines()


def _unfinished(document: Document) -> list[str]:
    """
    Say who left jobs where that keeps measures from being compared.
    """
    if all(row.get("comparable", True) for row in document["paired"]):
        return []
    left: dict[str, int] = {}
    for run in document["runs"]:
        jobs = run["metrics"]["jobs"]
        count = jobs["running"] + jobs["waiting"]
        left[run["strategy"]] = left.get(run["strategy"], 0) + count
    who = ", ".join(f"{name} left {n:,}" for name, n in left.items() if n)
    return [f"not comparable: not all jobs ended ({who})"]


def _certainty(document: Document) -> list[str]:
    lines = _unfinished(document)
    if any(each.get("used") is not None for each in document.get("bounds", ())):
        lines.append("bound: what no schedule of these jobs can be better than, proven")
    seeds = len(document["seeds"])
    if 1 < seeds < 3 and len(document["strategies"]) > 1:
        lines.append("95 % intervals need 3 traces and more (--seeds)")
    for strategy in document["strategies"]:
        runs = [run for run in document["runs"] if run["strategy"] == strategy]
        rounds = [run["metrics"]["rounds"] for run in runs]
        if any(each["proven"] is None for each in rounds):
            continue
        planned = counted(sum(each["planned"] for each in rounds), "planned round")
        lines.append(
            f"{strategy}: {sum(each['proven'] for each in rounds):,} of {planned}"
            f"{' of all traces' if seeds > 1 else ''} proven optimal, "
            f"worst gap {100 * max(each['worstGap'] for each in rounds):.1f} %"
        )
    return lines


def amount(value: float, unit: str) -> str:
    """
    Write a number in its unit.
    """
    match unit:
        case "s":
            return time(value)
        case "share":
            return f"{100 * value:.2f} %"
        case "0-1":
            return f"{value:.3f}"
        case "ratio":
            return f"{value:,.2f}"
        case "GPU-h":
            return f"{value:,.1f} GPU-h"
        case _:
            return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def part(value: float | None) -> str:
    """
    Write a change as a part of what it changed.
    """
    if value is None:
        return "–"
    text = f"{100 * value:+.1f} %"
    return text if text.strip("+-0. %") else "0 %"


def _interval(change: Mapping[str, float | None]) -> str:
    low, high = change["low"], change["high"]
    if low is None or high is None:
        return "–"
    return f"{100 * low:+.1f} to {100 * high:+.1f} %"


def time(seconds: float) -> str:
    """
    Write a time in its two largest units.
    """
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds != whole else f"{whole} s"
    for size, unit, below, small in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // below
            tail = f" {rest:02d} {small}" if rest else ""
            return f"{whole // size:,} {unit}{tail}"
    raise AssertionError
