"""
Filling a node: pods onto it by an order of shapes, devices included.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.devices.packing_items import Bin, fullest, put
from solver.devices.part_places import NodeDevices, PartItem
from solver.encode.devices.device_contents import class_devices
from solver.encode.node_classes import NodeClass
from solver.problem.problem import Problem

Pattern = tuple[tuple[int, int], ...]
"""
How many pods of which shapes lie on a node.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualNodes:
    """
    Nodes of a class of which all room is equal.

    ``asks`` says per shape that fits what a pod takes of the columns that count, of
    which ``gpu`` is that of whole GPUs; ``parts`` what it takes of their ``devices``.
    """

    nodes: tuple[int, ...]
    room: tuple[int, ...]
    asks: dict[int, tuple[tuple[int, int], ...]]
    parts: dict[int, PartItem]
    gpu: int
    devices: NodeDevices | None


def columns_of(problem: Problem, shapes: Sequence[int]) -> list[int]:
    """
    List what pods of some shapes take: GPUs for their parts, which follow from devices.
    """
    asked = {
        *np.flatnonzero(problem.shapes.requests[list(shapes)].any(axis=0)).tolist()
    }
    parts = problem.room.parts
    if parts is not None:
        asked = asked - {*parts.columns} | {parts.gpu}
    return sorted(asked)


def equal_nodes(
    problem: Problem, columns: Sequence[int], item: NodeClass
) -> list[EqualNodes]:
    """
    Part a class into nodes of which all room is equal.
    """
    requests = problem.shapes.requests[list(item.shapes)][:, columns].tolist()
    asks = {
        shape: tuple((at, number) for at, number in enumerate(row) if number)
        for shape, row in zip(item.shapes, requests, strict=True)
    }
    devices = item.devices or class_devices(problem, item.shapes, item.nodes[:1])
    pairs = zip(item.shapes, devices.items if devices else (), strict=False)
    parts = {shape: one for shape, one in pairs if one is not None}
    found: dict[tuple[int, ...], list[int]] = {}
    for node in item.nodes:
        left = problem.room.now[node, columns].clip(min=0).tolist()
        found.setdefault(tuple(left), []).append(node)
    gpu = columns.index(problem.room.parts.gpu) if problem.room.parts else -1
    kind = None if devices is None else devices.kind
    return [
        EqualNodes(
            nodes=(*nodes,), room=left, asks=asks, parts=parts, gpu=gpu, devices=kind
        )
        for left, nodes in found.items()
    ]


class FilledNode:
    """
    A node while pods come to it, with what its devices have left.
    """

    def __init__(self, equal: EqualNodes) -> None:
        self.equal = equal
        self.left = [*equal.room]
        self.pods: dict[int, int] = {}
        sorts = () if equal.devices is None else equal.devices.sorts
        self._bins: list[list[Bin]] = [[*sort.bins] for sort in sorts]

    def fill(self, order: Sequence[int], wanted: Sequence[int]) -> Pattern:
        """
        Put as many pods of each shape as fit, one shape after the other.
        """
        for shape in order:
            asks = self.equal.asks.get(shape)
            if asks is None or not wanted[shape]:
                continue
            most = min(self.left[at] // number for at, number in asks) if asks else 0
            most = min(most, wanted[shape])
            part = self.equal.parts.get(shape)
            if part is not None:
                most = self._put(part, most)
            if most:
                self.pods[shape] = self.pods.get(shape, 0) + most
                for at, number in asks:
                    self.left[at] -= number * most
        return tuple(sorted(self.pods.items()))

    def _put(self, part: PartItem, most: int) -> int:
        """
        Put parts onto the fullest devices that take them; say how many fit.
        """
        for number in range(most):
            for _ in range(part.times):
                if not self._put_one(part):
                    return number
        return most

    def _put_one(self, part: PartItem) -> bool:
        devices = self.equal.devices
        assert devices is not None
        sort, bins = devices.sorts[part.sort], self._bins[part.sort]
        chosen = fullest(bins, part.item, part.devices)
        opened = part.devices - len(chosen)
        if opened:
            had = len(bins) - len(sort.bins)
            if self.left[self.equal.gpu] < opened or had + opened > sort.most:
                return False
            chosen += range(len(bins), len(bins) + opened)
            bins += [sort.fresh] * opened
            self.left[self.equal.gpu] -= opened
        for at in chosen:
            more = put(bins[at], part.item)
            assert more is not None
            bins[at] = more
        return True


def holds(equal: EqualNodes, pattern: Pattern) -> bool:
    """
    Tell whether parts of a pattern lie on devices as these are packed everywhere else.
    """
    devices = equal.devices
    if devices is None:
        return True
    content, whole = [0] * len(devices.items), 0
    for shape, number in pattern:
        part = equal.parts.get(shape)
        if part is None:
            whole += number * dict(equal.asks[shape]).get(equal.gpu, 0)
        else:
            content[devices.items.index(part)] += number
    opened = devices.opened(tuple(content)) or ()
    most = all(a <= b.most for a, b in zip(opened, devices.sorts, strict=True))
    return most and sum(opened) + whole <= equal.room[equal.gpu]
