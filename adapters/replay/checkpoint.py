"""
Checkpoints: the state of a replay as plain values, so that a killed one goes on.
"""

import json
import os
from dataclasses import asdict
from heapq import heapify
from pathlib import Path
from typing import Any

from adapters.files.recorded_times import record_of, run_times_document
from adapters.replay.engine import Engine, Rounds
from adapters.replay.world.job_state import Fate
from adapters.replay.world.world import World
from models.devices.gpu_parts import GpuDevice
from models.documents.run_time_specs import RunTimesSpec

NAME = "checkpoint.json"
_FIELDS = (
    *("idx", "queued", "first", "start", "attempts", "failures", "evictions"),
    *("evicted", "lost", "saved", "reason", "places", "since", "reserved", "lent_by"),
)
_WORLD = ("now", "changed", "changed_at", "again", "used", "incomplete", "shares")


def keep(engine: Engine, key: str) -> None:
    """
    Write the state beside the results, whole or not at all.
    """
    world = engine.world
    meter = world.meter
    document = {
        "key": key,
        "offsets": engine.recorder.offsets(),
        "engine": {"arrived": engine.arrived, "round_at": engine.round_at},
        "rounds": asdict(engine.rounds),
        "longWaits": engine.long_waits.due,
        "world": {name: getattr(world, name) for name in _WORLD},
        "ends": world.ends,
        "fates": [_written(fate) for fate in world.fates.values()],
        "held": world.held.document(),
        "holds": world.holds.document(),
        "lent": world.lent.document(),
        "usage": world.usage.document(),
        "runTimes": run_times_document(world.run_times),
        "alone": [idx for idx in world.fates if _alone(engine, idx)],
        "meter": {
            **{name: getattr(meter, name) for name in ("level", "now", "begins")},
            **{name: dict(getattr(meter, name)) for name in _SUMS},
        },
    }
    path = engine.recorder.folder / NAME
    beside = path.with_suffix(".new")
    with beside.open("w", encoding="utf-8") as file:
        json.dump(document, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


_SUMS = ("totals", "sums", "queues", "queue_sums", "queue_at")


def _written(fate: Fate) -> list[Any]:
    devices = {
        pod: [(place.device, place.start) for place in places]
        for pod, places in fate.devices.items()
    }
    return [*(getattr(fate, name) for name in _FIELDS), devices]


def _alone(engine: Engine, idx: int) -> bool:
    return idx in engine.world.line and engine.world.line.is_alone(idx)


def found(folder: Path, key: str) -> dict[str, Any] | None:
    """
    Read a checkpoint of the same replay; one of another is of no use.
    """
    try:
        text = (folder / NAME).read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return None
    return document if document.get("key") == key else None


def restore(engine: Engine, document: dict[str, Any]) -> None:
    """
    Put a fresh engine where the checkpoint was made.
    """
    world = engine.world
    engine.arrived = document["engine"]["arrived"]
    engine.round_at = document["engine"]["round_at"]
    engine.rounds = Rounds(**document["rounds"])
    engine.long_waits.due.update(document["longWaits"])
    for job in engine.jobs[: engine.arrived]:
        world.line.tally[job.priority] += 0  # whoever came once may be running
    alone = set(document["alone"])
    for values in document["fates"]:
        said = dict(zip(_FIELDS, values[:-1], strict=True))
        said["devices"] = {
            pod: tuple(GpuDevice(*place) for place in places)
            for pod, places in values[-1].items()
        }
        said["lent_by"] = tuple(said["lent_by"])
        fate = Fate(job=engine.jobs[said["idx"]], **said)
        _put_back(world, fate, alone=fate.idx in alone)
    for name in _WORLD:
        setattr(world, name, document["world"][name])
    world.held.restore(document["held"])
    world.holds.restore(document["holds"], held_on=True)
    world.lent.restore(document["lent"])
    world.usage.restore(document["usage"])
    specs = map(RunTimesSpec.model_validate, document["runTimes"])
    world.run_times = record_of(specs)
    world.ends = [(end[0], end[1], end[2]) for end in document["ends"]]
    heapify(world.ends)
    meter = world.meter
    said = document["meter"]
    meter.level, meter.now, meter.begins = said["level"], said["now"], said["begins"]
    for name in _SUMS:
        getattr(meter, name).update(said[name])


def _put_back(world: World, fate: Fate, *, alone: bool) -> None:
    """
    Take in a job as a checkpoint has it.
    """
    world.fates[fate.idx] = fate
    if fate.reserved:
        world.promised[fate.idx] = fate
    if not fate.places:
        world.line.join(fate.idx, alone=alone)
        return
    world.active[fate.job.name] = fate
    for pod, node in fate.places.items():
        requests, devices = fate.role_of(pod).requests, fate.devices.get(pod, ())
        world.ground.take(requests, world.ground.index[node], devices)
        world.books.take(fate.job.queue, requests)
    if world.rules.is_load(fate):
        world.merge(fate)
