"""
Pod shapes: pods with the same requests and the same demands are one kind of item.

The pods of a gang with an ``exclusive`` leaf form shapes of their own, since what
one of them may share a node with depends on its gang.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from models.neighbours import ALONE, Neighbours
from models.nodes import Node, NodeDemand
from models.resources import Resources
from solver.problem.gang_state import Standing
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Bools, Ints, Room, fitting

if TYPE_CHECKING:
    from solver.problem.unit_kind import Kind

Row = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """
    One kind of pending pod; ``tag`` names its gang where hosts may not be shared.

    It may not be on ``banned`` nodes, whatever these have free: mates of its gang run
    there that share no host with it, or they are held for somebody else.
    """

    request: tuple[int, ...]
    demand: NodeDemand
    tag: str = ""
    exclusive: bool = False
    banned: tuple[int, ...] = ()
    neighbours: Neighbours = ALONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """
    All shapes, where each may be (``allowed``) and where one fits now (``fits``).

    ``kinds`` keeps the kind of each gang that was asked for, ``charges`` what queues
    count of each request.  Nobody fits where those around do not ``let`` it be.
    """

    items: tuple[Shape, ...]
    of_leaf: dict[tuple[str, int], int]
    requests: Ints
    allowed: Bools
    fits: Bools
    kinds: "dict[int, tuple[Standing, Kind]]" = field(default_factory=dict)
    charges: "dict[int, tuple[Resources, Row]]" = field(default_factory=dict)
    let: Bools | None = None

    @property
    def may_be(self) -> Bools:
        """
        Tell where each may be beside those around it, whatever room there is.
        """
        return self.allowed if self.let is None else self.allowed & self.let


def shapes_of(
    room: Room, states: Iterable[Standing], *, preferring: bool = False
) -> Shapes:
    """
    Collect the shapes of all pending pods, with what they prefer if that counts.
    """
    index: dict[Shape, int] = {}
    of_leaf: dict[tuple[str, int], int] = {}
    rows: dict[int, tuple[int, ...]] = {}
    for state in states:
        tagged = any(leaf.pod_set.exclusive for leaf in state.leaves)
        for at, leaf in enumerate(state.leaves):
            requests = leaf.pod_set.requests
            row = rows.get(id(requests))
            if row is None:
                row = tuple(requests.get(r, 0) for r in room.resources)
                rows[id(requests)] = row
            said = leaf.pod_set.neighbours
            shape = Shape(
                request=row,
                demand=leaf.pod_set.demand,
                tag=state.key if tagged else "",
                exclusive=leaf.pod_set.exclusive,
                banned=_banned(room, state, at) if tagged else (),
                neighbours=said if preferring else said.required(),
            )
            of_leaf[state.key, at] = index.setdefault(shape, len(index))
    items = tuple(index)
    table = np.array([s.request for s in items], dtype=np.int64)
    requests_of = table.reshape(len(items), len(room.resources))
    allowed = _allowed(room, items)
    shapes = Shapes(
        items=items,
        of_leaf=of_leaf,
        requests=requests_of,
        allowed=allowed,
        fits=allowed,
    )
    return refitted(shapes, room.now)


def kept_off(shapes: Shapes, bans: Mapping[tuple[str, int], tuple[int, ...]]) -> Shapes:
    """
    Ban leaves from some more nodes: those that could be there get shapes of their own.
    """
    rows = list(range(len(shapes.items)))
    items = list(shapes.items)
    of_leaf = dict(shapes.of_leaf)
    index: dict[tuple[int, tuple[int, ...]], int] = {}
    for leaf, nodes in bans.items():
        row = shapes.of_leaf[leaf]
        if (row, nodes) not in index:
            index[row, nodes] = row
            if shapes.allowed[row, list(nodes)].any():
                index[row, nodes] = len(rows)
                banned = tuple(sorted({*items[row].banned, *nodes}))
                items.append(replace(items[row], banned=banned))
                rows.append(row)
        of_leaf[leaf] = index[row, nodes]
    if len(rows) == len(shapes.items):
        return shapes
    free = np.ones((len(rows), shapes.allowed.shape[1]), dtype=bool)
    for at, item in enumerate(items):
        free[at, list(item.banned)] = False
    return Shapes(
        items=tuple(items),
        of_leaf=of_leaf,
        requests=shapes.requests[rows],
        allowed=shapes.allowed[rows] & free,
        fits=shapes.fits[rows] & free,
        let=None if shapes.let is None else shapes.let[rows],
    )


def where_neighbours_let(shapes: Shapes, around: PodsAround) -> Shapes:
    """
    Keep shapes off nodes where those that run let none of them be.
    """
    free = np.ones_like(shapes.allowed)
    for at, item in enumerate(shapes.items):
        if item.neighbours:
            free[at] = around.apart_from(item.neighbours)
            free[at] &= around.has_keys(item.neighbours)
            if item.neighbours.takes_volumes:
                free[at] &= around.volumes.may_be(item.neighbours)
    return replace(shapes, fits=shapes.fits & free, let=free)


def refitted(shapes: Shapes, now: Ints) -> Shapes:
    """
    Say anew which shapes fit where.
    """
    fits = np.zeros_like(shapes.fits)
    for at, request in enumerate(shapes.requests):
        fits[at] = shapes.allowed[at] & fitting(now, request)
    if shapes.let is not None:
        fits &= shapes.let
    return replace(shapes, fits=fits)


def _banned(room: Room, state: Standing, at: int) -> tuple[int, ...]:
    """
    List nodes where a running mate and this leaf may not share the host.
    """
    mine = state.leaves[at].pod_set.exclusive
    hosts = {
        room.index[pod.node]
        for leaf in state.leaves
        if mine or leaf.pod_set.exclusive
        for pod in leaf.running
        if pod.node in room.index
    }
    return tuple(sorted(hosts))


def _allowed(room: Room, items: tuple[Shape, ...]) -> Bools:
    demands = {shape.demand for shape in items}
    keys = sorted(
        {k for d in demands for k, _ in d.selector}
        | {rule.key for d in demands for rule in d.rules()}
    )
    kinds: dict[object, list[int]] = {}
    for at, node in enumerate(room.nodes):
        labels = tuple(node.labels.get(k) for k in keys)
        kinds.setdefault((labels, node.taints, node.unschedulable), []).append(at)
    allowed = np.zeros((len(items), len(room.nodes)), dtype=bool)
    by_demand: dict[NodeDemand, list[int]] = {}
    for at, shape in enumerate(items):
        by_demand.setdefault(shape.demand, []).append(at)
    for members in kinds.values():
        sample: Node = room.nodes[members[0]]
        rows = [i for d, found in by_demand.items() if d.allows(sample) for i in found]
        if rows:
            allowed[np.ix_(rows, members)] = True
    for at, shape in enumerate(items):
        if shape.banned:
            allowed[at, list(shape.banned)] = False
    return allowed
