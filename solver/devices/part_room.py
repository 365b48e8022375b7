"""
The room of nodes for parts of GPUs: how many pods with each part they would take.

A part has a column of its own in the tables of room, as every resource has; it says how
many pods with that part fit on the node's devices beside all that is there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.gpu_parts import GpuPart
from models.mig_profiles import MIG_MODELS, Sliced
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_packing import (
    Bin,
    DeviceShare,
    Instance,
    Item,
    SharedBin,
    SlicedBin,
    Wanted,
    fresh_share,
    most_more,
    packed,
)
from solver.devices.device_states import DeviceStates

Ints = NDArray[np.int64]
MIG = "mig"
Content = tuple[int, ...]
"""
How many pods with each part are new on a node.
"""


@dataclass(frozen=True, slots=True)
class Sort:
    """
    Devices of a node that may hold the same parts: those open already, and an idle one.

    At most ``most`` idle ones may be opened.
    """

    bins: tuple[Bin, ...]
    fresh: Bin
    most: int


@dataclass(frozen=True, slots=True)
class PartItem:
    """
    What a pod takes: of which sort of devices, an item on each of some different ones.

    A pod with several instances takes such an item so many ``times``.
    """

    sort: int
    item: Item
    devices: int = 1
    times: int = 1

    @staticmethod
    def of(sort: int, item: Item, part: GpuPart) -> "PartItem":
        """
        Say how a pod takes items: instances may share a device, parts may not.
        """
        if part.profile:
            return PartItem(sort, item, times=part.count)
        return PartItem(sort, item, devices=part.count)


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """
    What the devices of a node hold of each of some parts.

    ``sorts`` are its devices by contract; ``items`` says what a pod takes for each
    part, none where no device of the node could hold it.
    """

    sorts: tuple[Sort, ...]
    items: "tuple[PartItem | None, ...]"

    def wanted(self, sort: int, content: Content) -> tuple[Wanted, ...]:
        """
        List the new pods that lie on one sort of devices.
        """
        return tuple(
            Wanted(one.item, one.devices, number * one.times)
            for one, number in zip(self.items, content, strict=True)
            if one is not None and one.sort == sort and number > 0
        )

    def opened(self, content: Content) -> list[int] | None:
        """
        Count the idle devices that new pods open, by sort; none where they never fit.
        """
        lost = zip(self.items, content, strict=True)
        if any(one is None and number > 0 for one, number in lost):
            return None
        return [
            packed(one.bins, one.fresh, self.wanted(at, content)).opened
            for at, one in enumerate(self.sorts)
        ]

    def places(self, content: Content, idle: int) -> tuple[int, list[int], list[int]]:
        """
        Give what is left beside new pods: idle GPUs, and places for each part.

        The places are -1 where the new pods do not fit themselves.  The last are those
        that open no idle device.
        """
        opened = self.opened(content)
        if opened is None:
            none = [-1] * len(self.items)
            return -1, none, none
        rest = idle - sum(opened)
        fits = rest >= 0 and all(
            number <= one.most for number, one in zip(opened, self.sorts, strict=True)
        )
        found, closed = [], []
        for one in self.items:
            if not fits or one is None:
                found.append(-1 if not fits else 0)
                closed.append(0)
                continue
            at, sort = one.sort, self.sorts[one.sort]
            wanted = self.wanted(at, content)
            for allowed, row in (
                (min(opened[at] + rest, sort.most), found),
                (opened[at], closed),
            ):
                more = most_more(
                    sort.bins, sort.fresh, wanted, one.item, one.devices, allowed
                )
                row.append(more // one.times)
        return rest, found, closed


def devices_for(
    parts: Sequence[GpuPart], node: Node, states: DeviceStates
) -> NodeDevices:
    """
    See the devices of a node as some parts need them.
    """
    names = [MIG if part.profile else part.contract for part in parts]
    known = sorted(set(names))
    model = "" if node.mig is None else node.mig.model
    sorts = []
    for name in known:
        if name == MIG:
            cut = sorted(
                states.sliced.values(), key=lambda one: (one.mask, one.has_media)
            )
            bins: list[Bin] = [SlicedBin(model, taken) for taken in cut]
            fresh: Bin = SlicedBin(model, Sliced())
            sorts.append(Sort(tuple(bins), fresh, len(states.cuttable)))
            continue
        fresh = fresh_share(node.gpu_memory)
        left = [
            fresh._replace(cores=one.cores, memory=one.memory)
            for one in states.shared.values()
            if one.contract == name
        ]
        sorts.append(Sort(tuple(sorted(left)), fresh, 1 << 20))
    items: list[PartItem | None] = []
    for part, name in zip(parts, names, strict=True):
        item = item_of(part, node)
        sort = known.index(name)
        fits = item is not None and sorts[sort].fresh.put(item) is not None  # type: ignore[arg-type]
        if item is None or not fits:
            items.append(None)
            continue
        items.append(PartItem.of(sort, item, part))
    return NodeDevices(tuple(sorts), tuple(items))


def item_of(part: GpuPart, node: Node) -> Item | None:
    """
    Give what a part takes of a device of a node; none where no such device is there.
    """
    model = "" if node.mig is None else node.mig.model
    if not part.profile:
        if part.memory > node.gpu_memory:
            return None
        return DeviceShare(part.cores, part.memory_on(node.gpu_memory))
    profile = MIG_MODELS.get(model, {}).get(part.profile)
    return None if profile is None else Instance(part.profile, profile.size)


@dataclass(frozen=True, slots=True)
class PartRoom:
    """
    The devices of some nodes, with the columns of parts and whole GPUs in their room.
    """

    parts: tuple[GpuPart, ...]
    columns: tuple[int, ...]
    gpu: int
    kinds: tuple[NodeDevices, ...]
    kind_of: Ints
    _known: dict[tuple[int, Content, int], tuple[int, list[int], list[int]]] = field(
        default_factory=dict
    )

    def of(self, nodes: Sequence[int]) -> "PartRoom":
        """
        See only some of the nodes.
        """
        return PartRoom(
            self.parts,
            self.columns,
            self.gpu,
            self.kinds,
            self.kind_of[list(nodes)],
            self._known,
        )

    def places(
        self, node: int, content: Content, idle: int
    ) -> tuple[int, list[int], list[int]]:
        """
        Give what is left on a node beside new pods, by columns.
        """
        key = (int(self.kind_of[node]), content, idle)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.kinds[key[0]].places(content, idle)
        return found

    def open_shared(self, node: int, part: GpuPart) -> list[SharedBin]:
        """
        List the devices of a node that the contract of a part shares already.
        """
        kind = self.kinds[int(self.kind_of[node])]
        item = kind.items[self.parts.index(part)]
        bins = () if item is None else kind.sorts[item.sort].bins
        return [device for device in bins if isinstance(device, SharedBin)]

    def filled(self, rows: Ints) -> Ints:
        """
        Write into a table of room what nodes hold of each part, with nothing new there.
        """
        rows = rows.copy()
        idle = np.maximum(rows[:, self.gpu], 0)
        pairs, which = np.unique(
            np.column_stack([self.kind_of, idle]), axis=0, return_inverse=True
        )
        nothing = (0,) * len(self.parts)
        values = []
        for kind, free in pairs.tolist():
            key = (kind, nothing, free)
            if key not in self._known:
                self._known[key] = self.kinds[kind].places(nothing, free)
            values.append(self._known[key][1])
        table = np.array(values, dtype=np.int64).reshape(len(pairs), len(self.parts))
        rows[:, list(self.columns)] = table[which.reshape(-1)]
        return rows


class NewParts:
    """
    The parts that are new on nodes while pods are placed and taken back.
    """

    __slots__ = ("_closed", "_content", "_opened", "_room")

    def __init__(self, room: PartRoom) -> None:
        self._room = room
        self._content: dict[int, Content] = {}
        self._opened: dict[int, int] = {}
        self._closed: Ints | None = None

    def follow(self, rows: Ints, node: int, request: Ints, count: int) -> None:
        """
        Bring a node's columns up to date after pods were taken there or given back.

        What is given back and never was taken here lies on devices of others: they
        stay as they are.
        """
        room = self._room
        more = request[list(room.columns)] * count
        before = self._content.get(node, (0,) * len(room.parts))
        content = tuple(
            max(0, had + new) for had, new in zip(before, more.tolist(), strict=True)
        )
        idle = int(rows[node, room.gpu]) + self._opened.get(node, 0)
        rest, places, closed = room.places(node, content, max(0, idle))
        self._content[node] = content
        self._opened[node] = max(0, idle) - rest
        rows[node, room.gpu] = min(idle, rest) if idle < 0 else rest
        rows[node, list(room.columns)] = places
        if self._closed is not None:
            self._closed[node] = closed

    def closed_places(self, request: Ints) -> Ints | None:
        """
        Count on each node the pods of a request that open no idle device.
        """
        room = self._room
        asked = [at for at, column in enumerate(room.columns) if request[column]]
        if not asked:
            return None
        if self._closed is None:
            self._closed = np.zeros(
                (len(room.kind_of), len(room.parts)), dtype=np.int64
            )
            nothing = (0,) * len(room.parts)
            for node in range(len(room.kind_of)):
                content = self._content.get(node, nothing)
                opened = self._opened.get(node, 0)
                self._closed[node] = room.places(node, content, opened)[2]
        found: Ints = self._closed[:, asked[0]]
        return found


def part_room(
    parts: Sequence[GpuPart],
    resources: Sequence[str],
    nodes: Sequence[Node],
    states: Iterable[DeviceStates],
) -> PartRoom:
    """
    Gather the devices of all nodes, equal ones once.
    """
    index: dict[NodeDevices, int] = {}
    kinds: dict[object, int] = {}
    kind_of = []
    for node, state in zip(nodes, states, strict=True):
        model = "" if node.mig is None else node.mig.model
        key = (
            node.gpu_memory,
            model,
            tuple(state.shared.values()),
            tuple(state.sliced.values()),
            len(state.cuttable),
        )
        if key not in kinds:
            found = devices_for(parts, node, state)
            kinds[key] = index.setdefault(found, len(index))
        kind_of.append(kinds[key])
    return PartRoom(
        parts=tuple(parts),
        columns=tuple(resources.index(part.resource) for part in parts),
        gpu=resources.index(GPU),
        kinds=tuple(index),
        kind_of=np.array(kind_of, dtype=np.int64),
    )
