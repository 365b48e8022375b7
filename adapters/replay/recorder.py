"""
The recorder: writes a replay down while it runs, so that a killed one can go on.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from adapters.machine.clock import monotonic
from adapters.machine.csv_cells import CsvWriter, csv_rows
from adapters.replay.measures.gpu_use import LENT, USES
from adapters.replay.world.job_state import NEVER, Fate
from adapters.replay.world.world import World
from models.devices.gpu_parts import part_of
from models.plan import Plan

JOB_COLUMNS = (
    *("job", "queue", "priority", "pods", "gpus", "duration"),
    *("submit", "start", "end", "wait", "attempts", "failures", "evictions"),
    *("lost", "status", "reason", "nodes"),
)
SERIES_COLUMNS = ("t", *USES, LENT, "waiting", "waitingGpus", "running")
QUEUE_COLUMNS = ("t", "queue", "used", "share", "waiting")
WAIT_COLUMNS = ("t", "job", "gpus", "waited", "why")
_FILES = {
    "ended.csv": ("idx", *JOB_COLUMNS),
    "series.csv": SERIES_COLUMNS,
    "queues.csv": QUEUE_COLUMNS,
    "rounds.jsonl": (),
    "waits.csv": WAIT_COLUMNS,
    "timings.jsonl": (),
}
BEHIND = "BehindOlder"


class Recorder:
    """
    The files of one run; its world counts GPUs in ``pieces`` of one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pieces = 1
        self._files: dict[str, TextIO] = {}
        self._begun = monotonic()

    def open(self, offsets: Mapping[str, int] | None = None) -> None:
        """
        Begin the files, or go on where a checkpoint was made.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, columns in _FILES.items():
            path = self.folder / name
            if offsets is None:
                file = path.open("w", encoding="utf-8", newline="")
                self._files[name] = file
                if columns:
                    self._write(name, columns)
            else:
                file = path.open("r+", encoding="utf-8", newline="")
                file.truncate(offsets[name])
                file.seek(offsets[name])
                self._files[name] = file

    def offsets(self) -> dict[str, int]:
        """
        Give how much of each file is written.
        """
        for file in self._files.values():
            file.flush()
        return {name: (self.folder / name).stat().st_size for name in self._files}

    def close(self) -> None:
        """
        Close all files.
        """
        for file in self._files.values():
            file.close()

    def ended(self, fate: Fate, now: int) -> None:
        """
        Write down a job that has ended.
        """
        self._write("ended.csv", (fate.idx, *self._job_row(fate, now, "done")))

    def bucket(self, begins: int, world: World) -> None:
        """
        Write down what a bucket of time was used for.
        """
        means = world.meter.means()
        waiting, running = world.count_gangs()
        self._write(
            "series.csv",
            (
                begins,
                *(self._gpus(means[use]) for use in (*USES, LENT)),
                sum(waiting.values()),
                self._gpus(sum(world.line.gpus.values())),
                running,
            ),
        )
        used = world.meter.queue_means()
        waits = {name for name, gangs in waiting.items() if gangs}
        names = world.books.queues or {*used, *waits}
        for name in sorted(names):
            share = world.shares.get(name, {}).get(world.ground.counted)
            mean = self._gpus(used.get(name, 0.0))
            self._write(
                "queues.csv",
                (
                    *(begins, name, mean),
                    "" if share is None else self._gpus(share),
                    waiting.get(name, 0),
                ),
            )

    def round(self, world: World, plan: Plan, before: tuple[int, int]) -> None:
        """
        Write down a round that was planned: what waited and was free before it.
        """
        gaps = [tier.gap for tier in plan.tiers if tier.proof == "gap"]
        bounded = plan.strategy == "solver"
        self._line(
            "rounds.jsonl",
            {
                "t": world.now,
                "status": plan.status,
                "waiting": before[0],
                "shown": len(world.shown),
                "started": world.counts.started,
                "startedGpus": self._gpus(world.counts.gpus),
                "evicted": world.counts.evicted,
                "free": self._gpus(before[1]),
                "held": plan.held,
                "gap": _number(max(gaps, default=0.0)) if bounded else None,
                "variables": plan.model.variables,
                "fallback": plan.fallback.way if plan.fallback else None,
            },
        )

    def long_waits(self, told: Iterable[Sequence[object]]) -> None:
        """
        Write down why who waited longest does so.
        """
        for row in told:
            self._write("waits.csv", row)

    def timing(self, now: int, shown: int, decision: float, turn: float) -> None:
        """
        Write down what a round took on this machine.
        """
        seconds = {"decision": round(decision, 6), "turn": round(turn, 6)}
        self._line("timings.jsonl", {"t": now, "shown": shown, **seconds, **self._at()})

    def _at(self) -> dict[str, float]:
        """
        Say for how long this process has played; one that goes on begins at 0 again.
        """
        return {"elapsed": round(monotonic() - self._begun, 3)}

    def finish(self, left: Iterable[Fate], now: int, num_jobs: int) -> None:
        """
        Write the table of jobs in their order, and drop what only helped to resume.
        """
        self._line("timings.jsonl", {"t": now, **self._at()})
        self.close()
        ended = self.folder / "ended.csv"
        rows: dict[int, Sequence[Any]] = {}
        with ended.open(encoding="utf-8", newline="") as file:
            reader = csv_rows(file)
            next(reader)
            rows = {int(row[0]): row[1:] for row in reader}
        for fate in left:
            status = "running" if fate.runs else "waiting"
            rows[fate.idx] = self._job_row(fate, now, status)
        assert len(rows) <= num_jobs  # noqa: S101 - a job is written once
        with (self.folder / "jobs.csv").open("w", encoding="utf-8", newline="") as file:
            writer = CsvWriter(file)
            writer.row(JOB_COLUMNS)
            for idx in sorted(rows):
                writer.row(rows[idx])
        ended.unlink()

    def _write(self, name: str, row: Sequence[object]) -> None:
        CsvWriter(self._files[name]).row(row)

    def _gpus(self, pieces: float) -> float | int:
        return _number(pieces / self.pieces)

    def _job_row(self, fate: Fate, now: int, status: str) -> tuple[object, ...]:
        return job_row(fate, now, status, self._gpus(fate.lost))

    def _line(self, name: str, record: Mapping[str, object]) -> None:
        self._files[name].write(json.dumps(record, separators=(",", ":")) + "\n")


def job_row(fate: Fate, now: int, status: str, lost: float) -> tuple[object, ...]:
    """
    Give the row of a job that ended, or that runs or waits at the end.

    So many GPU-seconds of work were lost.
    """
    job = fate.job
    done = status == "done"
    wait = (now if fate.first == NEVER else fate.first) - job.submit
    reason = fate.reason
    if not reason and status == "waiting":
        reason = BEHIND
    return (
        *(job.name, job.queue, job.priority, job.pods, job.gpus, job.duration),
        job.submit,
        fate.start if fate.runs else "",
        now if done else "",
        wait,
        *(fate.attempts, fate.failures, fate.evictions, lost),
        status,
        reason,
        " ".join(_places(fate)),
    )


def _places(fate: Fate) -> Iterator[str]:
    """
    Say where a gang is: nodes with their whole GPUs, and devices with their parts.
    """
    gpus: dict[str, float] = {}
    for pod, node in fate.places.items():
        role = fate.role_of(pod)
        part = part_of(role.requests)
        devices = fate.devices.get(pod, ()) if part else ()
        if part is None:
            gpus[node] = gpus.get(node, 0) + role.gpus
        for device in devices:
            place = f"{node}/{device.device}"
            gpus[place] = gpus.get(place, 0) + role.gpus / len(devices)
    for place, count in sorted(gpus.items()):
        yield f"{place}*{_number(count)}"


def _number(value: float) -> float | int:
    """
    Round for files; whole numbers stay whole.
    """
    rounded = round(value, 4)
    return int(rounded) if rounded == int(rounded) else rounded
