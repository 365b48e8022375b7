"""
The room of nodes for parts of GPUs: how many pods with each part they would take.

A part has a column of its own in the tables of room, as every resource has; it says how
many pods with that part fit on the node's devices beside all that is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.devices.gpu_parts import GpuPart
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_columns import DeviceColumns, names_whole
from solver.devices.device_states import DeviceStates
from solver.devices.part_places import (
    Content,
    Ints,
    NodeDevices,
    PartPlaces,
    devices_for,
)
from solver.devices.tied_pieces import TiedPieces


class _Kinds:
    """
    The unlike devices of nodes, numbered, with what each of them holds.
    """

    def __init__(
        self, parts: tuple[GpuPart, ...], columns: DeviceColumns, times: int = 1
    ) -> None:
        self.parts = parts
        self._times = times
        self.columns = columns
        self._block = columns.block
        self.items: list[NodeDevices] = []
        self._index: dict[NodeDevices, int] = {}
        self._of_row: dict[tuple[int, bytes], tuple[int, int]] = {}
        self._places: dict[tuple[int, Content, int], PartPlaces] = {}
        self._on_open: dict[tuple[int, Content], tuple[list[int], list[int]]] = {}

    def of(self, sort: int, node: Node, row: Ints) -> tuple[int, int]:
        """
        Give the number of a node's devices, and how many of them somebody shares.
        """
        key = (sort, row[self._block].tobytes())
        found = self._of_row.get(key)
        if found is None:
            states = self.columns.states(row, node)
            devices = devices_for(self.parts, node, states, self._times)
            number = self._index.setdefault(devices, len(self._index))
            if number == len(self.items):
                self.items.append(devices)
            found = self._of_row[key] = number, states.opened
        return found

    def places(self, kind: int, content: Content, idle: int) -> PartPlaces:
        """
        Give what is left on such devices beside new pods.
        """
        key = (kind, content, idle)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = PartPlaces(self.items[kind], content, idle)
        return found

    def on_open(self, kind: int, content: Content) -> tuple[list[int], list[int]]:
        """
        Give the places on open devices, and what one more pod would leave of these.
        """
        key = (kind, content)
        found = self._on_open.get(key)
        if found is None:
            devices = self.items[kind]
            found = devices.on_open(content), devices.left_over(content)
            self._on_open[key] = found
        return found


@dataclass(frozen=True, slots=True)
class PartRoom:
    """
    How the columns of parts follow from what the devices of some nodes hold.

    ``sort_of`` is equal for nodes with equal devices on which nobody is, and equal
    pieces.
    """

    parts: tuple[GpuPart, ...]
    columns: tuple[int, ...]
    gpu: int
    devices: DeviceColumns
    tied: TiedPieces
    nodes: tuple[Node, ...]
    sort_of: Ints
    _kinds: _Kinds

    def of(self, nodes: Sequence[int]) -> "PartRoom":
        """
        See only some of the nodes.
        """
        return replace(
            self,
            nodes=tuple(self.nodes[at] for at in nodes),
            tied=self.tied.of(nodes),
            sort_of=self.sort_of[list(nodes)],
        )

    def kind(self, node: int, row: Ints) -> tuple[int, int]:
        """
        Give the number of a node's devices, and how many of them somebody shares.
        """
        return self._kinds.of(int(self.sort_of[node]), self.nodes[node], row)

    def kinds(self, rows: Ints, nodes: Sequence[int] | Ints) -> Ints:
        """
        Give the devices of some nodes, each with its row, their numbers.
        """
        return np.array(
            [
                self.kind(node, row)[0]
                for node, row in zip(np.asarray(nodes).tolist(), rows, strict=True)
            ],
            dtype=np.int64,
        )

    def devices_of(self, kind: int) -> NodeDevices:
        """
        Give the devices with a number.
        """
        return self._kinds.items[kind]

    def places(self, kind: int, content: Content, idle: int) -> PartPlaces:
        """
        Give what is left on devices beside new pods.
        """
        return self._kinds.places(kind, content, idle)

    def on_open(self, kind: int, content: Content) -> tuple[list[int], list[int]]:
        """
        Give the places on open devices, and what one more pod would leave of these.
        """
        return self._kinds.on_open(kind, content)

    def states(self, node: int, row: Ints) -> DeviceStates:
        """
        Read the devices of a node.
        """
        return self.devices.states(row, self.nodes[node])

    def filled(self, rows: Ints, nodes: Sequence[int] | None = None) -> Ints:
        """
        Write into a table of room what nodes hold of each part, with nothing new there.

        Without ``nodes`` it is a table of all of them.  Where more whole GPUs are used
        than there are, nothing more is held.
        """
        rows = rows.copy()
        if not self.columns:
            return rows
        sorts = self.sort_of if nodes is None else self.sort_of[list(nodes)]
        idle = np.maximum(rows[:, self.gpu], -1)
        keys = np.column_stack([sorts, idle, rows[:, self.devices.block]])
        _, first, which = np.unique(
            keys, axis=0, return_index=True, return_inverse=True
        )
        nothing = (0,) * len(self.parts)
        values = []
        for at in first.tolist():
            node = at if nodes is None else nodes[at]
            kind, _ = self.kind(node, rows[at])
            held = self.places(kind, nothing, max(0, int(idle[at])))
            values.append(held.all() if idle[at] >= 0 else nothing)
        table = np.array(values, dtype=np.int64).reshape(len(first), len(self.parts))
        rows[:, list(self.columns)] = table[which.reshape(-1)]
        return rows

    def untouched(self, rows: Ints) -> Ints:
        """
        Say in a table of what nodes offer that nobody has any of their devices.
        """
        nodes = [replace(node, taken=()) for node in self.nodes]
        rows[:, self.devices.block] = self.devices.empty(nodes)
        return self.filled(rows)

    def pieces(self, rows: Ints) -> Ints:
        """
        Give of some rows the columns of what is told apart on nodes.
        """
        return np.hstack([rows[:, self.devices.block], rows[:, self.tied.block]])

    @property
    def followed(self) -> set[int]:
        """
        The columns in which room is not what is left of a sum.
        """
        hidden = {self.gpu} if self.devices.number else set()
        for block in (self.devices.block, self.tied.block):
            hidden |= {*range(block.start, block.stop)}
        return hidden.union(self.columns, self.tied.columns)

    def often(self, times: int) -> "PartRoom":
        """
        See nodes as if so many of each of their idle devices were there.
        """
        return replace(self, _kinds=_Kinds(self.parts, self.devices, times))

    def left(self, node: int, before: Ints, rows: Ints) -> Ints:
        """
        Give rows of one node once somebody has left it, summed up, with parts followed.
        """
        at = np.full(len(rows), node)
        found = rows + self.tied.free(at, rows)
        found -= self.tied.free(np.array([node]), before[None])
        found[:, self.gpu] += self.devices.opened(before[None])
        found[:, self.gpu] -= self.devices.opened(rows)
        return self.filled(found, [node] * len(found))

    def both(self, first: Ints, later: Ints) -> Ints:
        """
        Give the room there is both first and later, nothing new in either.

        Idle GPUs on which somebody has a part later are not idle.  Where nobody knows
        which devices whole pods have, those who come later have what these leave first.
        Whoever leaves before the later one is tied to nothing any more.
        """
        most = first[:, self.gpu]
        free = np.array([node.mig is None for node in self.nodes])
        free &= ~names_whole(self.devices, first) & ~names_whole(self.devices, later)
        short = np.clip(most - later[:, self.gpu], 0, np.maximum(0, most))
        rows, opened = self.devices.both(first, later, np.where(free, short, most))
        idle = first[:, self.gpu] - opened
        rows[:, self.gpu] = np.minimum(idle, later[:, self.gpu])
        rows[:, self.tied.block] = later[:, self.tied.block]
        return self.filled(rows)


def part_room(
    parts: Sequence[GpuPart],
    resources: Sequence[str],
    nodes: tuple[Node, ...],
    columns: DeviceColumns,
    tied: TiedPieces,
) -> PartRoom:
    """
    See how columns of parts follow from those of devices, and others from pieces.
    """
    sorts: dict[object, int] = {}
    sort_of = []
    for node, held in zip(nodes, tied.held, strict=True):
        key: object = (node.gpu_memory, node.mig, node.allocatable.get(GPU, 0))
        key = (key, held.tobytes())
        sort_of.append(sorts.setdefault(key, len(sorts)))
    return PartRoom(
        parts=tuple(parts),
        columns=tuple(resources.index(part.resource) for part in parts),
        gpu=resources.index(GPU),
        devices=columns,
        tied=tied,
        nodes=nodes,
        sort_of=np.array(sort_of, dtype=np.int64),
        _kinds=_Kinds(tuple(parts), columns),
    )
