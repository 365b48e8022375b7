"""
Builders of traces, and replays of them, for tests.
"""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from adapters.machine.clock import monotonic
from adapters.replay.engine import Engine, Timed
from adapters.replay.play import Run, play
from adapters.replay.recorder import Recorder
from adapters.replay.world.world import Rules, World
from adapters.traces.clusters import floor_of, queues_by_work
from adapters.traces.counted_parts import counting_parts
from adapters.traces.gpu_amounts import read_gpus
from models.plan import Plan
from models.policy import Policy
from models.resources import PODS
from models.snapshot import Snapshot
from models.trace import Floor, Job, Role, Trace


def job(
    name: str,
    *,
    submit: int = 0,
    duration: int = 600,
    pods: int = 1,
    gpus: int | str = 8,
    **said: Any,
) -> Job:
    minimum = said.pop("minimum", pods)
    requests = {PODS: 1, **read_gpus(str(gpus))} if gpus else {PODS: 1}
    role = Role(pods=pods, minimum=minimum, requests=requests)
    return Job(name=name, submit=submit, duration=duration, roles=(role,), **said)


def trace(*jobs: Job) -> Trace:
    ordered = tuple(sorted(jobs, key=lambda found: (found.submit, found.name)))
    return Trace(name="made-up", form="own", digest=repr(ordered), jobs=ordered)


def run(jobs: Sequence[Job], cluster: str = "2x8", **said: Any) -> Run:
    """
    A run of greedy over some jobs; queues have quotas by work where there are several.
    """
    found = trace(*jobs)
    floor: Floor = said.pop("floor", None) or floor_of(cluster)
    if len({each.queue for each in jobs}) > 1 and not floor.queues:
        floor = replace(floor, queues=queues_by_work(found, floor.gpus))
    policy = said.pop("policy", Policy())
    strategy = said.pop("strategy", "greedy")
    found, floor = counting_parts(found, floor)
    return Run(trace=found, floor=floor, policy=policy, strategy=strategy, **said)


def played(folder: Path, made: Run) -> dict[str, dict[str, str]]:
    """
    Play a run; give its rows by job.
    """
    play(made, folder)
    return rows(folder)


def driven(
    folder: Path,
    made: Run,
    plan: Callable[[World, Snapshot, Policy], Plan],
    rules: Rules = Rules(),  # noqa: B008 - frozen
) -> None:
    """
    Play a run with a planner that is shown the world, too.
    """
    recorder = Recorder(folder)
    recorder.open()
    jobs = made.trace.jobs
    world = World(jobs, made.floor, made.policy, rules, recorder.ended)
    planner = partial(plan, world)
    timed = Timed(planner, planner, monotonic)
    Engine(jobs, world, timed, recorder).run(20_000, lambda _: None)


def rows(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "jobs.csv").open(newline="") as file:
        return {row["job"]: row for row in csv.DictReader(file)}


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="") as file:
        return [*csv.DictReader(file)]


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def some_jobs(
    seed: int, count: int = 40, *, elastic: bool = True, parts: bool = False
) -> list[Job]:
    """
    Jobs of three queues that come faster than two nodes can serve them.

    With ``parts`` most ask for some of a GPU, or of each of two.
    """
    random = Random(seed)
    at = 0
    found = []
    for number in range(count):
        at += random.randrange(0, 400)
        pods = random.choice((1, 1, 1, 2, 3))
        gpus = random.choice((0, 1, 2, 4, 8) if pods < 3 else (1, 2, 4))
        if parts and random.random() < 0.6:
            gpus = random.choice(("0.25", "0.47", "0.5", "0.81", "2x0.33"))
        wanted = random.randrange(1, 4000)
        fails = [random.randrange(1, 600) for _ in range(random.choice((0, 0, 0, 1)))]
        found.append(
            job(
                f"job-{number:03d}",
                submit=at,
                duration=wanted,
                pods=pods,
                gpus=gpus,
                minimum=random.randrange(1, pods + 1) if elastic else pods,
                queue=random.choice("abc"),
                priority=random.choice((0, 0, 0, 5)),
                failures=tuple(fails),
            )
        )
    return found


def files(folder: Path) -> dict[str, bytes]:
    """
    All bytes that a replay promises to repeat.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("timings.")
    }
