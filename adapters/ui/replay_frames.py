"""
The frames of a replay: what ran where at each of its rounds, from its tables.
"""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from adapters.reports.replay.results import Folder, PlayedRun, QueueLine, load
from adapters.reports.replay.stays import PlaceOfJob, Stay, nodes_of, place_in
from adapters.reports.replay.tables import (
    TableError,
    job_cells,
    number_in,
    read_series,
)
from adapters.ui.frame import natural
from adapters.ui.frame_store import FrameStore, RoundAnswers
from models.devices.gpu_parts import WHOLE
from models.errors import WrongUseError, printable

MOST_MOMENTS = 400
"""
The rounds of a replay that are shown; of more, every n-th.
"""
_COLUMNS = (
    *("job", "queue", "priority", "pods", "gpus"),
    *("submit", "start", "end", "reason", "nodes"),
)


@dataclass(frozen=True, slots=True)
class ShownJob:
    """
    A job of a replay; of one that had several attempts the last.
    """

    name: str
    queue: str
    priority: int
    pods: int
    gpus: float
    submit: float
    start: float
    end: float
    reason: str
    nodes: Sequence[PlaceOfJob]

    @property
    def held(self) -> float:
        """
        Give the GPUs that it has where it runs, which may be with some of its pods.
        """
        return sum(place.gpus for place in self.nodes) if self.nodes else self.gpus


@dataclass(frozen=True, slots=True)
class ShownRun:
    """
    What one strategy did: its jobs by their submission, and its rounds.
    """

    strategy: str
    jobs: Sequence[ShownJob]
    submits: Sequence[float]
    rounds: Sequence[Mapping[str, Any]]
    seconds: Mapping[float, float]
    off: float


@dataclass(frozen=True, slots=True)
class ShownCluster:
    """
    The nodes of a replay with their GPUs, and its queues.
    """

    nodes: Sequence[tuple[str, int]]
    queues: Sequence[QueueLine]
    gpus: float


def replay_store(path: str) -> FrameStore:
    """
    Read a replay; its frames are made when they are looked at.

    Raises
    ------
    ResultsRejectedError
        When the folder holds no replay.
    WrongUseError
        When its tables cannot be read.
    """
    folder = load(path)
    mine = _run(folder, "solver")
    other = _run(folder, "greedy", besides=mine.strategy)
    runs = [_stays(run.jobs) for run in (mine, other) if run]
    names, room = nodes_of(runs, folder.results.cluster)
    nodes = [(name, int(room[name])) for name in sorted(names, key=natural)]
    there = folder.results.cluster
    cluster = ShownCluster(nodes, there.queues, there.gpus)
    kept = any("free" in line for line in mine.rounds)
    name = f"{path} · {folder.results.trace.name}"
    store = FrameStore(name if kept else f"{name} · without rounds.jsonl", live=False)
    for line in _spread(mine):
        at = float(line["t"])
        head = _head(mine, cluster, line, at)
        answers = other and RoundAnswers(
            partial(_frame, other, cluster, line, at), lambda _: {}
        )
        store.add_later(head, partial(_frame, mine, cluster, line, at), answers)
    return store


def _run(folder: Folder, wanted: str, besides: str = "") -> Any:  # noqa: ANN401
    """
    Read the run of a strategy, else the first one; none where it is the other one.
    """
    known = [name for name in folder.results.strategies if name != besides]
    if not known:
        return None
    run = folder.run(wanted if wanted in known else known[0])
    return None if run is None else _read(folder, run)


def _read(folder: Folder, run: PlayedRun) -> ShownRun:
    try:
        rows = [_job(cells) for cells in job_cells(folder.path / run.folder, _COLUMNS)]
    except TableError as error:
        raise WrongUseError(f"{run.folder}/jobs {error}") from error
    jobs = sorted((job for job in rows if job), key=lambda job: job.submit)
    rounds = _lines(folder, run, "rounds.jsonl")
    if not rounds:
        rounds = list(_rounds_told_by(jobs))
    times = _lines(folder, run, "timings.jsonl")
    return ShownRun(
        strategy=run.strategy,
        jobs=jobs,
        submits=[job.submit for job in jobs],
        rounds=rounds,
        seconds={x["t"]: float(x["decision"]) for x in times if "decision" in x},
        off=_off(folder, run),
    )


