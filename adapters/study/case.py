"""
Cases: one replay of a study, small enough to travel, and its result.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapters.machine.clock import monotonic, used
from adapters.replay.drawn_traces import poorly_drawn
from adapters.replay.estimates import Estimates
from adapters.replay.play import Run, bounds_for, play
from adapters.traces import floor_of, read_trace
from adapters.traces.clusters import with_queues
from adapters.traces.counted_parts import counting_parts
from adapters.traces.fitting import fitted
from models.policy import Policy
from models.trace import Trace
from solver import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    Everything that one replay depends on, as words and numbers.

    ``digest`` and ``cluster_digest`` are of the files, so that a changed file is
    another case; ``policy`` is the policy as a document, ``label`` what a person
    calls it.
    """

    trace: str
    digest: str
    form: str | None
    cluster: str
    cluster_digest: str
    quotas: str | None
    label: str
    policy: str
    strategy: str
    seed: int
    every: int
    evictions: bool
    estimates: Estimates
    until: int | None
    saves: int | None = None

    @property
    def key(self) -> str:
        """
        Hash the case; its result is kept under this name.
        """
        said = {**asdict(self), "version": VERSION, "trace": ""}
        text = json.dumps(said, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def played(case: Case) -> dict[str, Any]:
    """
    Play a case in a folder that is gone afterwards; give what was found.
    """
    begun, busy = monotonic(), used()
    trace, run = _run_of(case)
    with TemporaryDirectory(prefix="phalanx-study-") as folder:
        summary = play(run, Path(folder))
    return {
        "key": case.key,
        "case": asdict(case),
        "nodes": len(run.floor.nodes),
        "gpus": run.floor.gpus,
        "jobs": len(run.trace.jobs),
        "leftOut": dict(run.trace.left_out),
        "notes": _notes(trace, run),
        "metrics": summary["metrics"],
        "bounds": bounds_for(run, [summary["metrics"]]),
        "took": {
            "wall": round(monotonic() - begun, 3),
            "cpu": round(used() - busy, 3),
            "worker": os.getpid(),
        },
    }


def _run_of(case: Case) -> tuple[Trace, Run]:
    trace = _trace(case.trace, case.form, case.digest)
    floor = with_queues(trace, floor_of(case.cluster), case.quotas)
    counted, floor = counting_parts(trace, floor)
    run = Run(
        trace=fitted(counted, floor),
        floor=floor,
        policy=Policy.model_validate_json(case.policy),
        strategy=case.strategy,
        seed=case.seed,
        every=case.every,
        evictions=case.evictions,
        saves=case.saves,
        estimates=case.estimates,
        until=case.until,
    )
    return trace, run


def _notes(trace: Trace, run: Run) -> list[str]:
    poor = poorly_drawn(run.trace, run.seed + 1, run.block)
    parts = [f"composite workload: {part}" for part in trace.parts]
    return [*parts, *trace.notes, *run.floor.notes, *([poor] if poor else [])]


@lru_cache(maxsize=2)
def _trace(path: str, form: str | None, digest: str) -> Trace:
    """
    Read a trace once in each process.
    """
    del digest
    return read_trace(path, form)


def row_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """
    Flatten a result into one row of a table.
    """
    case = result["case"]
    known = ("cluster", "quotas", "label", "strategy", "seed", "every")
    row: dict[str, Any] = {name: case[name] for name in known}
    row |= {name: result[name] for name in ("key", "nodes", "gpus", "jobs")}
    _flatten("", result["metrics"], row)
    row |= {f"bound.{name}": value for name, value in result["bounds"].items()}
    return row


def _flatten(prefix: str, found: Mapping[str, Any], row: dict[str, Any]) -> None:
    for name, value in found.items():
        if isinstance(value, Mapping):
            _flatten(f"{prefix}{name}.", value, row)
        elif isinstance(value, list):
            for part in value:
                rest = {k: v for k, v in part.items() if k != "size"}
                _flatten(f"{prefix}{name}.{part['size']}.", rest, row)
        else:
            row[f"{prefix}{name}"] = value
