"""
The frames of a record of rounds: what each did, and what it has seen bound by then.

A record holds no nodes.  What it has seen bound and not leave is shown where it is;
what ran before it began is not known, nor how many GPUs a node has beside the most
that were bound there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from adapters.compare.outcome import certainty
from adapters.compare.tier_words import SCALES, shown, tier_name
from adapters.observe.round_file import NoRecordError, steps_of, whole_rounds
from adapters.ui.frame import natural
from adapters.ui.frame_store import MOST_FRAMES, FrameStore
from models.devices.gpu_counts import in_gpus, shares_asked
from models.errors import printable
from models.plan import TierResult
from models.resources import SHARES_PER_GPU

_SIZES = (1, 2, 4, 8, 16)
_GONE = frozenset({"Evict", "Move"})


@dataclass(frozen=True, slots=True)
class SeenPod:
    """
    A pod that was bound: whose it is, where, and its GPUs, in 1/7000.
    """

    gang: str
    node: str
    shares: int


@dataclass(slots=True)
class SeenSoFar:
    """
    What a record has told: pods by name, queues of gangs, sizes of pods by role.
    """

    pods: dict[str, SeenPod] = field(default_factory=dict)
    queues: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    most: Counter[str] = field(default_factory=Counter)

    def take(self, record: Mapping[str, Any]) -> None:
        """
        Take in one more round.
        """
        gangs = record.get("gangs", {})
        for line in gangs.get("items", ()):
            self.queues[line["name"]] = line["queue"]
            roles = (line.get("asks") or {}).get("roles")
            if roles:
                self.sizes[line["name"]] = [
                    (role["name"], shares_asked(role["requests"])) for role in roles
                ]
        ended = set(gangs.get("ended", ()))
        if ended:
            kept = self.pods.items()
            self.pods = {name: pod for name, pod in kept if pod.gang not in ended}
        for step in steps_of(record):
            if step.get("result") != "done":
                continue
            if step["op"] in _GONE:
                self.pods.pop(step["pod"], None)
            elif step["op"] == "Bind":
                shares = self._shares(step["gang"], step["pod"])
                pod = SeenPod(step["gang"], step["node"], shares)
                self.pods[step["pod"]] = pod
        held: Counter[str] = Counter()
        for pod in self.pods.values():
            held[pod.node] += pod.shares
        self.most |= held

    def _shares(self, gang: str, pod: str) -> int:
        roles = self.sizes.get(gang, [])
        named = (shares for name, shares in roles if name and f"-{name}-" in pod)
        return next(named, roles[0][1] if roles else 0)


def record_store(path: Path) -> FrameStore:
    """
    Read a record of rounds, of many the newest.

    Raises
    ------
    NoRecordError
        When there is none, or it has no rounds.
    """
    store = FrameStore(str(path), live=False)
    if not (records := [*whole_rounds(path)]):
        raise NoRecordError(str(path), is_there=True)
    so_far = SeenSoFar()
    early = max(0, len(records) - MOST_FRAMES)
    for record in records[:early]:
        so_far.take(record)
    heads = list(_heads(records[early:], so_far))
    nodes = [(name, _size(so_far.most[name])) for name in _sorted(so_far.most)]
    for head, record, pods in heads:
        made = partial(_frame, head, record, pods, dict(so_far.queues), nodes)
        store.add_later(head, made)
    return store


def _heads(
    records: list[dict[str, Any]], so_far: SeenSoFar
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, SeenPod]]]:
    """
    Walk rounds with what each says as a whole, and what was there after it.
    """
    for record in islice(records, MOST_FRAMES):
        so_far.take(record)
        yield _head(record), record, dict(so_far.pods)


def _sorted(names: Mapping[str, int]) -> list[str]:
    return sorted(names, key=natural)


def _size(shares: int) -> int:
    most = -(-shares // SHARES_PER_GPU)
    return next((size for size in _SIZES if size >= most), most)


def _head(record: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give what is said of a round as a whole.
    """
    tiers = [TierResult(**tier) for tier in record.get("tiers", ())]
    states = record.get("gangs", {}).get("states", {})
    seconds = record.get("seconds", {}).get("round", {}).get("plan")
    began = record.get("began", "")
    return {
        "name": printable(f"{record.get('name', '')} {record.get('outcome', '')}"),
        "began": datetime.fromisoformat(began).timestamp() if began else None,
        "plan": {
            "strategy": record.get("strategy", "solver"),
            "status": record.get("status", record.get("outcome")),
            "seconds": seconds,
            "starts": states.get("Starting", 0),
            "waits": states.get("Waiting", 0) + states.get("Reserved", 0),
            "leaves": states.get("Evicting", 0),
            "gpus": None,
            "tiers": [_tier(tiers, tier) for tier in tiers if tier.value or tier.bound],
            "fallback": None,
        },
    }


