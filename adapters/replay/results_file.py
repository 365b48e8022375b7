"""
Results: everything a comparison says, in one document, and its timings in another.
"""

import json
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from importlib.metadata import version
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from adapters.replay.estimates import said
from adapters.replay.measures.paired_measures import paired
from adapters.replay.measures.replay_measures import job_rows
from adapters.replay.play import Run, bounds_for
from models.devices.gpu_counts import in_gpus
from models.nodes import Node
from models.resources import GPU, GPU_SHARE, pieces_per_gpu
from models.trace import Floor, Trace
from solver import VERSION

NOT_MODELLED = (
    "speed: wherever its pods are and however many, a job runs as long as recorded",
    "pods obey at once: no time to bind, to pull images, to start or to leave",
    "nodes never fail and the cluster never grows or shrinks",
    "users do not react: nobody submits less because the line is long",
)
NO_EVICTIONS = "evictions: nobody has to leave in this replay"
MOST_LARGEST = 10


def results_of(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """
    Gather what all runs of a comparison found.
    """
    first = runs[0]
    strategies = list(dict.fromkeys(run.strategy for run in runs))
    seeds = sorted({run.seed for run in runs})
    summaries = {(r.strategy, r.seed): _summary(folder, r) for r in runs}
    metrics = {key: summary["metrics"] for key, summary in summaries.items()}
    bounds = {
        run.seed: bounds_for(run, [metrics[name, run.seed] for name in strategies])
        for run in runs
        if run.strategy == strategies[0]
    }
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Replay",
        "regime": "rounds" if first.every else "online",
        "trace": _trace(first.trace),
        "cluster": _cluster(first.floor, first.trace),
        "settings": _settings(first),
        "versions": _versions(),
        "seeds": seeds,
        "strategies": strategies,
        "baseline": strategies[0],
        "runs": [
            _run(run.strategy, run.seed, run.folder, metrics[run.strategy, run.seed])
            for run in runs
        ],
        "bounds": [bounds[seed] for seed in seeds],
        "paired": paired(
            metrics, bounds, strategies, seeds, cut=first.until is not None
        ),
        "largest": _largest(folder, strategies, seeds[0]),
        "notModelled": [*NOT_MODELLED, *([] if first.evictions else [NO_EVICTIONS])],
    }


def _run(
    strategy: str, seed: int, folder: str, metrics: Mapping[str, Any]
) -> dict[str, Any]:
    return {"strategy": strategy, "seed": seed, "folder": folder, "metrics": metrics}


def _versions() -> dict[str, str]:
    return {
        "phalanx": VERSION,
        "ortools": version("ortools"),
        "python": platform.python_version(),
    }


