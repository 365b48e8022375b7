"""
Bounds: what no schedule of the same jobs on the same GPUs can be better than.

All are relaxations: jobs may be stopped and divided at will, and only the total of GPUs
counts.  Rounds are not relaxed: nothing starts between two of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import fmean

from models.devices.gpu_counts import shares_held
from models.resources import SHARES_PER_GPU
from models.trace import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleBounds:
    """
    Lower bounds of times in seconds, and an upper one of the part of GPU time used.
    """

    mean_jct: float
    mean_wait: float
    median_wait: int
    makespan: int
    used: float

    def document(self, seed: int) -> dict[str, float | int]:
        """
        Give the bounds as plain values.
        """
        return {
            "seed": seed,
            "meanJct": round(self.mean_jct, 4),
            "meanWait": round(self.mean_wait, 4),
            "medianWait": self.median_wait,
            "makespan": self.makespan,
            "used": round(self.used, 6),
        }


NOTHING = ScheduleBounds(mean_jct=0, mean_wait=0, median_wait=0, makespan=0, used=0)


def bounds_of(
    jobs: Sequence[Job],
    gpus: int,
    every: int,
    memory: int = 0,
    *,
    evictions: bool = False,
) -> ScheduleBounds:
    """
    Bound what can be reached.

    Attempts that fail or are evicted use GPUs, and what follows them is no wait.

    Parameters
    ----------
    jobs
        In the order of their submission.
    gpus
        Of all nodes.
    every
        Seconds between rounds, 0 if a round follows every event.
    memory
        Of the largest GPU, on which a part with memory counts least.
    evictions
        Whether attempts may be evicted.
    """
    if not jobs:
        return NOTHING
    first = [-(-job.submit // every) * every if every else job.submit for job in jobs]
    least = sorted(at - job.submit for at, job in zip(first, jobs, strict=True))
    durations, waits = fmean(job.duration for job in jobs), fmean(least)
    work = [_least(job, memory) * job.duration for job in jobs]
    mean_jct = max(durations + waits, shortest_first(jobs, work, gpus))
    return ScheduleBounds(
        mean_jct=mean_jct,
        mean_wait=waits if evictions or _fail(jobs) else mean_jct - durations,
        median_wait=least[(len(least) - 1) // 2],
        makespan=max(_longest(jobs, first), _by_area(jobs, work, gpus)),
        used=_most_used(jobs, gpus, evictions=evictions),
    )


def _fail(jobs: Sequence[Job]) -> bool:
    return any(job.failures for job in jobs)


def _longest(jobs: Sequence[Job], first: Sequence[int]) -> int:
    return max(at + job.duration for at, job in zip(first, jobs, strict=True))


def _least(job: Job, memory: int) -> int:
    """
    Give what a job needs to run, in 1/7000 of a GPU.
    """
    return sum(role.minimum * shares_held(role.requests, memory) for role in job.roles)


def shortest_first(jobs: Sequence[Job], needs: Sequence[int], gpus: int) -> float:
    """
    Give the mean time from submission to end if all GPUs serve one job at a time.

    It is the one with least work left; no schedule has a lower mean.
    """
    left: list[tuple[float, int]] = []
    now = total = 0.0
    for job, whole in zip(jobs, needs, strict=True):
        now, total = _serve(left, now, float(job.submit), total)
        now = max(now, float(job.submit))
        heappush(left, (whole / (max(1, gpus) * SHARES_PER_GPU), job.submit))
    while left:
        work, submit = heappop(left)
        now += work
        total += now - submit
    return total / len(jobs)


def _serve(
    left: list[tuple[float, int]], now: float, until: float, total: float
) -> tuple[float, float]:
    """
    Serve the job with least work left, and the next, until a moment.
    """
    while left and now < until:
        work, submit = heappop(left)
        if now + work <= until:
            now += work
            total += now - submit
        else:
            heappush(left, (work - (until - now), submit))
            now = until
    return now, total


def _by_area(jobs: Sequence[Job], needs: Sequence[int], gpus: int) -> int:
    """
    Give the least end of all work: some submission, and all work from then on.
    """
    if not gpus:
        return 0
    work = best = 0
    for job, need in zip(reversed(jobs), reversed(needs), strict=True):
        work += need
        best = max(best, job.submit + -(-work // (gpus * SHARES_PER_GPU)))
    return best


def _most_used(jobs: Sequence[Job], gpus: int, *, evictions: bool) -> float:
    """
    Give the largest part of GPU time up to the last submission that jobs can use.

    Up to any moment no more is done than was submitted before it, and from then on no
    more than all GPUs do.  Nobody knows how long evicted attempts run.
    """
    span = jobs[-1].submit
    if not span or not gpus:
        return 1.0
    submitted, shares = 0, gpus * SHARES_PER_GPU
    possible, least = 0, span * shares
    for job in jobs:
        least = min(least, submitted + shares * (span - job.submit))
        runs = span if evictions else job.duration + sum(job.failures)
        submitted += job.shares * runs
        possible += job.shares * min(runs, span - job.submit)
    return min(1.0, min(least, submitted, possible) / (span * shares))
