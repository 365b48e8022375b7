"""
The portrait of a trace: who submitted what, how large, for how long.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.traces.read import TraceStream, date_of
from models.trace import Job

_SIZES = ((0, "0"), (1, "<1"), (2, "1"), (8, "2-7"), (16, "8-15"), (64, "16-63"))
_NAMES = [name for _, name in _SIZES]
_LARGEST = "64+"
MOST_QUEUES = 10_000
"""
The most queues that are told apart.
"""
OTHERS = "(other queues)"
_MOST_LENGTHS = 20_000


@dataclass(slots=True)
class _Sum:
    """
    Jobs of one kind, added up: what is kept of them does not grow with their number.

    Of more different run times than are kept, three digits each are.
    """

    jobs: int = 0
    work: float = 0
    longest: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    is_rough: bool = False

    def add(self, job: Job) -> None:
        """
        Take in a job.
        """
        length = job.duration
        self.jobs += 1
        self.work += job.gpus * length
        self.longest = max(self.longest, length)
        self.lengths[_rough(length) if self.is_rough else length] += 1
        if len(self.lengths) > _MOST_LENGTHS and not self.is_rough:
            self.is_rough = True
            rough: Counter[int] = Counter()
            for each, count in self.lengths.items():
                rough[_rough(each)] += count
            self.lengths = rough

    @property
    def median(self) -> int:
        """
        Give the lower of the middle run times.
        """
        left = (self.jobs + 1) // 2
        for length in sorted(self.lengths):
            left -= self.lengths[length]
            if left <= 0:
                return length
        return 0


def _rough(length: int) -> int:
    digits = len(str(length)) - 3
    return length if digits <= 0 else length // 10**digits * 10**digits


def portrait_of(stream: TraceStream) -> dict[str, Any]:
    """
    Read a trace of any length; count jobs and add up their work, by size and by queue.
    """
    sizes = {name: _Sum() for name in (*_NAMES, _LARGEST)}
    queues: dict[str, _Sum] = {}
    first = last = None
    for job in stream.jobs:
        sizes[_size(job.gpus)].add(job)
        queue = job.queue
        if queue not in queues and len(queues) >= MOST_QUEUES:
            queue = OTHERS
        queues.setdefault(queue, _Sum()).add(job)
        first = job.submit if first is None else min(first, job.submit)
        last = job.submit if last is None else max(last, job.submit)
    stream.tally.judge()
    by_work = sorted(queues, key=lambda name: (-queues[name].work, name))
    work = sum(each.work for each in sizes.values())
    notes = list(stream.notes)
    if any(each.is_rough for each in (*sizes.values(), *queues.values())):
        notes.append("medians of many run times have three digits, rounded down")
    return {
        "name": stream.name,
        "form": stream.form,
        "begins": date_of(first) if stream.dated() and first is not None else None,
        "jobs": sum(each.jobs for each in sizes.values()),
        "span": 0 if first is None or last is None else last - first,
        "gpuHours": round(work / 3600, 3),
        "bySize": _rows(sizes, work),
        "byQueue": _rows({name: queues[name] for name in by_work}, work),
        "repaired": dict(sorted(stream.tally.repaired.items())),
        "leftOut": dict(sorted(stream.tally.left_out.items())),
        "composite": list(stream.parts),
        "notes": notes,
    }


def _size(gpus: float) -> str:
    if not gpus:
        return _SIZES[0][1]
    return next((name for below, name in _SIZES if gpus < below), _LARGEST)


def _rows(groups: Mapping[str, _Sum], whole: float) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "jobs": each.jobs,
            "gpuHours": round(each.work / 3600, 3),
            "part": round(each.work / whole, 6) if whole else 0.0,
            "median": each.median,
            "longest": each.longest,
        }
        for name, each in groups.items()
        if each.jobs
    ]
