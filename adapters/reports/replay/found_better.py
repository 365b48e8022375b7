"""
Found better: a policy of a study that is better than the one that was played.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.reports.charts.number_text import share, span
from adapters.reports.replay.measures import mean_of
from adapters.reports.replay.replay_summary import LARGE
from adapters.reports.replay.results import (
    Folder,
    ResultsRejectedError,
    StudyRejectedError,
    plain_values,
)

MEAN = "wait.mean"
LEAST_GAIN = 0.03
"""
An alternative that is better by less is none.
"""
_SAME = 1e-6
_WORDS = {
    MEAN: "mean wait",
    LARGE: "99th-percentile wait of jobs of 8 GPUs and more",
}
_Row = Mapping[str, Any]


def found_better(folder: Folder, study: str | None) -> list[str]:
    """
    Say of each strategy which policy of a study is better than the one played.

    The study must have played the same trace on the same cluster with the policy of
    the replay, too: its row of the same numbers is compared with the others.

    Parameters
    ----------
    folder
        What was played.
    study
        The folder of a ``study policy``, if one is known.
    """
    if study is None:
        return []
    rows = _rows(Path(study))
    lines = []
    for name in folder.results.strategies:
        mine = [row for row in rows if row.get("strategy") == name]
        own = next((row for row in mine if _is_own(folder, name, row)), None)
        if own is None:
            lines.append(
                f"{study} has no row with the waits of {name} on this page: another "
                "trace, cluster, policy or version was studied."
            )
            continue
        best = _best(own, mine)
        lines.append(_said(own, best, name, study))
    return lines


def _rows(study: Path) -> list[_Row]:
    try:
        rows = plain_values(study / "study.json").get("frontier")
    except ResultsRejectedError as error:
        raise StudyRejectedError(error.source, error.problems) from None
    found = rows if isinstance(rows, list) else []
    return [row for row in found if isinstance(row, dict)]


def _is_own(folder: Folder, strategy: str, row: _Row) -> bool:
    """
    Tell whether a row says of a strategy what its replay says.
    """
    return all(
        _is_same(_of(row, metric), mean_of(folder, strategy, metric))
        for metric in _WORDS
    )


def _is_same(there: float | None, here: float | None) -> bool:
    """
    Tell whether two waits are the same; neither is known where no job has one.
    """
    if there is None or here is None:
        return there is here
    return abs(there - here) <= _SAME * max(1.0, here)


def _best(own: _Row, rows: list[_Row]) -> _Row | None:
    """
    Find the policy with the shortest mean wait of those that are nowhere worse.
    """
    better = []
    for row in rows:
        if row.get("cluster") != own.get("cluster"):
            continue
        if row.get("quotas") != own.get("quotas"):
            continue
        gains = [_gain(own, row, metric) for metric in _WORDS]
        if min(gains) >= 0 and max(gains) >= LEAST_GAIN:
            better.append(row)
    return min(better, key=lambda row: _of(row, MEAN) or 0.0, default=None)


def _gain(own: _Row, row: _Row, metric: str) -> float:
    before, after = _of(own, metric), _of(row, metric)
    if before is None or after is None:
        return 0.0 if before is after else -1.0
    return (before - after) / max(1.0, before)


def _of(row: _Row, metric: str) -> float | None:
    metrics = row.get("metrics")
    entry = metrics.get(metric) if isinstance(metrics, dict) else None
    mean = entry.get("mean") if isinstance(entry, dict) else None
    return float(mean) if isinstance(mean, int | float) else None


def _said(own: _Row, best: _Row | None, strategy: str, study: str) -> str:
    if best is None:
        return f"No policy of {study} is better for {strategy} than the one played."
    parts = [
        f"a {word} of {span(_of(best, metric) or 0.0)} instead of "
        f"{span(_of(own, metric) or 0.0)} (−{share(_gain(own, best, metric), 0)})"
        for metric, word in _WORDS.items()
        if _of(own, metric) is not None
    ]
    label = best.get("label") or "as given"
    return f"Worse than {label} of {study}: that gives {strategy} {', '.join(parts)}."
