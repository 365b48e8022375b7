"""
What a person reads after a study: the frontier, what is enough, what is proven.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.cli.terminal.output import Table
from adapters.cli.views.replay_view import amount
from models.why.reasons import counted, does

Document = Mapping[str, Any]
_NAMES = {
    "wait.mean": "MEAN WAIT",
    "wait.p99": "P99 WAIT",
    "wait.bySize.8+.p99": "P99 WAIT 8+",
    "starved.over12h": "OVER 12 H",
    "gpus.used": "GPUS USED",
}
_WHERE_SOME_IS_LOST = {"fairness.jain": "FAIRNESS", "lost.gpuHours": "WORK LOST"}
_KINDS = {"CapacityStudy": "Capacity for", "PolicyStudy": "Policies for"}
_LABELS = {"quotas": "QUOTAS", "label": "POLICY", "strategy": "STRATEGY"}


def lines_of(document: Document) -> list[str]:
    """
    Lay out a study.
    """
    rows = document["frontier"]
    took = document["took"]
    replays = counted(document["replays"], "replay")
    each = f"{counted(document['seeds'], 'trace')} for each line"
    lines = [
        f"{_KINDS[document['kind']]} {document['trace']['name']} · {replays}, {each}"
    ]
    if took["replays"]:
        busy = f"busy {100 * took['busy']:.0f} % of the time"
        lines.append(
            f"{counted(took['replays'], 'replay')} played now in {took['wall']:.0f} s "
            f"by {counted(took['workers'], 'worker')}: {busy}"
        )
    axes = [axis for axis in _LABELS if len({row[axis] for row in rows}) > 1]
    target = document["target"]
    names = _NAMES | (_WHERE_SOME_IS_LOST if _loses(rows) else {})
    head = ["CLUSTER", "GPUS", *(_LABELS[axis] for axis in axes), *names.values()]
    head += ["BOUND OF MEAN", *(["TARGET"] if target else [])]
    table = []
    for row in rows:
        cells = [row["cluster"], f"{row['gpus']:,}"]
        cells += [row[axis] or "as given" for axis in axes]
        cells += [_cell(row["metrics"][path]) for path in names]
        cells.append(_bound(row["metrics"]["wait.mean"]))
        if target:
            cells.append(f"{row['target']['met']} of {row['target']['of']}")
        table.append(cells)
    right = frozenset({1, *range(2 + len(axes), len(head))})
    lines += ["", *Table(head, table, right).lines()]
    lines += ["", *_notes(document)]
    return lines


def _loses(rows: Sequence[Document]) -> bool:
    """
    Tell whether running work is stopped in any of the replays, by others or by itself.
    """
    return any(row["metrics"]["lost.gpuHours"]["mean"] for row in rows)


def _cell(entry: Mapping[str, Any]) -> str:
    """
    Write a mean, with its interval where there is one.
    """
    if entry["mean"] is None:
        return "–"
    shown = amount(entry["mean"], entry["unit"])
    if entry["low"] is None:
        return shown
    low, high = (amount(entry[end], entry["unit"]) for end in ("low", "high"))
    return f"{shown} [{low}, {high}]"


def _bound(entry: Mapping[str, Any]) -> str:
    return "–" if entry["bound"] is None else amount(entry["bound"], entry["unit"])


def _notes(document: Document) -> list[str]:
    lines = ["bound of mean: no schedule has a lower mean wait on so many GPUs, proven"]
    if _loses(document["frontier"]):
        lines.append(
            "fairness: of GPUs used over fair shares of queues (Jain); 1 is fair"
        )
        lines.append("work lost: by those who were stopped, and done again")
    if document["seeds"] >= 3:
        lines.append("[low, high]: 95 % interval of the mean over the traces")
    lines += _left_out(document["frontier"])
    target = document["target"]
    if target is None:
        return lines
    wanted = f"{target['label']} {target['sign']} "
    wanted += amount(target["value"], target["unit"])
    lines.append(f"target: {wanted}, in every trace")
    several = len({way["cluster"] for way in document["enough"]}) > 1
    for way in document["enough"]:
        words = (way["cluster"] if several else None, way["strategy"])
        name = " ".join(filter(None, (*words, way["quotas"], way["label"])))
        tried = f"tried {', '.join(map(str, way['tried']))} nodes"
        if way["enough"] is None:
            lines.append(f"{name}: not enough with any ({tried})")
        else:
            are = does(way["enough"], "node is", "nodes are")
            lines.append(f"{name}: {are} enough ({tried})")
        if way["never"] is not None:
            lines.append(f"  with {way['never']} no schedule keeps to it, proven")
    return lines


def _left_out(rows: Sequence[Document]) -> list[str]:
    """
    Say where jobs are left out, since they can never start.
    """
    left = {
        row["cluster"]: counted(row["leftOut"], "job") for row in rows if row["leftOut"]
    }
    said = ", ".join(f"{jobs} of {cluster}" for cluster, jobs in left.items())
    return [f"left out, since they can never start there: {said}"] if left else []
