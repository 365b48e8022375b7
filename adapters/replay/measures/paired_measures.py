"""
Pairs: strategies on the same jobs, compared seed by seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from adapters.replay.measures.intervals import interval_of_ratio

Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True)
class Metric:
    """
    A number that is compared: where it stands, its name, its unit, its better side.

    ``bound`` names the bound that no schedule passes.
    """

    path: str
    label: str
    unit: str
    better: Better = "lower"
    bound: str = ""

    def of(self, metrics: Mapping[str, Any]) -> float | None:
        """
        Find the number in the metrics of a run.
        """
        found: Any = metrics
        for step in self.path.split("."):
            if isinstance(found, list):
                found = next((row for row in found if row["size"] == step), None)
            else:
                found = found.get(step)
            if found is None:
                return None
        return float(found)


METRICS = (
    Metric("wait.mean", "mean wait", "s", bound="meanWait"),
    Metric("wait.perGpu", "mean wait for each GPU", "s"),
    Metric("wait.median", "median wait", "s", bound="medianWait"),
    Metric("wait.p90", "90th percentile wait", "s"),
    Metric("wait.p99", "99th percentile wait", "s"),
    Metric("wait.bySize.8+.mean", "mean wait of gangs of 8 GPUs and more", "s"),
    Metric("wait.bySize.8+.p99", "99th percentile wait of gangs of 8 GPUs+", "s"),
    Metric("starved.over12h", "gangs that waited over 12 h", "jobs"),
    Metric("starved.over12hLarge", "of them of 8 GPUs and more", "jobs"),
    Metric("starved.longest", "longest wait", "s"),
    Metric("jct.mean", "mean time to completion", "s", bound="meanJct"),
    Metric("jct.p99", "99th percentile time to completion", "s"),
    Metric("slowdown.mean", "mean bounded slowdown", "ratio"),
    Metric("makespan", "makespan", "s", bound="makespan"),
    Metric("gpus.used", "GPU time used", "share", "higher", "used"),
    Metric("gpus.incomplete", "GPU time held by incomplete gangs", "share"),
    Metric("gpus.fragmented", "GPU time idle: fragmented", "share"),
    Metric("gpus.quota", "GPU time idle: blocked by quota", "share"),
    Metric("gpus.held", "GPU time idle: held for a head", "share"),
    Metric("gpus.freed", "GPU time idle: between rounds", "share"),
    Metric("fairness.jain", "fairness over queues (Jain)", "0-1", "higher"),
    Metric("fairness.worstWait", "mean wait of the worst queue", "s"),
    Metric("lost.evictions", "evictions of gangs", "attempts"),
    Metric("lost.gpuHours", "work lost", "GPU-h"),
    Metric("jobs.done", "jobs that ended", "jobs", "higher"),
)


LEAST_SHARE = 0.0005
"""
Shares that are less apart are shown alike, and neither is called better.
"""
_OF_ENDED = ("jct.", "slowdown.", "makespan")
"""
Measures over the jobs that ended: of others they say nothing.
"""
_OF_WAITS = ("wait.", "starved.", "fairness.worst")
"""
Measures over all jobs; who still waits counts with its wait so far.
"""


def is_comparable(
    path: str, one: Mapping[str, Any], other: Mapping[str, Any], *, cut: bool
) -> bool:
    """
    Tell whether a measure of two runs is over the same jobs, and as long a time.

    ``cut`` says that both were played up to the same moment.
    """
    left = any(run["jobs"]["running"] + run["jobs"]["waiting"] for run in (one, other))
    if not left:
        return True
    return not path.startswith(_OF_ENDED if cut else (*_OF_ENDED, *_OF_WAITS))


def paired(
    runs: Mapping[tuple[str, int], Mapping[str, Any]],
    bounds: Mapping[int, Mapping[str, float]],
    strategies: Sequence[str],
    seeds: Sequence[int],
    *,
    cut: bool = False,
) -> list[dict[str, Any]]:
    """
    Compare every strategy with the first, metric by metric.
    """
    baseline = strategies[0]
    rows = []
    for metric in METRICS:
        for strategy in strategies[1:]:
            pairs = []
            for seed in seeds:
                base = metric.of(runs[baseline, seed])
                value = metric.of(runs[strategy, seed])
                if base is not None and value is not None:
                    pairs.append((base, value))
            if pairs:
                known = [bounds[seed].get(metric.bound) for seed in seeds]
                both = ((runs[baseline, s], runs[strategy, s]) for s in seeds)
                fair = all(is_comparable(metric.path, *two, cut=cut) for two in both)
                row = _row(metric, strategy, pairs, known)
                rows.append({**row, "comparable": fair})
    return rows


def _row(
    metric: Metric,
    strategy: str,
    pairs: Sequence[tuple[float, float]],
    bounds: Sequence[float | None],
) -> dict[str, Any]:
    base = np.array([pair[0] for pair in pairs])
    value = np.array([pair[1] for pair in pairs])
    known = [bound for bound in bounds if bound is not None]
    whole = len(known) == len(bounds) and metric.bound
    return {
        "metric": metric.path,
        "label": metric.label,
        "unit": metric.unit,
        "better": metric.better,
        "strategy": strategy,
        "baseline": _number(base.mean()),
        "value": _number(value.mean()),
        "difference": _interval(value - base, np.ones(len(base))),
        "relative": _interval(value - base, base),
        "pairs": len(pairs),
        "bound": _number(float(np.mean(known))) if whole else None,
    }


def _interval(
    above: "np.ndarray[Any, Any]", below: "np.ndarray[Any, Any]"
) -> dict[str, float | None]:
    """
    Give a ratio of means with its 95 % interval, as far as the pairs tell.
    """
    if not below.mean():
        return {"mean": None, "low": None, "high": None}
    mean = _number(above.mean() / below.mean())
    found = interval_of_ratio(above, below)
    if found is None:
        return {"mean": mean, "low": None, "high": None}
    low, high = found
    return {"mean": mean, "low": _number(low), "high": _number(high)}


def _number(value: float) -> float:
    return round(float(value), 6)
