"""
The devices of a node as some parts need them: those that are open, and idle ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.devices.gpu_parts import GpuPart, num_devices
from models.devices.mig_profiles import MIG_MODELS, Sliced
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_columns import MIG
from solver.devices.device_packing import (
    NO_DEVICE,
    least_left,
    left_open,
    most_more,
    packed,
)
from solver.devices.device_states import DeviceStates
from solver.devices.packing_items import (
    Bin,
    DeviceShare,
    Instance,
    Item,
    SlicedBin,
    Wanted,
    fresh_share,
)

Ints = NDArray[np.int64]


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


class PartPlaces:
    """
    What is left beside new pods: ``idle`` GPUs, and places for each part once asked.

    Where the new pods do not fit there are -1 places for any part.
    """

    __slots__ = ("_content", "_devices", "_found", "_opened", "idle")

    def __init__(self, devices: "NodeDevices", content: Content, idle: int) -> None:
        opened = devices.opened(content)
        self.idle = -1 if opened is None else idle - sum(opened)
        self._devices = devices
        self._content = content
        self._opened = opened if devices.may_open(opened) and self.idle >= 0 else None
        self._found: dict[int, int] = {}

    def of(self, part: int) -> int:
        """
        Count the places of a part.
        """
        if self._opened is None:
            return -1
        found = self._found.get(part)
        if found is None:
            found = self._found[part] = self._devices.more(
                part, self._content, self._opened, self.idle
            )
        return found

    def all(self) -> list[int]:
        """
        Count the places of every part.
        """
        return [self.of(part) for part in range(len(self._devices.items))]


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

    def may_open(self, opened: Sequence[int] | None) -> bool:
        """
        Tell whether so many idle devices may be opened, by sort.
        """
        return opened is not None and all(
            number <= one.most for number, one in zip(opened, self.sorts, strict=True)
        )

    def on_open(self, content: Content) -> list[int]:
        """
        Give the places beside new pods that need no idle device; -1 for none at all.
        """
        opened = self.opened(content)
        return [
            -1 if opened is None else self.more(part, content, opened, 0)
            for part in range(len(self.items))
        ]

    def more(
        self, part: int, content: Content, opened: Sequence[int], idle: int
    ) -> int:
        """
        Count the pods that fit beside new ones if so many more idle devices are opened.
        """
        one = self.items[part]
        if one is None:
            return 0
        sort, wanted = self.sorts[one.sort], self.wanted(one.sort, content)
        allowed = min(opened[one.sort] + idle, sort.most)
        more = most_more(sort.bins, sort.fresh, wanted, one.item, one.devices, allowed)
        return more // one.times

    def left_over(self, content: Content) -> list[int]:
        """
        Give what one more pod with each part would leave of the fullest open device.
        """
        wanted = [self.wanted(at, content) for at in range(len(self.sorts))]
        left = [
            left_open(one.bins, one.fresh, asked)
            for one, asked in zip(self.sorts, wanted, strict=True)
        ]
        return [
            NO_DEVICE
            if one is None
            else least_left(left[one.sort], self.sorts[one.sort].fresh, one.item)
            for one in self.items
        ]


def devices_for(
    parts: Sequence[GpuPart], node: Node, states: DeviceStates, times: int = 1
) -> NodeDevices:
    """
    See the devices of a node as some parts need them, idle ones so many times.
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
            sorts.append(Sort(tuple(bins), fresh, times * len(states.cuttable)))
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
        devices = part.num_different
        items.append(PartItem(sort, item, devices, part.count // devices))
    of_use = tuple(_of_use(one, at, items) for at, one in enumerate(sorts))
    return NodeDevices(of_use, tuple(items))


def _of_use(sort: Sort, number: int, items: Sequence[PartItem | None]) -> Sort:
    """
    Leave out devices that hold none of what may be asked for.
    """
    own = [one.item for one in items if one is not None and one.sort == number]
    bins = tuple(
        device
        for device in sort.bins
        if any(device.put(item) is not None for item in own)  # type: ignore[arg-type]
    )
    return replace(sort, bins=bins)


def item_of(part: GpuPart, node: Node) -> Item | None:
    """
    Give what a part takes of a device of a node; none where no such device is there.

    Nor is it where a part of the memory is nothing, since nobody knows how much it is.
    """
    model = "" if node.mig is None else node.mig.model
    if not num_devices(node.allocatable.get(GPU, 0)):
        return None
    if not part.profile:
        if part.memory_on(node.gpu_memory) > node.gpu_memory:
            return None
        share = DeviceShare(part.cores, part.memory_on(node.gpu_memory))
        return share if any(share) else None
    profile = MIG_MODELS.get(model, {}).get(part.profile)
    return None if profile is None else Instance(part.profile, profile.size)