def _tier(every: list[TierResult], tier: TierResult) -> dict[str, Any]:
    scale = SCALES.get(tier.name, 1)
    return {
        "name": tier_name(every, tier),
        "shown": shown(tier, tier.value),
        "bound": shown(tier, tier.bound),
        "certainty": certainty(tier),
        "value": tier.counted(tier.value) / scale,
        "limit": tier.counted(tier.bound) / scale,
    }


def _frame(
    head: Mapping[str, Any],
    record: Mapping[str, Any],
    pods: Mapping[str, SeenPod],
    queues: Mapping[str, str],
    nodes: list[tuple[str, int]],
) -> dict[str, Any]:
    """
    Give one round: what was bound by then, and who waits.
    """
    items = {line["name"]: line for line in record.get("gangs", {}).get("items", ())}
    names = sorted({pod.gang for pod in pods.values()} | items.keys())
    index = {name: at for at, name in enumerate(names)}
    known = sorted({queues.get(name, "") for name in names}, key=natural)
    used: Counter[tuple[str, str]] = Counter()
    held: Counter[str] = Counter()
    bound = {step["pod"] for step in steps_of(record) if step["op"] == "Bind"}
    cells: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    for name, pod in pods.items():
        how = "b" if name in bound else "r"
        cells[pod.node][index[pod.gang], how] += pod.shares
        used[queues.get(pod.gang, ""), how] += pod.shares
        held[pod.gang] += pod.shares
    rows = [
        sorted((gang, in_gpus(n), how) for (gang, how), n in cells[name].items())
        for name, _ in nodes
    ]
    return {
        **head,
        "plan": {**head["plan"], "gpus": in_gpus(sum(held.values()))},
        "source": "record",
        "groups": ["nodes that the record names"],
        "nodes": [[printable(name), 0, gpus, 0, 0] for name, gpus in nodes],
        "cells": rows,
        "gangs": [
            _gang(name, items.get(name), known.index(queues.get(name, "")), held[name])
            for name in names
        ],
        "queues": [_queue(name, used[name, "r"], used[name, "b"]) for name in known],
    }


def _queue(name: str, used: int, bound: int) -> dict[str, Any]:
    """
    Give a queue; a record keeps neither its place among others nor its bounds.
    """
    return {
        "name": printable(name),
        "parent": None,
        "open": True,
        "quota": None,
        "limit": None,
        "share": None,
        "used": in_gpus(used),
        "after": in_gpus(used + bound),
    }


def _gang(
    name: str, line: Mapping[str, Any] | None, queue: int, used: int
) -> dict[str, Any]:
    said = line or {"state": "Running", "pods": {"total": 0, "min": 0}}
    pods = said["pods"]
    return {
        "name": printable(name),
        "queue": queue,
        "state": said["state"],
        "priority": (said.get("asks") or {}).get("priority", 0),
        "age": (said.get("asks") or {}).get("age", 0),
        "pods": [pods["total"], pods["min"], pods["total"]],
        "gpus": [in_gpus(used)] * 2,
        "reason": said.get("reason") or "",
        "message": printable(said.get("message") or ""),
    }
