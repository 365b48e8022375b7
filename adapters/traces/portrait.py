"""
The portrait of a trace: who submitted what, how large, for how long.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any

from models.trace import Job, Trace

_SIZES = ((0, "0"), (1, "1"), (7, "2-7"), (15, "8-15"), (63, "16-63"))
_NAMES = [name for _, name in _SIZES]
_LARGEST = "64+"


def portrait_of(trace: Trace) -> dict[str, Any]:
    """
    Count jobs and add up their work, by size and by queue.
    """
    sizes: dict[str, list[Job]] = {name: [] for name in (*_NAMES, _LARGEST)}
    queues: dict[str, list[Job]] = defaultdict(list)
    for job in trace.jobs:
        sizes[_size(job.gpus)].append(job)
        queues[job.queue].append(job)
    by_work = sorted(queues, key=lambda name: (-_work(queues[name]), name))
    return {
        "name": trace.name,
        "form": trace.form,
        "begins": trace.begins,
        "jobs": len(trace.jobs),
        "span": trace.span,
        "gpuHours": round(trace.gpu_seconds / 3600, 3),
        "bySize": _rows(sizes, trace.gpu_seconds),
        "byQueue": _rows({name: queues[name] for name in by_work}, trace.gpu_seconds),
        "repaired": dict(trace.repaired),
        "leftOut": dict(trace.left_out),
        "composite": list(trace.parts),
        "notes": list(trace.notes),
    }


def _size(gpus: int) -> str:
    return next((name for most, name in _SIZES if gpus <= most), _LARGEST)


def _work(jobs: Sequence[Job]) -> int:
    return sum(job.gpus * job.duration for job in jobs)


def _rows(groups: Mapping[str, Sequence[Job]], whole: int) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "jobs": len(jobs),
            "gpuHours": round(_work(jobs) / 3600, 3),
            "part": round(_work(jobs) / whole, 6) if whole else 0.0,
            "median": median_low(job.duration for job in jobs),
            "longest": max(job.duration for job in jobs),
        }
        for name, jobs in groups.items()
        if jobs
    ]