def _off(folder: Folder, run: PlayedRun) -> float:
    """
    Count the GPUs of nodes that take no pods, which no round counts as free.
    """
    try:
        return read_series(folder.file(run, "series.csv")).parts["off"][0]
    except TableError:
        return 0.0


_NEVER = float("inf")
_Row = list[tuple[int, float, str]]


def _job(cells: Sequence[Any]) -> ShownJob | None:
    job, queue, priority, pods, gpus, submit, start, end, reason, nodes = cells
    first = number_in(submit)
    if first is None:
        return None
    began, ended = number_in(start), number_in(end)
    places = filter(None, map(place_in, (nodes or "").split()))
    return ShownJob(
        name=printable(str(job)),
        queue=printable(str(queue or "")),
        priority=int(number_in(priority) or 0),
        pods=int(number_in(pods) or 0),
        gpus=_whole(number_in(gpus) or 0),
        submit=first,
        start=_NEVER if began is None else began,
        end=_NEVER if ended is None else ended,
        reason=printable(str(reason or "")),
        nodes=tuple(places),
    )


def _rounds_told_by(jobs: Sequence[ShownJob]) -> Iterator[dict[str, Any]]:
    """
    Walk the moments at which jobs came, started or ended, where rounds are not told.
    """
    change: dict[float, tuple[float, int, int]] = defaultdict(lambda: (0, 0, 0))
    for job in jobs:
        for at, gpus, waits, starts in (
            (job.submit, 0, 1, 0),
            (job.start, job.held, -1, 1),
            (job.end, -job.held, 0, 0),
        ):
            one = change[at]
            change[at] = one[0] + gpus, one[1] + waits, one[2] + starts
    used, waiting = 0.0, 0
    for at in sorted(change):
        gpus, waits, starts = change[at]
        used, waiting = used + gpus, waiting + waits
        if at < _NEVER:
            line = {"t": at, "used": _whole(round(used, 3)), "started": starts}
            yield {**line, "waiting": waiting + starts}


def _lines(folder: Folder, run: PlayedRun, name: str) -> list[dict[str, Any]]:
    try:
        text = folder.file(run, name).read_text(encoding="utf-8")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("t"), int | float):
            found.append(record)
    return found


def _stays(jobs: Sequence[ShownJob]) -> list[Stay]:
    return [
        Stay(place.node, job.start, job.end, place.gpus)
        for job in jobs
        if job.start < job.end
        for place in job.nodes
    ]


