"""
What is left of the devices of a node, and what pods take of them.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from models.devices.gpu_parts import WHOLE
from models.devices.mig_profiles import MIG_MODELS, SLICES, Sliced, starts_for


class SharedBin(NamedTuple):
    """
    What is left of a shared device: thousandths of compute, and MiB.
    """

    cores: int
    memory: int

    def put(self, item: "DeviceShare") -> "SharedBin | None":
        """
        Give what is left with one more item; none where it does not fit.
        """
        cores, memory = self.cores - item.cores, self.memory - item.memory
        return SharedBin(cores, memory) if cores >= 0 and memory >= 0 else None

    def takes(self, item: "DeviceShare") -> int:
        """
        Count the equal items that fit.
        """
        most = [self.cores // item.cores] if item.cores else []
        most += [self.memory // item.memory] if item.memory else []
        return min(most)

    @property
    def room(self) -> tuple[int, ...]:
        """
        What no packing exceeds, as sums.
        """
        return self.cores, self.memory


class DeviceShare(NamedTuple):
    """
    What a pod takes of each of some devices.
    """

    cores: int
    memory: int

    @property
    def room(self) -> tuple[int, ...]:
        """
        What it takes of each sum.
        """
        return self.cores, self.memory


class SlicedBin(NamedTuple):
    """
    A device that is cut: what was taken of it before, and the new instances on it.
    """

    model: str
    taken: Sliced
    names: tuple[str, ...] = ()

    def put(self, item: "Instance") -> "SlicedBin | None":
        """
        Give the device with one more instance; none where it has no place for it.
        """
        names = tuple(sorted((*self.names, item.name)))
        if starts_for(self.model, self.taken, names) is None:
            return None
        return SlicedBin(self.model, self.taken, names)

    def takes(self, item: "Instance") -> int:
        """
        Count the equal instances that fit.
        """
        return _num_instances(self, item)

    @property
    def room(self) -> tuple[int, ...]:
        """
        The free slices.
        """
        own = sum(MIG_MODELS[self.model][name].size for name in self.names)
        return (SLICES - self.taken.mask.bit_count() - own,)


class Instance(NamedTuple):
    """
    One MIG instance, with the number of its slices.
    """

    name: str
    size: int

    @property
    def room(self) -> tuple[int, ...]:
        """
        The slices that it takes.
        """
        return (self.size,)


@lru_cache(maxsize=4096)
def _num_instances(device: SlicedBin, item: Instance) -> int:
    number = 0
    here: SlicedBin | None = device
    while here is not None and (here := here.put(item)) is not None:
        number += 1
    return number


Bin = SharedBin | SlicedBin
Item = DeviceShare | Instance


class Wanted(NamedTuple):
    """
    Some equal pods, each with an item on each of so many different devices.
    """

    item: Item
    devices: int
    number: int


def put(device: Bin, item: Item) -> Bin | None:
    """
    Give what is left of a device with one more item; none where it does not fit.
    """
    return device.put(item)  # type: ignore[arg-type]


def takes(device: Bin, item: Item) -> int:
    """
    Count the equal items that a device takes.
    """
    return device.takes(item)  # type: ignore[arg-type]


def fullest(devices: Sequence[Bin], item: Item, most: int) -> list[int]:
    """
    List the fullest devices that take an item, at most so many.
    """
    fitting = (at for at, device in enumerate(devices) if takes(device, item))
    return sorted(fitting, key=lambda at: (devices[at].room, at))[:most]


def fresh_share(memory: int) -> SharedBin:
    """
    Give an idle device.
    """
    return SharedBin(WHOLE, memory)
