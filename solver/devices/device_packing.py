"""
Packing parts onto the devices of one node, so that the fewest idle ones are opened.

Parts that are new in this round may be dealt anew until the plan is made, so what fits
depends on what is there, never on the order in which it came.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from models.gpu_parts import WHOLE
from models.mig_profiles import MIG_MODELS, Sliced, starts_for

_MOST_TRIES = 2_000
"""
How many places are tried before a packing by fit is taken as it is.
"""
SLICES = 8


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


Places = tuple[tuple[int, ...], ...]
"""
The devices of each pod.
"""


class Packed(NamedTuple):
    """
    How many idle devices are opened, and where each pod's items lie.

    Devices are numbered as they were given, those that are opened after them; pods are
    in the order in which they were wanted.
    """

    opened: int
    places: Places


@lru_cache(maxsize=1 << 17)
def packed(bins: tuple[Bin, ...], fresh: Bin, wanted: tuple[Wanted, ...]) -> Packed:
    """
    Pack pods onto devices, the fullest that takes each first, and search if need be.
    """
    pods = [(one.item, one.devices) for one in wanted for _ in range(one.number)]
    order = sorted(range(len(pods)), key=lambda at: (_size(fresh, *pods[at]), at))
    found = _by_fit(bins, fresh, [pods[at] for at in order])
    least = _least_opened(bins, fresh, wanted)
    for opened in range(least, found.opened):
        search = _PackingSearch([pods[at] for at in order])
        places = search.run((*bins, *([fresh] * opened)))
        if places is not None:
            found = Packed(opened, places)
            break
    places_of = dict(zip(order, found.places, strict=True))
    return Packed(found.opened, tuple(places_of[at] for at in range(len(pods))))


def _size(fresh: Bin, item: Item, devices: int) -> tuple[float, int]:
    """
    Sort the largest items first, of equal ones those on most devices.
    """
    whole = fresh.room
    shares = [
        amount / max(1, all_) for amount, all_ in zip(item.room, whole, strict=True)
    ]
    return -max(shares), -devices


def _by_fit(
    bins: Sequence[Bin], fresh: Bin, pods: Sequence[tuple[Item, int]]
) -> Packed:
    left = list(bins)
    places = []
    for item, devices in pods:
        fitting = [
            (device.room, at, more)
            for at, device in enumerate(left)
            if (more := _put(device, item)) is not None
        ]
        fitting.sort(key=lambda each: each[:2])
        chosen = [(at, more) for _, at, more in fitting[:devices]]
        while len(chosen) < devices:
            opened = _put(fresh, item)
            assert opened is not None
            left.append(fresh)
            chosen.append((len(left) - 1, opened))
        for at, more in chosen:
            left[at] = more
        places.append(tuple(sorted(at for at, _ in chosen)))
    return Packed(len(left) - len(bins), tuple(places))


def _put(device: Bin, item: Item) -> Bin | None:
    return device.put(item)  # type: ignore[arg-type]


def _takes(device: Bin, item: Item) -> int:
    return device.takes(item)  # type: ignore[arg-type]


def _least_opened(bins: Sequence[Bin], fresh: Bin, wanted: Sequence[Wanted]) -> int:
    """
    Give the idle devices that are opened at least, by sums.
    """
    least = max((one.devices for one in wanted), default=0) - len(bins)
    for at, whole in enumerate(fresh.room):
        for part in {one.item.room[at] for one in wanted} | {1}:
            if not part:
                continue
            asked = sum(
                one.item.room[at] // part * one.devices * one.number for one in wanted
            )
            free = sum(device.room[at] // part for device in bins)
            each = whole // part
            if asked > free:
                least = max(least, -(-(asked - free) // max(1, each)))
    return max(0, least)


class _PackingSearch:
    """
    Places for all pods on so many devices, one pod after the other.
    """

    def __init__(self, pods: Sequence[tuple[Item, int]]) -> None:
        self._pods = pods
        self._tries = _MOST_TRIES

    def run(
        self, bins: Sequence[Bin], at: int = 0
    ) -> tuple[tuple[int, ...], ...] | None:
        """
        Give the places of the pods from one on; none where there are none, or too late.
        """
        if at == len(self._pods):
            return ()
        item, devices = self._pods[at]
        puts = [(i, more) for i, one in enumerate(bins) if (more := _put(one, item))]
        seen: set[tuple[Bin, ...]] = set()
        puts.sort(key=lambda each: (bins[each[0]].room, each[0]))
        for chosen in combinations(puts, devices):
            kind = tuple(bins[i] for i, _ in chosen)
            if kind in seen:
                continue
            seen.add(kind)
            self._tries -= 1
            if self._tries < 0:
                return None
            after = list(bins)
            for i, more in chosen:
                after[i] = more
            rest = self.run(after, at + 1)
            if rest is not None:
                return (tuple(sorted(i for i, _ in chosen)), *rest)
        return None


@lru_cache(maxsize=1 << 17)
def most_more(
    bins: tuple[Bin, ...],
    fresh: Bin,
    wanted: tuple[Wanted, ...],
    item: Item,
    devices: int,
    allowed: int,
) -> int:
    """
    Count the pods that fit beside others when so many idle devices may be opened.

    It is -1 where the others do not fit themselves.
    """
    if packed(bins, fresh, wanted).opened > allowed:
        return -1
    all_ = (*bins, *([fresh] * allowed))
    if len(all_) < devices:
        return 0
    most = sum(_takes(device, item) for device in all_)
    for at, amount in enumerate(item.room):
        used = sum(w.item.room[at] * w.devices * w.number for w in wanted)
        if amount:
            free = sum(device.room[at] for device in all_) - used
            most = min(most, free // amount)
    low, high = 0, max(0, most // devices)
    while low < high:
        middle = high if high - low > 1 and low == 0 else (low + high + 1) // 2
        more = (*wanted, Wanted(item, devices, middle))
        if packed(bins, fresh, more).opened <= allowed:
            low = middle
        else:
            high = middle - 1
    return low


def fresh_share(memory: int) -> SharedBin:
    """
    Give an idle device.
    """
    return SharedBin(WHOLE, memory)
