"""
The frontier: what each combination of circumstances gives, and how much is enough.
"""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from adapters.replay.measures.intervals import interval_of_mean
from adapters.replay.measures.paired_measures import METRICS, Metric, is_comparable
from adapters.study.grid import StudyError, kind_of
from adapters.traces.fitting import RULES
from models.errors import QuantityError
from models.resources import parse_duration

SHOWN = (
    *("wait.mean", "wait.p99", "wait.bySize.8+.p99", "starved.over12h"),
    *("gpus.used", "fairness.jain", "lost.gpuHours"),
)
Result = Mapping[str, Any]
Group = tuple[Any, ...]
_AXES = ("cluster", "quotas", "label", "strategy")
_TARGET = re.compile(r"([a-zA-Z0-9+.-]+)(<=|>=)(.+)")


@dataclass(frozen=True, slots=True)
class Target:
    """
    A level of service: a metric that is at most, or at least, so much.
    """

    metric: Metric
    sign: Literal["<=", ">="]
    value: float

    def is_kept(self, metrics: Mapping[str, Any]) -> bool:
        """
        Tell whether a replay keeps to the target; of jobs that are left nobody knows.
        """
        known = is_comparable(self.metric.path, metrics, metrics, cut=True)
        return known and self.is_met(self.metric.of(metrics))

    def is_met(self, value: float | None) -> bool:
        """
        Tell whether a value keeps to the target.
        """
        if value is None:
            return True
        return value <= self.value if self.sign == "<=" else value >= self.value

    def is_out_of_reach(self, bounds: Mapping[str, float]) -> bool:
        """
        Tell whether no schedule at all can keep to the target.
        """
        bound = bounds.get(self.metric.bound)
        if bound is None or (self.sign == "<=") != (self.metric.better == "lower"):
            return False
        return not self.is_met(bound)


def target_of(text: str) -> Target:
    """
    Read ``wait.p99<=6h`` or ``gpus.used>=0.8``.
    """
    match = _TARGET.fullmatch(text.replace(" ", ""))
    if match is None:
        raise StudyError(f"--target {text!r} is not one such as 'wait.p99<=6h'")
    metric = next((m for m in METRICS if m.path == match[1]), None)
    if metric is None:
        known = ", ".join(m.path for m in METRICS)
        raise StudyError(f"--target: {match[1]!r} is none of {known}")
    value = _level(match[3], metric)
    return Target(metric, "<=" if match[2] == "<=" else ">=", value)


def _level(text: str, metric: Metric) -> float:
    """
    Read a number, or of what is in seconds a time, too.
    """
    if metric.unit == "s":
        with suppress(QuantityError):
            return parse_duration(text)
    with suppress(ValueError):
        value = float(text)
        if math.isfinite(value):
            return value
    raise StudyError(f"--target: {text!r} is not a number or time")


def frontier(
    results: Sequence[Result], target: Target | None, base: str | None
) -> list[dict[str, Any]]:
    """
    Give one row for each combination, means over its traces with intervals.

    Parameters
    ----------
    results
        All of them, those of one combination in the order of their seeds.
    target
        The level of service that is asked for, if any.
    base
        The cluster that changes are counted from; the first if not said.
    """
    groups = _groups(results)
    first = next(iter(groups))
    shown = [*SHOWN]
    if target is not None and target.metric.path not in shown:
        shown.append(target.metric.path)
    fewest = _fewest_left_out(results)
    rows = []
    for key, found in groups.items():
        known = dict(zip(_AXES, key, strict=True))
        more = _left_out(found[0]) > fewest[known["quotas"]]
        reference = groups.get((base or first[0], *key[1:])) or groups[first]
        rows.append(
            {
                **known,
                "nodes": found[0]["nodes"],
                "gpus": found[0]["gpus"],
                "traces": len(found),
                "leftOut": _left_out(found[0]),
                "metrics": {p: _entry(_metric(p), found, reference) for p in shown},
                "target": target and _judged(target, found, more=more),
            }
        )
    return rows


