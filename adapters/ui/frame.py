"""
A frame: all that the page shows of one round, as plain values with names by number.

Names come from whoever may submit a gang; they are spelled out here where they could
move a cursor, and the page writes them as text only.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.compare.outcome import certainty
from adapters.compare.tier_words import SCALES, shown, tier_name
from adapters.inventory.gangs import GangRow, RowsMemo, why_shown
from adapters.inventory.listed import Seen, Why
from adapters.ui.frame_queues import queues_of
from adapters.ui.gpu_cells import GpuCells, StaysMemo, cells_of, parts_of_others
from models.devices.gpu_counts import in_gpus, shares_asked
from models.errors import printable
from models.memory.aged_gangs import ages_of
from models.memory.kept import Kept
from models.nodes import HOSTNAME, Node
from models.plan import GangLine, Plan, TierResult
from models.resources import SHARES_PER_GPU
from models.topology import Topology
from models.why.reasons import NOTHING_NEEDED
from solver import RoundMemo

_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFacts:
    """
    Which round it is: its name, and when it was, in seconds since the epoch.
    """

    name: str
    began: float | None = None
    seconds: float | None = None


class FramesMemo:
    """
    What frames of one cluster share; it may be dropped at any time.
    """

    def __init__(self) -> None:
        self.rows = RowsMemo()
        self.stays = StaysMemo()
        self.gangs: Kept[GangRow, dict[str, Any]] = Kept(_gang)
        self.round = RoundMemo()


def frame_document(
    seen: Seen, plan: Plan | None, facts: RoundFacts, memo: FramesMemo | None = None
) -> dict[str, Any]:
    """
    Give a frame; without a plan it shows what is there, and what was said of it.
    """
    memo = memo or FramesMemo()
    rows = memo.rows.of(seen.snapshot)
    lines = {} if plan is None else {line.name: line for line in plan.gangs}
    nodes = _ordered(seen.snapshot.nodes, seen.snapshot.topologies)
    cells = cells_of(seen.snapshot, nodes, plan, memo.stays)
    queues = queues_of(seen, rows, cells, memo.round)
    places = {queue["name"]: at for at, queue in enumerate(queues)}
    queue_at = {x: places.get(printable(x), -1) for x in {row.queue for row in rows}}
    ages = ages_of(seen.snapshot.gangs)
    gangs = [
        {**gang, "queue": queue_at[row.queue], "age": age}
        for gang, row, age in zip(memo.gangs.of(rows), rows, ages, strict=True)
    ]
    for gang, row in zip(gangs, rows, strict=True):
        if row.key in lines or row.key in seen.whys:
            gang.update(_said(row, lines.get(row.key), seen.whys.get(row.key)))
    return {
        "name": printable(facts.name),
        "began": facts.began,
        "source": printable(seen.source),
        "groups": [printable(label) for label, _ in nodes.groups],
        "nodes": [_node(node, group) for group, node in nodes.walk()],
        "cells": cells.rows,
        "parts": cells.parts,
        "gangs": gangs,
        "queues": queues,
        "plan": None if plan is None else plan_facts(plan, cells, facts),
    }


def plan_facts(plan: Plan, cells: GpuCells, facts: RoundFacts) -> dict[str, Any]:
    """
    Give what is said of a plan as a whole.
    """
    seconds = facts.seconds
    if seconds is None:
        seconds = (plan.seconds or {}).get("total")
    states = [line.state for line in plan.gangs]
    return {
        "strategy": plan.strategy,
        "status": plan.status,
        "seconds": seconds,
        "starts": states.count("Starting"),
        "waits": states.count("Waiting") + states.count("Reserved"),
        "leaves": states.count("Evicting"),
        "gpus": cells.after,
        "tiers": [_tier(plan.tiers, tier) for tier in plan.tiers],
        "fallback": None if plan.fallback is None else plan.fallback.way,
    }


def _tier(every: Sequence[TierResult], tier: TierResult) -> dict[str, Any]:
    scale = SCALES.get(tier.name, 0)
    return {
        "name": tier_name(every, tier),
        "shown": shown(tier, tier.value),
        "bound": shown(tier, tier.bound),
        "certainty": certainty(tier),
        "value": tier.counted(tier.value) / (scale or 1),
        "limit": tier.counted(tier.bound) / (scale or 1),
    }


@dataclass(frozen=True, slots=True)
class OrderedNodes:
    """
    Nodes by the innermost domain that they are in, in the order people count.
    """

    groups: Sequence[tuple[str, Sequence[Node]]]

    def walk(self) -> Iterator[tuple[int, Node]]:
        """
        Walk the nodes with the number of their group.
        """
        for at, (_, nodes) in enumerate(self.groups):
            for node in nodes:
                yield at, node


def _ordered(nodes: Iterable[Node], topologies: Sequence[Topology]) -> OrderedNodes:
    levels = next((_inner(topology) for topology in topologies), ())
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(_label(node, levels), []).append(node)
    return OrderedNodes(
        [
            (label, sorted(groups[label], key=lambda node: natural(node.name)))
            for label in sorted(groups, key=natural)
        ]
    )


def _inner(topology: Topology) -> tuple[str, ...]:
    return tuple(level for level in topology.levels if level != HOSTNAME)


def _label(node: Node, levels: Sequence[str]) -> str:
    """
    Name the domain of a node; where there are none, the stem of its name.
    """
    path = [node.labels[level] for level in levels if level in node.labels]
    if path:
        return " / ".join(path)
    return re.sub(r"[-.]?\d+$", "", node.name) if not levels else "no domain"


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """
    Order texts as people count: a-2 before a-10.
    """
    parts = _NUMBER.split(text[:200])
    return tuple(
        (1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts
    )


def _node(node: Node, group: int) -> list[Any]:
    """
    Give name, group, GPUs, those of others' pods but parts, and whether it is closed.
    """
    return [
        printable(node.name),
        group,
        shares_asked(node.allocatable) // SHARES_PER_GPU,
        in_gpus(shares_asked(node.used) - sum(n for _, n in parts_of_others(node))),
        int(node.unschedulable),
    ]


def _gang(row: GangRow) -> dict[str, Any]:
    """
    Give what a gang is, and how much of it there is, where nobody says more of it.
    """
    return {
        "name": printable(row.key),
        "priority": row.priority,
        "pods": [row.pods.total(), row.minimum, row.total],
        "gpus": [row.gpus, row.used],
        "queue": -1,
        "age": row.seconds,
        **_said(row, None, None),
    }


def _said(row: GangRow, line: GangLine | None, why: Why | None) -> dict[str, Any]:
    """
    Give what is said of a gang: by the plan where there is one.
    """
    if line is not None:
        waiting = line.waiting
        reason = waiting.reason.value if waiting else ""
        state: str = line.state
        none = NOTHING_NEEDED if state == "Waiting" else ""
        message = waiting.message if waiting else none
    else:
        told = why_shown(row.gang, row.state, why)
        state, reason = row.state, told.reason if told else ""
        message = told.message if told else ""
    message = printable(message) if message else ""
    return {"state": state, "reason": reason, "message": message}