def _spread(run: ShownRun) -> Sequence[Mapping[str, Any]]:
    """
    Take so many rounds as can be shown, evenly.
    """
    step = -(-len(run.rounds) // MOST_MOMENTS) or 1
    return run.rounds[::step]


def _head(
    run: ShownRun, cluster: ShownCluster, line: Mapping[str, Any], at: float
) -> dict[str, Any]:
    """
    Give what the list of rounds says: the part of the GPUs that are free, as recorded.
    """
    free, started = line.get("free"), line.get("startedGpus") or 0
    used = line.get("used")
    if free is not None:
        used = _whole(cluster.gpus - run.off - free + started)
    part = None if used is None else used / max(1, cluster.gpus)
    tier = {"name": "GPUs at work", "value": part, "limit": None}
    return {
        "name": _moment(at),
        "began": None,
        "plan": {
            "status": line.get("status"),
            "seconds": run.seconds.get(line["t"]),
            "starts": line.get("started"),
            "waits": max(0, (line.get("waiting") or 0) - (line.get("started") or 0)),
            "gpus": used,
            "tiers": [tier],
        },
    }


def _moment(at: float) -> str:
    days, rest = divmod(int(at), 86400)
    hours, rest = divmod(rest, 3600)
    return f"day {days + 1}, {hours:02d}:{rest // 60:02d}"


def _frame(
    run: ShownRun, cluster: ShownCluster, line: Mapping[str, Any], at: float
) -> dict[str, Any]:
    """
    Give what ran, started and waited at a moment.
    """
    there = run.jobs[: bisect_right(run.submits, at)]
    jobs = [job for job in there if job.end > at]
    queues = _queues(cluster, jobs, at)
    index = {queue["name"]: place for place, queue in enumerate(queues)}
    cells, parts = _cells(cluster, jobs, at)
    used = sum(job.held for job in jobs if job.start <= at)
    waiting = sum(job.start > at for job in jobs)
    return {
        "name": _moment(at),
        "began": None,
        "source": run.strategy,
        "groups": ["nodes"],
        "nodes": [[printable(name), 0, gpus, 0, 0] for name, gpus in cluster.nodes],
        "cells": cells,
        "parts": parts,
        "gangs": [_gang(job, index, at) for job in jobs],
        "queues": queues,
        "plan": {
            "strategy": run.strategy,
            "status": line.get("status") or "played",
            "seconds": run.seconds.get(line["t"]),
            "starts": sum(job.start == at for job in jobs),
            "waits": waiting,
            "leaves": 0,
            "gpus": _whole(used),
            "tiers": [],
            "fallback": line.get("fallback"),
        },
    }


def _cells(
    cluster: ShownCluster, jobs: Sequence[ShownJob], at: float
) -> tuple[list[_Row], dict[int, list[tuple[int, int, int, str]]]]:
    """
    Give the GPUs of each node by job, and the parts of devices below a whole one.
    """
    index = {name: number for number, (name, _) in enumerate(cluster.nodes)}
    cells: list[_Row] = [[] for _ in cluster.nodes]
    parts: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
    for number, job in enumerate(jobs):
        how = "b" if job.start == at else "r"
        for place in job.nodes if job.start <= at else ():
            node = index.get(place.node)
            if node is None:
                continue
            if place.device is None:
                cells[node].append((number, _whole(place.gpus), how))
                continue
            if (number, 0, how) not in cells[node][-1:]:
                cells[node].append((number, 0, how))
            size = round(place.gpus * WHOLE)
            parts[node].append((number, place.device, size, how))
    return cells, dict(parts)


def _whole(gpus: float) -> float:
    """
    Give GPUs to the thousandth, whole ones as a whole number.
    """
    rounded = round(gpus, 3)
    return int(rounded) if rounded == int(rounded) else rounded


def _gang(job: ShownJob, index: Mapping[str, int], at: float) -> dict[str, Any]:
    runs = job.start <= at
    return {
        "name": job.name,
        "queue": index.get(job.queue, -1),
        "state": "Starting" if job.start == at else "Running" if runs else "Waiting",
        "priority": job.priority,
        "age": int(at - job.submit),
        "pods": [job.pods, job.pods, job.pods],
        "gpus": [job.gpus, _whole(job.held) if runs else 0],
        "reason": "" if runs else job.reason,
        "message": "" if runs or not job.reason else "the last reason a plan gave",
    }


def _queues(
    cluster: ShownCluster, jobs: Sequence[ShownJob], at: float
) -> list[dict[str, Any]]:
    used: dict[str, float] = defaultdict(int)
    after: dict[str, float] = defaultdict(int)
    for job in jobs:
        used[job.queue] += job.held if job.start < at else 0
        after[job.queue] += job.held if job.start <= at else 0
    rules = {queue.name: queue for queue in cluster.queues}
    return [
        {
            "name": name,
            "parent": None,
            "open": True,
            "quota": rules[name].quota if name in rules else None,
            "limit": rules[name].limit if name in rules else None,
            "share": None,
            "used": _whole(used[name]),
            "after": _whole(after[name]),
        }
        for name in sorted({*rules, *used}, key=natural)
    ]
