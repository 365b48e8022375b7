"""
More nodes like one that is there.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from operator import and_

from models.changes.refused import ChangeRefusedError, unknown
from models.devices.gpu_parts import (
    TakenDevice,
    with_claimed_of_others,
    with_shares_of_others,
)
from models.neighbours import Neighbours
from models.nodes import HOSTNAME, Node
from models.resources import GPU, GPU_SHARE, Resources
from models.snapshot import Snapshot

MOST_ADDED = 100_000
_CONDITION = "node.kubernetes.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedNodes:
    """
    So many empty nodes ``like`` one: a node's name, or a class of nodes ``NAME-<n>``.

    They stand where it stands, in its domains, and bear of other work what all nodes
    of the class bear.
    """

    like: str
    number: int


def with_nodes(snapshot: Snapshot, change: AddedNodes) -> Snapshot:
    """
    Add nodes.

    Raises
    ------
    ChangeRefusedError
        When there is no such node, or they are too many.
    """
    if not 0 <= change.number <= MOST_ADDED:
        what = f"{change.number:,} nodes cannot be added"
        raise ChangeRefusedError("number", what, f"add 0 to {MOST_ADDED:,}")
    members = _members(snapshot.nodes, change.like)
    new = _new(snapshot.nodes, members, change)
    return replace(
        snapshot,
        nodes=tuple(sorted((*snapshot.nodes, *new), key=lambda node: node.name)),
    )


def _members(nodes: Iterable[Node], like: str) -> list[Node]:
    """
    Give the class of nodes with this name, the one to be copied first.

    Those of a node's name are that node and all that offer the same.
    """
    nodes = tuple(nodes)
    one = next((node for node in nodes if node.name == like), None)
    if one is not None:
        same = (n for n in nodes if n is not one and _offer(n) == _offer(one))
        return [one, *same]
    numbered = re.compile(rf"{re.escape(like)}-([0-9]{{1,9}})")
    found = [(m, node) for node in nodes if (m := numbered.fullmatch(node.name))]
    if not found:
        classes = (re.sub(r"-[0-9]{1,9}$", "", node.name) for node in nodes)
        raise unknown("node or class of nodes", like, {*classes})
    return [node for _, node in sorted(found, key=lambda each: int(each[0][1]))]


def _offer(node: Node) -> tuple[object, ...]:
    return dict(node.allocatable), node.gpu_memory, node.mig


def _new(
    nodes: Iterable[Node], members: list[Node], change: AddedNodes
) -> Iterator[Node]:
    one = members[0]
    used, taken, others = _borne_by_all(members)
    taints = tuple(t for t in one.taints if not t.key.startswith(_CONDITION))
    known = {node.name for node in nodes}
    free = (name for i in count() if (name := f"{change.like}-new-{i}") not in known)
    for _, name in zip(range(change.number), free, strict=False):
        yield replace(
            one,
            name=name,
            used=used,
            taken=taken,
            others=others,
            tied=(),
            labels={**one.labels, HOSTNAME: name},
            taints=taints,
            unschedulable=False,
        )


def _borne_by_all(
    members: list[Node],
) -> tuple[Resources, tuple[TakenDevice, ...], tuple[tuple[Neighbours, int], ...]]:
    """
    Give what every node of a class bears of others' work, as from a DaemonSet.

    That is a load, devices of which it is known, and pods that are neighbours.
    """
    taken = tuple(_taken_on_all(members))
    least = reduce(and_, map(_without_devices, members))
    used: Resources = least + Counter({GPU: len(taken)})
    if GPU_SHARE in members[0].allocatable:
        used = with_shares_of_others(used, taken, members[0].gpu_memory)
    others = reduce(and_, (Counter(dict(node.others)) for node in members))
    return dict(used), taken, tuple(others.items())


def _without_devices(node: Node) -> Counter[str]:
    """
    Give the load of a node without devices that are known to be taken.

    Nor does it hold what is free once pods of ours have left.
    """
    memory = node.gpu_memory
    used = Counter(with_claimed_of_others(node.used, node.taken, memory))
    used.subtract({GPU: len(node.taken)})
    for piece in node.tied:
        used.subtract(with_claimed_of_others(piece, (), memory))
    return +used


def _taken_on_all(members: list[Node]) -> Iterator[TakenDevice]:
    """
    Walk the devices that are taken on all nodes, with the least that others have of it.
    """
    rows = [{one.device: one for one in node.taken} for node in members]
    for number in sorted(set.intersection(*map(set, rows))):
        alike = [row[number] for row in rows]
        shared = [one for one in alike if one.contract] or alike
        cores, memory = (one.cores for one in shared), (one.memory for one in shared)
        yield replace(shared[0], cores=min(cores), memory=min(memory))
