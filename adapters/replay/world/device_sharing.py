"""
The devices of nodes of which pods have parts, while pods come and go.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from models.devices.device_use import (
    NodeSort,
    OpenDevice,
    SharedDevice,
    holds,
    idle_devices,
    with_one,
)
from models.devices.gpu_models import PRODUCT
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart
from models.devices.mig_profiles import MIG_MODELS, Sliced, starts_for
from models.nodes import Node

Ints = NDArray[np.int64]
_Sharers = list[tuple[GpuPart, int]]


class SharedDevices:
    """
    Who has parts of which devices, and how many more of a part would fit.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._sorts = [_sort_of(node) for node in nodes]
        self._others = [_left_by_others(node) for node in nodes]
        self._ours: list[dict[int, _Sharers]] = [{} for _ in nodes]
        self._counts: dict[GpuPart, Ints] = {}
        self._stale: dict[GpuPart, set[int]] = {}

    def touch(self, node: int) -> None:
        """
        Note that the idle devices of a node changed.
        """
        for stale in self._stale.values():
            stale.add(node)

    def put(self, part: GpuPart, node: int, places: Sequence[GpuDevice]) -> int:
        """
        Let a pod have a part of some devices; count those that were idle before.
        """
        ours, idle = self._ours[node], 0
        for place in places:
            idle += place.device not in ours and place.device not in self._others[node]
            ours.setdefault(place.device, []).append((part, place.start))
        return idle

    def drop(self, part: GpuPart, node: int, places: Sequence[GpuDevice]) -> int:
        """
        Let a pod leave its devices; count those that are idle then.
        """
        ours, idle = self._ours[node], 0
        for place in places:
            ours[place.device].remove((part, place.start))
            if not ours[place.device]:
                del ours[place.device]
                idle += place.device not in self._others[node]
        return idle

    def fitting(self, part: GpuPart, idle: Ints) -> Ints:
        """
        Count how often a part fits on each node, where so many devices are idle.
        """
        if part not in self._counts:
            self._counts[part] = np.zeros(len(self._sorts), dtype=np.int64)
            self._stale[part] = set(range(len(self._sorts)))
        counts, stale = self._counts[part], self._stale[part]
        for node in stale:
            counts[node] = self._count(part, node, int(idle[node]), self._open(node))
        stale.clear()
        return counts

    def fitting_alone(self, part: GpuPart, idle: Ints) -> Ints:
        """
        Count how often a part would fit if none of our pods were there.
        """
        counts = [
            self._count(part, node, number, [*self._others[node].values()])
            for node, number in enumerate(idle.tolist())
        ]
        return np.array(counts, dtype=np.int64)

    def _open(self, node: int) -> list[OpenDevice]:
        """
        Say what is left of each device of a node of which somebody has a part.
        """
        now: dict[int, OpenDevice] = dict(self._others[node])
        for device, sharers in self._ours[node].items():
            for part, start in sharers:
                before = now.get(device)
                now[device] = with_one(before, part, start, self._sorts[node])
        return [*now.values()]

    def _count(
        self, part: GpuPart, node: int, idle: int, shared: Sequence[OpenDevice]
    ) -> int:
        """
        Count the pods that fit, each with its part of so many devices.

        So many fit, if each device is counted no more often than there are pods.
        """
        sort = self._sorts[node]
        each = [n for n in (_room(device, part, sort) for device in shared) if n]
        cut = sum(isinstance(device, Sliced) for device in shared)
        fresh = idle_devices(part, sort, max(0, idle), cut)
        each += [_room(None, part, sort)] * fresh
        most = sum(each) // part.count
        if part.profile or part.count == 1:
            return most
        while most and sum(min(n, most) for n in each) < most * part.count:
            most -= 1
        return most


@cache
def _room(device: OpenDevice | None, part: GpuPart, sort: NodeSort) -> int:
    """
    Count how often one device of a part fits on a device, an idle one if none is given.
    """
    if part.profile:
        taken = device if isinstance(device, Sliced) else Sliced()
        if isinstance(device, SharedDevice) or part.profile not in MIG_MODELS.get(
            sort.model, {}
        ):
            return 0
        number = 0
        while starts_for(sort.model, taken, (part.profile,) * (number + 1)) is not None:
            number += 1
        return number
    if device is None:
        device = SharedDevice(part.contract, WHOLE, sort.memory)
    number = 0
    while number < WHOLE and holds(device, part, sort):
        device = with_one(device, part, -1, sort)
        number += 1
    return number


def _sort_of(node: Node) -> NodeSort:
    model = node.mig.model if node.mig else node.gpu_model or node.labels.get(PRODUCT)
    cuttable = len(node.mig.devices) if node.mig else 0
    return NodeSort((), node.gpu_memory, model or "", cuttable)


def _left_by_others(node: Node) -> dict[int, OpenDevice]:
    return {
        one.device: SharedDevice(
            one.contract, WHOLE - one.cores, node.gpu_memory - one.memory
        )
        for one in node.taken
        if one.contract
    }
