"""
Room: what every node offers and has left, as tables of nodes × resources.

Only ``NodeRoom`` adds to a row of such a table or takes from one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NewType

import numpy as np
from numpy.typing import NDArray

from models.census import Census
from models.gangs import Gang, pod_sets
from models.gpu_parts import is_part, is_reckoned, part_named
from models.node_table import NodeTable
from models.nodes import Node
from models.resources import CPU, GPU, GPU_SHARE
from solver.devices.device_states import DeviceStates, without_pods
from solver.devices.part_room import NewParts, PartRoom, part_room

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_MANY = 2**40

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
        return all(bool((self.rows[node] >= row).all()) for node, row in rows.items())

    def on_open_devices(self, request: Ints) -> Ints | None:
        """
        Count on each node the pods that open no idle GPU; none where they need no part.
        """
        return None if self._parts is None else self._parts.closed_places(request)

    def holds(self, nodes: Sequence[int]) -> bool:
        """
        Tell whether nothing was taken of some nodes that was not there.
        """
        least = np.minimum(0, self._before[nodes])
        return bool((self.rows[nodes] >= least).all())


def num_fitting(free: Ints, request: Ints) -> Ints:
    """
    Count for each node how many pods of one request fit.
    """
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.full(len(free), _MANY, dtype=np.int64)
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
    ``holes`` counts free GPUs, or whole free CPUs where no node has ``gpus``.
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
    parts: PartRoom | None = None

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
            later=After(np.minimum(self.later, after.rows)),
            now=Now(self._with_parts(np.minimum(self.idle, after.rows))),
        )

    def with_kept(self, idle: NodeRoom, later: NodeRoom) -> "Room":
        """
        Count the pods of reservations as there, now and later.
        """
        return replace(
            self,
            idle=Now(idle.rows),
            now=Now(self._with_parts(np.minimum(idle.rows, later.rows))),
            later=After(later.rows),
            after=After(later.rows.copy()),
        )

    def row(self, requests: dict[str, int]) -> Ints:
        """
        Write a request as a row over the columns.
        """
        return np.array([requests.get(r, 0) for r in self.resources], dtype=np.int64)


def room_of(
    table: NodeTable,
    waiting: Sequence[Gang],
    census: Census,
    *,
    moves: bool = False,
    devices: Sequence[DeviceStates] | None = None,
) -> Room:
    """
    Measure the room of nodes in the resources that waiting gangs ask for.

    With ``moves`` running pods may need a new place, too.  ``devices`` are those of
    each node of which somebody has a part, where there are any.
    """
    resources = _counted(_asked(waiting), census.names() if moves else set())
    resources += [GPU_SHARE] if table.has_parts else []
    holes_of = table.gpus or [CPU]
    columns = resources + [r for r in holes_of if r not in resources]
    empty, free = _free(table, census, columns, devices or ())
    later = free + _load(census.leaving, census, table.index, columns)
    holes = np.maximum(free[:, [columns.index(r) for r in holes_of]], 0).sum(axis=1)
    rooms = [rows[:, : len(resources)] for rows in (empty, free, later)]
    empty, free, later = map(np.ascontiguousarray, rooms)
    room = Room(
        nodes=table.nodes,
        index=table.index,
        resources=tuple(resources),
        empty=Empty(empty),
        now=Now(free),
        idle=Now(free.copy()),
        later=After(later),
        after=After(later.copy()),
        holes=holes if table.gpus else holes // 1000,
        gpus=bool(table.gpus),
    )
    return room if devices is None else _with_devices(room, devices)


def _with_devices(room: Room, devices: Sequence[DeviceStates]) -> Room:
    """
    Say in every table what nodes hold of each part that is asked for, if any is.
    """
    names, nodes = room.resources, room.nodes
    parts = sorted(part_named(name) for name in names if is_part(name))
    if not parts:
        return room
    found = part_room(parts, names, nodes, devices)
    nobody = part_room(parts, names, nodes, map(without_pods, nodes))
    return replace(
        room,
        empty=Empty(nobody.filled(room.empty)),
        now=Now(found.filled(room.now)),
        idle=Now(found.filled(room.idle)),
        later=After(found.filled(room.later)),
        after=After(found.filled(room.after)),
        parts=found,
    )


def _counted(asked: set[str], more: set[str]) -> list[str]:
    """
    List the resources that are counted on nodes; parts are those of GPUs.
    """
    parts = {name for name in asked if is_part(name)}
    plain = {name for name in asked | more if not is_reckoned(name)}
    return sorted(plain | ({*parts, GPU} if parts else set()))


def _free(
    table: NodeTable,
    census: Census,
    columns: list[str],
    devices: Sequence[DeviceStates],
) -> tuple[Ints, Ints]:
    """
    Measure what is free without any pod of ours, and as it is.
    """
    empty = np.zeros((len(table.nodes), len(columns)), dtype=np.int64)
    for at, name in enumerate(columns):
        empty[:, at] = table.column(name)
    free = empty - _load(census.loads, census, table.index, columns)
    for at, name in enumerate(columns):
        if name in census.resources:
            free[:, at] -= census.whole[:, census.resources.index(name)]
    if devices and GPU in columns:
        free[:, columns.index(GPU)] -= [states.opened for states in devices]
    if GPU_SHARE in columns:
        # Queues bound it, and no node does.
        empty[:, columns.index(GPU_SHARE)] = free[:, columns.index(GPU_SHARE)] = _MANY
    return empty, free


def _asked(waiting: Sequence[Gang]) -> set[str]:
    """
    Name the resources that waiting gangs ask for.
    """
    return {
        name
        for gang in waiting
        for leaf in pod_sets(gang.tree)
        for name, amount in leaf.requests.items()
        if amount > 0
    } | {name for gang in waiting for name in gang.min_resources}


def _load(
    loads: Sequence[tuple[str, int]],
    census: Census,
    index: dict[str, int],
    columns: list[str],
) -> Ints:
    """
    Add up the requests of our pods that occupy each node.
    """
    load = np.zeros((len(index), len(columns)), dtype=np.int64)
    held = [(index[name], kind) for name, kind in loads if name in index]
    if held:
        rows = [[kind.get(r, 0) for r in columns] for kind in census.kinds]
        where, which = np.array(held).T
        np.add.at(load, where, np.array(rows, dtype=np.int64)[which])
    return load