def write_results(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """
    Write both documents; give the first.
    """
    document = results_of(runs, folder)
    _write(folder / "results.json", document)
    _write(folder / "timings.json", _timings(runs, folder))
    return document


def _write(path: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _summary(folder: Path, run: Run) -> dict[str, Any]:
    path = folder / run.folder / "summary.json"
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def _trace(trace: Trace) -> dict[str, Any]:
    return {
        "name": trace.name,
        "form": trace.form,
        "sha256": trace.digest.removeprefix("sha256:"),
        "jobs": len(trace.jobs),
        "gpuHours": round(trace.gpu_seconds / 3600, 3),
        "span": trace.span,
        "begins": trace.begins,
        "composite": list(trace.parts),
        "notes": list(trace.notes),
        "repaired": dict(trace.repaired),
        "leftOut": dict(trace.left_out),
    }


def _by_name(nodes: Sequence[Node]) -> list[dict[str, int]]:
    """
    Give the GPUs of the nodes in the order of their names, equal neighbours as one.
    """
    ordered = sorted(nodes, key=lambda node: node.name)
    runs = groupby(node.allocatable.get(GPU, 0) for node in ordered)
    return [{"nodes": len([*each]), "gpus": gpus} for gpus, each in runs]


def _cluster(floor: Floor, trace: Trace) -> dict[str, Any]:
    classes: dict[tuple[int, str], int] = defaultdict(int)
    for node in floor.nodes:
        model = node.labels.get("gpu.model", "")
        classes[node.allocatable.get(GPU, 0), model] += 1
    room = floor.gpus * trace.span
    pieces = pieces_per_gpu(node.allocatable for node in floor.nodes)
    counted = GPU_SHARE if pieces > 1 else GPU
    return {
        "name": floor.name,
        "nodes": len(floor.nodes),
        "gpus": floor.gpus,
        "load": round(trace.gpu_seconds / room, 4) if room else None,
        "classes": [
            {"nodes": count, "gpus": gpus, "model": model or None}
            for (gpus, model), count in sorted(classes.items())
        ],
        "byName": _by_name(floor.nodes),
        "queues": [
            {
                "name": queue.name,
                "quota": _gpus_of(queue.rule(counted).quota, pieces),
                "limit": _gpus_of(queue.rule(counted).limit, pieces),
            }
            for queue in floor.queues
        ],
        "notes": list(floor.notes),
    }


def _gpus_of(amount: int | None, pieces: int) -> float | None:
    if amount is None or pieces == 1:
        return amount
    return in_gpus(amount)


def _settings(run: Run) -> dict[str, Any]:
    return {
        "every": run.every,
        "estimates": said(run.estimates),
        "evictions": run.evictions,
        "saves": run.saves,
        "bucket": run.bucket,
        "block": run.block,
        "until": "drained" if run.until is None else run.until,
        "policy": run.policy.model_dump(mode="json", by_alias=True),
    }


def _largest(
    folder: Path, strategies: Sequence[str], seed: int
) -> list[dict[str, Any]]:
    """
    List the jobs of which the waits differ most from the baseline's.
    """
    baseline, *others = strategies
    if not others:
        return []
    base = {row.job: row for row in job_rows(_folder(folder, baseline, seed))}
    found = []
    for strategy in others:
        rows = job_rows(_folder(folder, strategy, seed))
        pairs = ((row, base[row.job]) for row in rows if row.job in base)
        most = nlargest(
            MOST_LARGEST, pairs, key=lambda p: (abs(p[0].wait - p[1].wait), p[0].job)
        )
        found += [
            {
                "strategy": strategy,
                "job": row.job,
                "queue": row.queue,
                "gpus": row.gpus,
                "baselineWait": other.wait,
                "wait": row.wait,
                "baselineReason": other.reason or None,
                "reason": row.reason or None,
            }
            for row, other in most
            if row.wait != other.wait
        ]
    return found


def _folder(folder: Path, strategy: str, seed: int) -> Path:
    return folder / "runs" / strategy / f"seed-{seed}"


def _timings(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    return {
        "apiVersion": "phalanx/v1",
        "kind": "ReplayTimings",
        "runs": [
            {"strategy": run.strategy, "seed": run.seed, **_timed(folder / run.folder)}
            for run in runs
        ],
    }


_SIZES = ((1, 10), (11, 30), (31, 100), (101, 300), (301, 10**9))


def _timed(folder: Path) -> dict[str, Any]:
    lines = (folder / "timings.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    rows = [row for row in every if "decision" in row]
    decisions = [row["decision"] for row in rows]
    by_size = []
    for least, most in _SIZES:
        some = [row["decision"] for row in rows if least <= row["shown"] <= most]
        if some:
            name = f"{least}-{most}" if most < 10**9 else f"{least}+"
            by_size.append(
                {
                    "shown": name,
                    "rounds": len(some),
                    "median": _part(some, 50),
                    "p99": _part(some, 99),
                }
            )
    return {
        "seconds": {
            "total": _total(every),
            "decisions": round(sum(decisions), 3),
            "turns": round(sum(row["turn"] for row in rows), 3),
            "median": _part(decisions, 50),
            "p99": _part(decisions, 99),
            "max": _part(decisions, 100),
        },
        "bySize": by_size,
    }


def _total(rows: Sequence[Mapping[str, float]]) -> float | None:
    """
    Add up for how long each process played that had a part in a replay.
    """
    times = [row["elapsed"] for row in rows if "elapsed" in row]
    if not times:
        return None
    parts = (now for now, after in pairwise(times) if after < now)
    return round(sum(parts) + times[-1], 3)


def _part(values: Sequence[float], percent: int) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
