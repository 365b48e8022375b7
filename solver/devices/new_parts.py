"""
New parts: what follows for the columns of parts while pods come to nodes and leave.
"""

import numpy as np

from models.devices.gpu_parts import GpuPart
from solver.devices.part_places import Content, Ints, PartPlaces
from solver.devices.part_room import PartRoom


class NewParts:
    """
    The parts that are new on nodes while pods are placed and taken back.
    """

    __slots__ = ("_content", "_open", "_opened", "_room")

    def __init__(self, room: PartRoom) -> None:
        self._room = room
        self._content: dict[int, Content] = {}
        self._opened: dict[int, int] = {}
        self._open: Ints | None = None

    def follow(self, rows: Ints, node: int, request: Ints, count: int) -> None:
        """
        Bring a node's columns up to date after pods were taken there or given back.

        What is given back and never was taken here lies on devices of others: they
        stay as they are, unless the request names them.
        """
        room = self._room
        more = request[list(room.columns)] * count
        before = self._content.get(node, (0,) * len(room.parts))
        content = tuple(
            max(0, had + new) for had, new in zip(before, more.tolist(), strict=True)
        )
        kind, shared = room.kind(node, rows[node])
        if request[room.devices.block].any():
            had = rows[node] + request * count
            rows[node, room.gpu] += room.kind(node, had)[1] - shared
        if request[room.tied.block].any():
            at, had = np.array([node, node]), rows[node] + request * count
            before, after = room.tied.free(at, np.array([had, rows[node]]))
            rows[node] += after - before
        self._content[node] = content
        self._fill(rows, node, kind, content)

    def _fill(self, rows: Ints, node: int, kind: int, content: Content) -> None:
        room = self._room
        idle = int(rows[node, room.gpu]) + self._opened.get(node, 0)
        places = room.places(kind, content, max(0, idle))
        self._opened[node] = opened = max(0, idle) - places.idle
        rows[node, room.gpu] = idle - opened
        rows[node, list(room.columns)] = places.all()
        if self._open is not None:
            self._open[node] = room.on_open(kind, content)

    def after(
        self, rows: Ints, nodes: Ints, left: Ints, asked: Ints | None = None
    ) -> Ints:
        """
        Give rows of nodes once somebody has left them, summed up, with parts followed.

        Of the columns of parts only those that are ``asked`` are, where any are named.
        ``rows`` are all nodes as they are, ``left`` those of some ``nodes`` with what
        was given back.
        """
        left = self._room.tied.after(rows, nodes, left)
        own = [self._room.gpu, *range(*self._room.devices.block.indices(rows.shape[1]))]
        changed = np.flatnonzero((rows[nodes][:, own] != left[:, own]).any(axis=1))
        pairs = zip(nodes[changed].tolist(), left[changed], strict=True)
        once = [self._once_left(rows, node, row) for node, row in pairs]
        found = left.copy()
        if once:
            found[changed, self._room.gpu] = [idle for idle, _ in once]
            for part, column in enumerate(self._room.columns):
                if asked is None or column in asked:
                    found[changed, column] = [places.of(part) for _, places in once]
        return found

    def _once_left(self, rows: Ints, node: int, left: Ints) -> tuple[int, PartPlaces]:
        """
        Give the idle GPUs of a node and its places for parts, once somebody has left.
        """
        room = self._room
        kind, shared = room.kind(node, left)
        gone = room.kind(node, rows[node])[1] - shared
        idle = int(left[room.gpu]) + gone + self._opened.get(node, 0)
        content = self._content.get(node, (0,) * len(room.parts))
        places = room.places(kind, content, max(0, idle))
        return idle - (max(0, idle) - places.idle), places

    def on(self, node: int) -> tuple[tuple[GpuPart, ...], int]:
        """
        Give the parts that are new on a node, and the idle GPUs that they open.
        """
        content = self._content.get(node, ())
        numbers = zip(self._room.parts, content, strict=False)
        parts = tuple(part for part, number in numbers for _ in range(number))
        return parts, self._opened.get(node, 0)

    def hold(self, rows: Ints, before: Ints | None = None) -> bool:
        """
        Tell whether rows have nothing taken that was not there, devices included.
        """
        block = self._room.devices.block
        least = 0 if before is None else np.minimum(0, before)
        enough = rows >= least
        enough[:, block] = enough[:, self._room.tied.block] = True
        same = np.zeros(len(rows), dtype=bool)
        if before is not None:
            same = (rows[:, block] == before[:, block]).all(axis=1)
        return bool(enough.all()) and all(
            self._room.devices.holds(row) for row in rows[~same]
        )

    def on_open(self, rows: Ints, request: Ints) -> tuple[Ints, Ints] | None:
        """
        Count on each node the pods of a request that open no idle device.

        Beside it stands what one of them would leave of the fullest device it fits.
        """
        room = self._room
        asked = [at for at, column in enumerate(room.columns) if request[column]]
        if not asked:
            return None
        if self._open is None:
            self._open = np.zeros((len(rows), 2, len(room.parts)), dtype=np.int64)
            nothing = (0,) * len(room.parts)
            for node in range(len(rows)):
                content = self._content.get(node, nothing)
                kind, _ = room.kind(node, rows[node])
                self._open[node] = room.on_open(kind, content)
        return self._open[:, 0, asked[0]], self._open[:, 1, asked[0]]
