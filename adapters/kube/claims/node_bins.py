"""
The devices of one node as bins: what is free of them, and where items may lie.
"""

from collections import Counter as Count
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product

from adapters.kube.claims.device_bins import Bin, TooManyError
from adapters.kube.claims.device_items import Item, ItemPart, ItemRule
from adapters.kube.claims.device_matching import (
    DeviceMatching,
    consumption,
    tolerated,
)
from adapters.kube.claims.device_pools import Pool
from adapters.kube.claims.device_reader import Amounts, Device, DeviceName, qualified
from adapters.kube.claims.device_requests import DeviceAsk, HeldDevice
from adapters.kube.claims.gpu_shares import shares_there
from adapters.kube.claims.said_gpus import said_of

_MOST_WAYS = 4_096
Counter = tuple[str, ...]
"""
What is counted: a counter of a set of a pool, or a capacity of a device.
"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """
    A device for one part of an item, as one of its alternatives.
    """

    device: Device
    part: int
    ask: DeviceAsk
    consumed: Amounts | None = None


_Slot = tuple[int, list[Chosen]]
"""
The devices of which one is taken, and how many were before of the same part.
"""


@dataclass(frozen=True, slots=True)
class Way:
    """
    A place of an item: its devices, and what it takes; ``rank`` is how much it is last.
    """

    chosen: tuple[Chosen, ...]
    taken: tuple[tuple[Counter, int], ...]
    rank: int = 0


@dataclass(frozen=True, slots=True)
class NodeBin:
    """
    A bin with the ways that stand behind its places, in the same order.
    """

    free: Bin
    ways: tuple[tuple[Way, ...], ...]


class DevicesOfNode:
    """
    The devices of one node, those that somebody has, and what is left of counters.

    ``shares`` is what they count as GPUs, ``said`` what they say of these.
    """

    def __init__(self, node: str, pools: Sequence[Pool]) -> None:
        self.pools = tuple(pools)
        here = [d for pool in pools for d in pool.devices if d.node == node]
        self.devices = tuple(device for device in here if not device.unknown)
        self.shares = shares_there(self.devices)
        self.said = said_of(self.devices)
        self._by_name = {device.name: device for device in here}
        self._left_if_free: dict[Counter, int] = {
            (*pool.name, known, counter): amount
            for pool in pools
            for known, amounts in pool.counters.items()
            for counter, amount in amounts.items()
        }
        for device in self.devices:
            if device.is_shared:
                for name, capacity in device.capacities.items():
                    self._left_if_free[*device.name, name] = capacity.value

    def bins(
        self,
        items: Sequence[Item],
        matching: DeviceMatching,
        held: Iterable[HeldDevice],
        *,
        is_whole: bool = True,
    ) -> tuple[NodeBin, ...]:
        """
        Part the free devices into bins.

        ``is_whole`` says that no pool of the node is unknown, without which nobody can
        have all that match.
        """
        gone, left = self._left(held)
        ways = [
            [
                way
                for way in _ways(item, self.devices, matching, gone, is_whole=is_whole)
                if all(left.get(counter, 0) >= taken for counter, taken in way.taken)
            ]
            for item in items
        ]
        return tuple(_parted(ways, left))

    def overdrawn(self, held: Sequence[HeldDevice]) -> set[DeviceName]:
        """
        Name the devices of which claims have more together than there is.
        """
        _, left = self._left(held)
        whole = (each.device for each in held if not self._is_part(each))
        times = Count(name for name in whole if name in self._by_name)
        return {
            each.device
            for each in held
            if times[each.device] > 1
            or any(left.get(counter, 0) < 0 for counter, _ in self._taken(each))
        }

    def _is_part(self, each: HeldDevice) -> bool:
        had = self._by_name.get(each.device)
        return had is not None and had.is_shared and each.consumed is not None

    def _taken(self, each: HeldDevice) -> list[tuple[Counter, int]]:
        had = self._by_name.get(each.device)
        if had is None:
            return []
        if self._is_part(each):
            return [((*had.name, name), n) for name, n in each.consumed or ()]
        return _counters(had)

    def _left(
        self, held: Iterable[HeldDevice]
    ) -> tuple[set[DeviceName], dict[Counter, int]]:
        """
        Say which devices are had by somebody, and what is left of what is counted.
        """
        left = dict(self._left_if_free)
        gone: set[DeviceName] = set()
        for each in held:
            if each.device in self._by_name and not self._is_part(each):
                gone.add(each.device)
            for counter, amount in self._taken(each):
                left[counter] = left.get(counter, 0) - amount
        return gone, left


def _counters(device: Device) -> list[tuple[Counter, int]]:
    return [
        ((*device.name[:2], known, counter), amount)
        for known, amounts in device.consumes
        for counter, amount in amounts
    ]


def _ways(
    item: Item,
    devices: Sequence[Device],
    matching: DeviceMatching,
    gone: set[DeviceName],
    *,
    is_whole: bool,
) -> Iterator[Way]:
    """
    Walk the places of an item, those of its first alternatives first.
    """
    choices = [
        [
            _slots(list(_fitting(ask, at, devices, matching)), number, gone, is_whole)
            for ask, number in zip(part.asks, part.counts, strict=True)
        ]
        for at, part in enumerate(item.parts)
    ]
    left = count()
    for ranks in product(*(range(len(some)) for some in choices)):
        taken = [some[rank] for some, rank in zip(choices, ranks, strict=True)]
        slots = [slot for some in taken for slot in some or ()]
        if any(some is None for some in taken):
            continue
        for chosen in _combined(slots, item.rules, item.parts, ()):
            if next(left) >= _MOST_WAYS:
                raise TooManyError(f"more than {_MOST_WAYS:,} ways to have {item}")
            yield _way(chosen, max(ranks))


def _slots(
    fitting: list[Chosen],
    number: int | None,
    gone: set[DeviceName],
    is_whole: bool,  # noqa: FBT001
) -> list[_Slot] | None:
    """
    List what one part of an item takes as one of its alternatives; none if it cannot.

    Who asks for all gets none where one is not free, or has a taint.
    """
    free = [
        one
        for one in fitting
        if one.device.name not in gone and tolerated(one.ask, one.device)
    ]
    if number is not None:
        return [(at, free) for at in range(number)]
    if not is_whole or len(free) < len(fitting) or not free:
        return None
    return [(0, [one]) for one in free]


def _way(chosen: tuple[Chosen, ...], rank: int) -> Way:
    taken: dict[Counter, int] = {}
    for one in chosen:
        counters = _counters(one.device)
        if one.consumed is not None:
            counters = [((*one.device.name, name), n) for name, n in one.consumed]
        for counter, amount in counters:
            taken[counter] = taken.get(counter, 0) + amount
    return Way(chosen, tuple(sorted(taken.items())), rank)


def _fitting(
    ask: DeviceAsk, at: int, devices: Sequence[Device], matching: DeviceMatching
) -> Iterator[Chosen]:
    """
    Walk the devices that match a part as one of its alternatives.
    """
    for device in matching.selected(ask, devices):
        consumed = consumption(ask, device)
        if consumed is not None or not (device.is_shared or ask.capacity):
            yield Chosen(device, at, ask, consumed if device.is_shared else None)


def _combined(
    slots: Sequence[_Slot],
    rules: Sequence[ItemRule],
    parts: Sequence[ItemPart],
    before: tuple[Chosen, ...],
) -> Iterator[tuple[Chosen, ...]]:
    """
    Walk what all slots may have together; equal slots take devices in one order.
    """
    if len(before) == len(slots):
        yield before
        return
    number, choices = slots[len(before)]
    first = 0
    if number:
        first = choices.index(before[-1]) + 1
    for one in choices[first:]:
        taken = {each.device.name for each in before if each.consumed is None}
        if one.consumed is None and one.device.name in taken:
            continue
        more = (*before, one)
        if all(_holds(rule, parts, more) for rule in rules):
            yield from _combined(slots, rules, parts, more)


def _holds(rule: ItemRule, parts: Sequence[ItemPart], chosen: Sequence[Chosen]) -> bool:
    values = []
    for one in chosen:
        which = one.part, parts[one.part].asks.index(one.ask)
        if which in rule.concerned:
            name = qualified(rule.attribute, one.device.name[0])
            value = one.device.attributes.get(name)
            if value is None or isinstance(value, tuple):
                return False
            values.append((type(value), value))
    if rule.is_distinct:
        return len(set(values)) == len(values)
    return len(set(values)) <= 1


def _parted(
    ways: Sequence[Sequence[Way]], left: dict[Counter, int]
) -> Iterator[NodeBin]:
    """
    Put ways that have a device or a counter in common into one bin.
    """
    root: dict[object, object] = {}

    def find(key: object) -> object:
        while root.setdefault(key, key) != key:
            root[key] = key = root[root[key]]
        return key

    for way in (way for some in ways for way in some):
        keys: list[object] = [*_keys(way)]
        for key in keys[1:]:
            root[find(key)] = find(keys[0])
    bins: dict[object, list[list[Way]]] = {}
    for at, some in enumerate(ways):
        for way in some:
            of = find(next(_keys(way)))
            bins.setdefault(of, [[] for _ in ways])[at].append(way)
    for own in bins.values():
        yield _bin(own, left)


def _keys(way: Way) -> Iterator[object]:
    yield from (one.device.name for one in way.chosen)
    yield from ((counter[:3]) for counter, _ in way.taken)


def _bin(own: Sequence[Sequence[Way]], left: dict[Counter, int]) -> NodeBin:
    devices: dict[DeviceName, int] = {}
    counters: dict[Counter, int] = {}
    for way in (way for some in own for way in some):
        for one in way.chosen:
            if one.consumed is None:
                devices.setdefault(one.device.name, len(devices))
        for counter, _ in way.taken:
            counters.setdefault(counter, len(counters))
    puts = []
    for some in own:
        mine = []
        for way in some:
            mask = sum(
                1 << devices[one.device.name]
                for one in way.chosen
                if one.consumed is None
            )
            taken = dict(way.taken)
            mine.append((mask, tuple(taken.get(each, 0) for each in counters)))
        puts.append(tuple(mine))
    free = Bin(tuple(puts), tuple(left.get(each, 0) for each in counters))
    return NodeBin(free, tuple(map(tuple, own)))
