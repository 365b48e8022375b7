"""
Metrics: the numbers of one run, from the files it wrote.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from adapters.machine.csv_cells import as_given
from models.trace import Floor

LONG = 12 * 3600
LARGE = 8
SHORTEST = 10
SIZES = (
    *(("0", 0, 0.0001), ("<1", 0.0001, 1), ("1", 1, 2), ("2-7", 2, 8)),
    *(("8-15", 8, 16), ("16-63", 16, 64), ("64+", 64, 10**12), ("8+", LARGE, 10**12)),
)
"""
Sizes of gangs by name: from so many GPUs up to fewer than so many.
"""


@dataclass(frozen=True, slots=True)
class JobRow:
    """
    One row of the table of jobs.
    """

    job: str
    queue: str
    gpus: float
    duration: int
    submit: int
    end: int | None
    wait: int
    evictions: int
    failures: int
    lost: float
    status: str
    reason: str


def job_rows(folder: Path) -> Iterator[JobRow]:
    """
    Read the table of jobs of a run.
    """
    with (folder / "jobs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield JobRow(
                job=row["job"],
                queue=as_given(row["queue"]),
                gpus=_number(row["gpus"]),
                duration=int(row["duration"]),
                submit=int(row["submit"]),
                end=int(row["end"]) if row["end"] else None,
                wait=int(row["wait"]),
                evictions=int(row["evictions"]),
                failures=int(row["failures"]),
                lost=_number(row["lost"]),
                status=row["status"],
                reason=row["reason"],
            )


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def metrics_of(
    folder: Path,
    rounds: Mapping[str, int],
    uses: Mapping[str, float | None],
    floor: Floor,
) -> dict[str, Any]:
    """
    Compute all metrics of a run; docs/reference/replay.md defines them.
    """
    csv.field_size_limit(2**30)
    jobs = [*job_rows(folder)]
    status = [job.status for job in jobs]
    ended = [job for job in jobs if job.end is not None]
    jct = [(job.end or 0) - job.submit for job in ended]
    slow = [
        max(1.0, time / max(job.duration, SHORTEST))
        for time, job in zip(jct, ended, strict=True)
    ]
    last = max((job.submit for job in jobs), default=0)
    return {
        "jobs": {name: status.count(name) for name in ("done", "running", "waiting")},
        "wait": _waits(jobs),
        "jct": _some(jct, ("mean", "median", "p99")),
        "slowdown": _some(slow, ("mean", "median", "p99")),
        "makespan": max((job.end or 0 for job in ended), default=0),
        "gpus": dict(uses),
        "starved": _starved(jobs),
        "fairness": {"jain": _jain(folder, last), **_worst(jobs)},
        "lost": {
            "evictions": sum(job.evictions for job in jobs),
            "failures": sum(job.failures for job in jobs),
            "gpuHours": round(sum(job.lost for job in jobs) / 3600, 3),
        },
        "rounds": {
            "all": sum(rounds.values()),
            **rounds,
            **_gaps(folder),
        },
        "cluster": {"gpus": floor.gpus, "nodes": len(floor.nodes)},
    }


def _waits(jobs: Sequence[JobRow]) -> dict[str, Any]:
    names = ("mean", "median", "p90", "p99", "max")
    sizes = []
    for name, least, below in SIZES:
        waits = [job.wait for job in jobs if least <= job.gpus < below]
        if waits:
            sizes.append({"size": name, "jobs": len(waits), **_some(waits, names)})
    found = _some([job.wait for job in jobs], names)
    return {**found, "perGpu": _per_gpu(jobs), "bySize": sizes}


def _per_gpu(jobs: Sequence[JobRow]) -> float | None:
    """
    Give the mean wait for each GPU asked for: a gang of eight counts eight times.
    """
    gpus = sum(job.gpus for job in jobs)
    return _rounded(sum(job.wait * job.gpus for job in jobs) / gpus) if gpus else None


def _some(values: Sequence[float], names: Iterable[str]) -> dict[str, float | None]:
    """
    Give the mean and percentiles of values; a percentile is one of the values.
    """
    if not values:
        return dict.fromkeys(names)
    ordered = sorted(values)
    found: dict[str, float | None] = {}
    for name in names:
        if name == "mean":
            found[name] = _rounded(sum(ordered) / len(ordered))
        else:
            found[name] = _rounded(ordered[_rank(len(ordered), _PARTS[name])])
    return found


_PARTS = {"median": 50, "p90": 90, "p99": 99, "max": 100}


def _rank(count: int, percent: int) -> int:
    return max(0, ceil(count * percent / 100) - 1)


def _rounded(value: float) -> float:
    rounded = round(float(value), 4)
    return int(rounded) if rounded.is_integer() else rounded


def _buckets(path: Path, last: int) -> Iterator[tuple[dict[str, str], int]]:
    """
    Walk the rows of a series that begin before a moment, with the seconds they count.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    begins = sorted({int(row["t"]) for row in rows})
    following = dict(pairwise(begins))
    for row in rows:
        at = int(row["t"])
        end = min(following.get(at, last), last)
        if end > at:
            yield row, end - at


def _jain(folder: Path, last: int) -> float | None:
    """
    Give the mean of the index of Jain over time, of GPUs used per GPU of fair share.

    Who waits and has no share got nothing of it.
    """
    ratios: dict[int, list[float]] = defaultdict(list)
    seconds: dict[int, int] = {}
    for row, length in _buckets(folder / "queues.csv", last):
        share = float(row["share"] or 0)
        if share > 0 or int(row["waiting"]):
            ratio = float(row["used"]) / share if share > 0 else 0.0
            ratios[int(row["t"])].append(ratio)
            seconds[int(row["t"])] = length
    total = weight = 0.0
    for at, values in ratios.items():
        x = np.array(values)
        squares = float((x**2).sum())
        if squares:
            total += float(x.sum()) ** 2 / (len(x) * squares) * seconds[at]
            weight += seconds[at]
    return round(total / weight, 6) if weight else None


def _starved(jobs: Sequence[JobRow]) -> dict[str, int]:
    long = [job for job in jobs if job.wait > LONG]
    return {
        "over12h": len(long),
        "over12hLarge": sum(job.gpus >= LARGE for job in long),
        "longest": max((job.wait for job in jobs), default=0),
    }


def _worst(jobs: Sequence[JobRow]) -> dict[str, Any]:
    """
    Name the queue with the longest mean wait.
    """
    waits: dict[str, list[int]] = defaultdict(list)
    for job in jobs:
        waits[job.queue].append(job.wait)
    means = {queue: sum(found) / len(found) for queue, found in waits.items()}
    worst = max(means, key=lambda queue: (means[queue], queue), default=None)
    if worst is None:
        return {"worstQueue": None, "worstWait": None}
    return {"worstQueue": worst, "worstWait": _rounded(means[worst])}


def _gaps(folder: Path) -> dict[str, Any]:
    """
    Count the rounds in which every tier is proven, and say how wide gaps are.
    """
    gaps = []
    proven = 0
    with (folder / "rounds.jsonl").open(encoding="utf-8") as file:
        for found in map(json.loads, file):
            if found["gap"] is not None:
                gaps.append(found["gap"])
                proven += found["status"] != "feasible"
    if not gaps:
        return {"proven": None, "worstGap": None, "meanGap": None}
    return {
        "proven": proven,
        "worstGap": max(gaps),
        "meanGap": _rounded(sum(gaps) / len(gaps)),
    }
