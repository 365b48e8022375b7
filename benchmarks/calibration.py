"""
Calibration: how often gangs had ended by when the record of run times said they would.

Each job of a trace starts as it comes.  It is asked about at its start and again after
it has run for some times; what has ended by then is the record, and what came true of
those that have ended moves its levels, as `phalanx run` has it.  Run as
``python -m benchmarks.calibration TRACE...``.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from adapters.traces.read import read_trace
from models.memory.run_times import ASKED, PERCENTS, kind_of
from models.resources import GPU
from models.trace import Job, Trace
from solver import RunTimeForecast, ToldEnds


@dataclass(slots=True)
class Answers:
    """
    Of gangs that had run for so long: how many were told, and had ended by when.
    """

    asked: int = 0
    told: int = 0
    ended: dict[int, int] = field(default_factory=lambda: dict.fromkeys(PERCENTS, 0))


def calibrated(trace: Trace) -> dict[int, Answers]:
    """
    Ask about every job of a trace.
    """
    found = {ran: Answers() for ran in ASKED}
    memory = ToldEnds()
    for job, ran in _moments(trace.jobs):
        kind = kind_of(job.queue, "default", job.asked(GPU))
        if ran is None:
            memory.ends(job.name, job.submit + job.duration)
            continue
        if ran == 0:
            memory.begins(job.name, kind, job.submit, job.submit)
        memory.passes(job.submit + ran)
        answers = found[ran]
        answers.asked += 1
        told = RunTimeForecast(memory.record).told(kind, ran)
        if told is None:
            continue
        answers.told += 1
        for percent, left in zip(PERCENTS, told, strict=True):
            answers.ended[percent] += job.duration - ran <= left
    return found


def _moments(jobs: tuple[Job, ...]) -> Iterator[tuple[Job, int | None]]:
    """
    Walk the moments at which jobs are asked about, and those of their ends, in order.
    """
    line: list[tuple[int, int, int | None]] = []
    for idx, job in enumerate(jobs):
        yield from _until(line, job.submit, jobs)
        for ran in ASKED:
            if ran < job.duration:
                heappush(line, (job.submit + ran, idx, ran))
        heappush(line, (job.submit + job.duration, idx, None))
    yield from _until(line, None, jobs)


def _until(
    line: list[tuple[int, int, int | None]], moment: int | None, jobs: tuple[Job, ...]
) -> Iterator[tuple[Job, int | None]]:
    while line and (moment is None or line[0][0] < moment):
        _, idx, ran = heappop(line)
        yield jobs[idx], ran


def main(paths: list[str]) -> None:
    """
    Print a table of each trace.
    """
    for path in paths:
        print(path)
        for ran, answers in calibrated(read_trace(path)).items():
            parts = (
                f"{p} %: {100 * n / max(1, answers.told):5.1f}"
                for p, n in answers.ended.items()
            )
            print(f"  {ran:6} s  {answers.told:6} of {answers.asked:6}", *parts)


if __name__ == "__main__":
    main(sys.argv[1:])
