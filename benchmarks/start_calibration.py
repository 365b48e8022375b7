"""
Calibration of starts: how often gangs had started by when they were told they would.

The tables of a replay say when each job came and when it started; the memory of starts
hears them in that order, as `phalanx run` would, and whoever it notes is told what it
knows then.  The first half of the time only trains.  Run as
``python -m benchmarks.start_calibration FOLDER``, of a replay by one strategy.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.loop.memory.start_memory import GAP, StartMemory
from models.memory.start_record import LikelyStart, StartRecord

PERCENTS = (50, 80, 95)
SIZES = (("all", 0, 10**9), ("1 GPU", 0, 1), ("2 to 7", 2, 7), ("8 and more", 8, 10**9))


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """
    One job: when it was submitted and started, its queue, priority and GPUs.
    """

    submit: int
    start: int
    name: str
    queue: str
    priority: int
    gpus: int


@dataclass(frozen=True, slots=True)
class Told:
    """
    What a job was told, and after how many seconds it started.
    """

    said: LikelyStart | None
    gpus: int
    waited: int

    def kept(self, percent: int) -> bool:
        """
        Tell whether it had started by when so many of a hundred should have.
        """
        said = self.said
        if said is None:
            return False
        return self.waited <= {50: said.half, 80: said.most, 95: said.nearly}[percent]


def jobs_of(path: Path) -> list[Job]:
    """
    Read the jobs that have started, in the order in which they came.
    """
    with path.open(encoding="utf-8", newline="") as rows:
        return sorted(
            Job(
                submit=int(row["submit"]),
                start=int(row["submit"]) + int(row["wait"]),
                name=row["job"],
                queue=row["queue"],
                priority=int(row["priority"]),
                gpus=int(row["gpus"]),
            )
            for row in csv.DictReader(rows)
            if row["status"] == "done"
        )


def told(jobs: Sequence[Job], *, learns: bool) -> list[Told]:
    """
    Give what was told in the second half; with ``learns`` what starts there teaches.
    """
    memory, waiting = StartMemory(), dict[str, Job]()
    first, last = jobs[0].submit, jobs[-1].submit
    came, starts = iter(jobs), sorted(jobs, key=lambda job: job.start)
    middle, nxt, at = (first + last) // 2, next(came, None), 0
    trained: StartRecord | None = None
    found = []
    for now in range(first + GAP, last, GAP):
        while nxt is not None and nxt.submit < now:
            waiting[nxt.name] = nxt
            memory.comes(nxt.name, nxt.queue, nxt.gpus)
            nxt = next(came, None)
        while at < len(starts) and starts[at].start < now:
            memory.starts(starts[at].name, starts[at].start)
            waiting.pop(starts[at].name, None)
            at += 1
        line = _line(waiting.values())
        record = memory.record(now)
        if now >= middle and not learns:
            trained = trained or record
            record = _paced(trained, record)
        for name in memory.waits(line, now):
            queue, gpus, before = line[name]
            expected = record.expected(queue, before)
            said = None if expected is None else record.likely(gpus, expected)
            if now >= middle:
                found.append(Told(said, gpus, waiting[name].start - now))
    return found


def _paced(trained: StartRecord, now: StartRecord) -> StartRecord:
    """
    Take the pace of queues from now, and how late starts are from what was trained.

    Levels follow each answer, so that those of one moment hold for that moment alone:
    of a record that learns no more the counts tell.
    """
    return replace(trained, gpus=now.gpus, seconds=now.seconds, levels={})


def _line(waiting: Iterable[Job]) -> dict[str, tuple[str, int, int]]:
    sums: dict[str, int] = {}
    found = {}
    for job in sorted(waiting, key=lambda job: (-job.priority, job.submit, job.name)):
        sums[job.queue] = sums.get(job.queue, 0) + job.gpus
        found[job.name] = job.queue, job.gpus, sums[job.queue]
    return found


def table(found: Sequence[Told]) -> Iterator[str]:
    """
    Say of how many what was told came true.
    """
    for name, least, most in SIZES:
        rows = [x for x in found if least <= x.gpus <= most]
        said = [x for x in rows if x.said is not None]
        parts = [
            f"{percent} %: {100 * sum(x.kept(percent) for x in said) / len(said):5.1f}"
            for percent in PERCENTS
            if said
        ]
        yield f"{name:12} {len(rows):6} {len(said):6}  {'  '.join(parts)}"


def main(words: list[str]) -> None:
    """
    Print the tables of a replay: with what the first half taught, and as it goes on.
    """
    (path,) = Path(words[0]).glob("runs/*/*/jobs.csv")
    jobs = jobs_of(path)
    for word, learns in (("first half teaches", False), ("learns on", True)):
        print(word)
        for line in table(told(jobs, learns=learns)):
            print(f"  {line}")


if __name__ == "__main__":
    main(sys.argv[1:])