def _groups(results: Sequence[Result]) -> dict[Group, list[Result]]:
    """
    Gather the results of each combination.
    """
    groups: dict[Group, list[Result]] = {}
    for result in results:
        key = tuple(result["case"][axis] for axis in _AXES)
        groups.setdefault(key, []).append(result)
    return groups


def _left_out(result: Result) -> int:
    """
    Count the jobs that can never start in a replay.
    """
    return sum(result["leftOut"].get(rule, 0) for rule in RULES)


def _fewest_left_out(results: Sequence[Result]) -> dict[str | None, int]:
    """
    Give for each way to make queues the fewest jobs that some cluster leaves out.
    """
    fewest: dict[str | None, int] = {}
    for result in results:
        quotas, left = result["case"]["quotas"], _left_out(result)
        fewest[quotas] = min(left, fewest.get(quotas, left))
    return fewest


def _metric(path: str) -> Metric:
    return next(metric for metric in METRICS if metric.path == path)


def _entry(
    metric: Metric, found: Sequence[Result], reference: Sequence[Result]
) -> dict[str, Any]:
    values = [metric.of(result["metrics"]) for result in found]
    known = [value for value in values if value is not None]
    bounds = [result["bounds"].get(metric.bound) for result in found]
    pairs = [
        (one, metric.of(other["metrics"]))
        for one, other in zip(values, reference, strict=False)
    ]
    changes = [one - b for one, b in pairs if one is not None and b is not None]
    return {
        "unit": metric.unit,
        "better": metric.better,
        **interval(known),
        "bound": None if None in bounds else round(sum(bounds) / len(bounds), 6),
        "change": interval(changes),
    }


def interval(values: Sequence[float]) -> dict[str, float | None]:
    """
    Give the mean with its 95 % interval, as far as the values tell.
    """
    if not values:
        return {"mean": None, "low": None, "high": None}
    mean = round(float(np.mean(values)), 6)
    found = interval_of_mean(np.array(values))
    if found is None:
        return {"mean": mean, "low": None, "high": None}
    low, high = found
    return {"mean": mean, "low": round(low, 6), "high": round(high, 6)}


def _judged(target: Target, found: Sequence[Result], *, more: bool) -> dict[str, Any]:
    """
    Count the traces that keep to a target, and those that no schedule can let do so.

    Where ``more`` jobs can never start than elsewhere, none does.
    """
    if more:
        return {"met": 0, "of": len(found), "outOfReach": len(found)}
    met = [target.is_kept(result["metrics"]) for result in found]
    never = [target.is_out_of_reach(result["bounds"]) for result in found]
    return {"met": sum(met), "of": len(met), "outOfReach": sum(never)}


def enough(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """
    Say for each way to run a kind of cluster how many nodes keep to the target.

    ``enough`` are the fewest of which all larger ones tried keep to it in every
    trace; with ``never`` nodes and fewer no schedule does, which is proven.
    """
    ways: dict[Group, list[Mapping[str, Any]]] = {}
    for row in rows:
        key = (kind_of(row["cluster"]), row["quotas"], row["label"], row["strategy"])
        ways.setdefault(key, []).append(row)
    found = []
    for (cluster, quotas, label, strategy), some in ways.items():
        ordered = sorted(some, key=lambda row: -row["nodes"])
        fewest = None
        for row in ordered:
            if row["target"]["met"] < row["target"]["of"]:
                break
            fewest = row["nodes"]
        never = [row["nodes"] for row in ordered if row["target"]["outOfReach"]]
        found.append(
            {
                "cluster": cluster,
                "quotas": quotas,
                "label": label,
                "strategy": strategy,
                "enough": fewest,
                "never": max(never, default=None),
                "tried": [row["nodes"] for row in reversed(ordered)],
            }
        )
    return found
