"""
Room: what every node offers and has left, as tables of nodes × resources.

Only ``NodeRoom`` adds to a row of such a table or takes from one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NewType

import numpy as np
from numpy.typing import NDArray

from models.devices.gpu_parts import (
    GpuDevice,
    GpuPart,
    part_of,
)
from models.nodes import Node
from models.resources import GPU_SHARE, Resources
from solver.devices.device_fragments import Fragments
from solver.devices.new_parts import NewParts
from solver.devices.part_room import PartRoom

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MANY = 2**40

Empty = NewType("Empty", np.ndarray[tuple[int, ...], np.dtype[np.int64]])
"""
What is free without any pod of ours.
"""
Now = NewType("Now", np.ndarray[tuple[int, ...], np.dtype[np.int64]])
"""
What is free as it is.
"""
After = NewType("After", np.ndarray[tuple[int, ...], np.dtype[np.int64]])
"""
What is free once those have left who do, or who may.
"""


class NodeRoom:
    """
    What is free on some nodes while pods start there and leave: ``rows``, to be read.

    ``touched`` lists the nodes of which a row changed, in the order of the changes.
    With ``parts`` the columns of parts follow what lies on devices.
    """

    __slots__ = ("_before", "_parts", "rows", "touched")

    def __init__(self, rows: Ints, parts: PartRoom | None = None) -> None:
        self._before = rows
        self._parts = None if parts is None else NewParts(parts)
        self.rows: Ints = rows.copy()
        self.touched: list[int] = []

    @property
    def has_devices(self) -> bool:
        """
        Whether rows say what devices have left.
        """
        return self._parts is not None

    def take(self, request: Ints, nodes: Ints, counts: Ints) -> None:
        """
        Take room for so many pods on each of some nodes, none of them named twice.
        """
        if self._parts is not None:
            for node, count in zip(nodes.tolist(), counts.tolist(), strict=True):
                self.take_one(request, node, count)
            return
        self.rows[nodes] -= counts[:, None] * request
        self.touched.extend(nodes.tolist())

    def give(self, request: Ints, nodes: Ints, counts: Ints) -> None:
        """
        Give the room of so many pods on each of some nodes back.
        """
        self.take(request, nodes, -counts)

    def take_one(self, request: Ints, node: int, count: int = 1) -> None:
        """
        Take room for pods on one node.
        """
        self.rows[node] -= request if count == 1 else request * count
        if self._parts is not None:
            self._parts.follow(self.rows, node, request, count)
        self.touched.append(node)

    def give_one(self, request: Ints, node: int, count: int = 1) -> None:
        """
        Give the room of pods on one node back.
        """
        self.take_one(request, node, -count)

    def give_each(self, requests: Ints, nodes: Ints) -> None:
        """
        Give back what each of some pods holds on its node.
        """
        if self._parts is not None:
            for node, request in zip(nodes.tolist(), requests, strict=True):
                self.give_one(request, node)
            return
        np.add.at(self.rows, nodes, requests)
        self.touched.extend(nodes.tolist())

    def places(self, request: Ints) -> Ints:
        """
        Count on each node how many pods of a request fit.
        """
        return num_fitting(self.rows, request)

    def has(self, rows: Mapping[int, Ints]) -> bool:
        """
        Tell whether so much of some nodes is free.
        """
        if self._parts is not None:
            nodes = np.array([*rows], dtype=np.int64)
            left = np.array([self.rows[node] - row for node, row in rows.items()])
            return self._parts.hold(self.after_leaving(nodes, left))
        return all(bool((self.rows[node] >= row).all()) for node, row in rows.items())

    def after_leaving(self, nodes: Ints, rows: Ints, asked: Ints | None = None) -> Ints:
        """
        Give rows, each of a node that somebody has left or joined, with their parts.

        Of the columns those that are ``asked``, in this order; all without.
        """
        if self._parts is not None and len(nodes):
            rows = self._parts.after(self.rows, nodes, rows, asked)
        return rows if asked is None else rows[:, asked]

    def on_open_devices(self, request: Ints, places: Ints) -> Ints | None:
        """
        Give those of some places that open no idle GPU, on the fullest devices only.
        """
        found = self._parts and self._parts.on_open(self.rows, request)
        if not found:
            return None
        open_ = np.minimum(found[0], places)
        if not (open_ > 0).any():
            return None
        left = np.where(open_ > 0, found[1], MANY)
        return np.where(left == left.min(), open_, 0)

    def take_lots(self, lots: Iterable[tuple[Ints, Ints, Ints]]) -> None:
        """
        Take room for pods of several requests, as ``take`` does for one.
        """
        if self._parts is None:
            for lot in lots:
                self.take(*lot)
            return
        held: dict[int, Ints] = {}
        for request, nodes, counts in lots:
            for node, count in zip(nodes.tolist(), counts.tolist(), strict=True):
                held[node] = held.get(node, 0) + request * count
        for node, row in held.items():
            self.take_one(row, node)

    def new_parts(self, node: int) -> tuple[tuple[GpuPart, ...], int]:
        """
        Give the parts that are new on a node, and the idle GPUs that they open.
        """
        return ((), 0) if self._parts is None else self._parts.on(node)

    def holds(self, nodes: Sequence[int]) -> bool:
        """
        Tell whether nothing was taken of some nodes that was not there.
        """
        before, rows = self._before[nodes], self.rows[nodes]
        if self._parts is not None:
            return self._parts.hold(rows, before)
        return bool((rows >= np.minimum(0, before)).all())


def num_fitting(free: Ints, request: Ints) -> Ints:
    """
    Count for each node how many pods of one request fit.
    """
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.full(len(free), MANY, dtype=np.int64)
    counts = (np.maximum(free[:, asked], 0) // request[asked]).min(axis=1)
    return np.asarray(counts)


def fitting(free: Ints, request: Ints) -> Bools:
    """
    Tell for each node whether one pod fits; asking for none always fits.
    """
    asked = np.flatnonzero(request)
    return np.asarray((free[:, asked] >= request[asked]).all(axis=1))


@dataclass(frozen=True, slots=True)
class Places:
    """
    Where new pods of a gang lie: per leaf the nodes, one for each pod.
    """

    of_leaf: tuple[tuple[int, ...], ...]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """
        Walk the leaves.
        """
        return iter(self.of_leaf)

    def __getitem__(self, leaf: int) -> tuple[int, ...]:
        """
        Give the nodes of one leaf.
        """
        return self.of_leaf[leaf]

    @property
    def counts(self) -> dict[int, int]:
        """
        Count the pods of each leaf.
        """
        return {leaf: len(nodes) for leaf, nodes in enumerate(self.of_leaf)}

    @property
    def nodes(self) -> set[int]:
        """
        Name the nodes that get any pod.
        """
        return {node for nodes in self.of_leaf for node in nodes}


NO_PLACES = Places(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """
    The tables of a round: what is free ``now``, on ``empty`` nodes, ``after`` others.

    ``after`` counts all who leave as gone and all reserved pods as there; ``now`` is
    never more, and is what was ``idle`` at first.  ``later`` is the room of starts for
    which others leave: what evictions left over is not theirs.  Only resources that a
    pending pod asks for, or one that may be moved, have a column.
    ``holes`` counts free GPUs, or whole free CPUs where no node has ``gpus``; GPUs with
    their parts count in ``pieces`` of one.
    """

    nodes: tuple[Node, ...]
    index: dict[str, int]
    resources: tuple[str, ...]
    empty: Empty
    now: Now
    idle: Now
    later: After
    after: After
    holes: Ints
    gpus: bool
    pieces: int
    parts: PartRoom | None = None
    fragments: Fragments | None = None

    @property
    def sums(self) -> list[int]:
        """
        The columns in which room is what is left of a sum.

        It is not of GPUs that have parts, and of pieces that pods are tied to.
        """
        if self.parts is None:
            return [*range(len(self.resources))]
        followed = self.parts.followed | {self.resources.index(GPU_SHARE)}
        return sorted({*range(len(self.resources))} - followed)

    def parts_of(self, nodes: Sequence[int]) -> PartRoom | None:
        """
        See the devices of some nodes only.
        """
        return None if self.parts is None else self.parts.of(nodes)

    def _with_parts(self, rows: Ints) -> Ints:
        """
        Say in a table what nodes hold of parts.
        """
        return rows if self.parts is None else self.parts.filled(rows)

    def both(self, first: Ints, later: Ints) -> Ints:
        """
        Give the room there is both first and later.
        """
        if self.parts is None:
            return np.minimum(first, later)
        return self.parts.both(first, later)

    def seen(self, now: Ints, later: Ints | None = None) -> "Room":
        """
        See another table as what is free now, and one as what starts may have later.
        """
        rows = self.later if later is None else After(self._with_parts(later))
        return replace(self, now=Now(self._with_parts(now)), later=rows)

    def with_exits(self, after: NodeRoom) -> "Room":
        """
        Count more pods as leaving and as reserved; what is left over is nobody's.
        """
        return replace(
            self,
            after=After(after.rows),
            later=After(self.both(self.later, after.rows)),
            now=Now(self.both(self.idle, after.rows)),
        )

    def with_kept(self, idle: NodeRoom, later: NodeRoom) -> "Room":
        """
        Count the pods of reservations as there, now and later.
        """
        return replace(
            self,
            idle=Now(idle.rows),
            now=Now(self.both(idle.rows, later.rows)),
            later=After(later.rows),
            after=After(later.rows.copy()),
        )

    def row(self, requests: dict[str, int]) -> Ints:
        """
        Write a request as a row over the columns.
        """
        return np.array([requests.get(r, 0) for r in self.resources], dtype=np.int64)

    def held(
        self,
        requests: Resources,
        devices: tuple[GpuDevice, ...],
        node: int,
        tied: Sequence[int] = (),
    ) -> Ints:
        """
        Write what a pod holds on its node as a row: its devices in place of its part.
        """
        row = self.row(dict(requests))
        if self.parts is not None and node >= 0:
            part = part_of(requests)
            row[list(self.parts.columns)] = 0
            self.parts.devices.hold(row, self.nodes[node], part, devices)
            self.parts.tied.hold(row, tied)
        return row
