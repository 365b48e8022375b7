"""
Packing parts onto the devices of one node, so that the fewest idle ones are opened.

Parts that are new in this round may be dealt anew until the plan is made, so what fits
depends on what is there, never on the order in which it came.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from models.devices.gpu_parts import WHOLE
from solver.devices.packing_bounds import least_opened, most_by_weight
from solver.devices.packing_items import (
    Bin,
    DeviceShare,
    Item,
    Wanted,
    fullest,
    put,
    takes,
)
from solver.devices.packing_search import PackingSearch

NO_DEVICE = 1 << 20
"""
Stands for what is left of devices where none takes an item.
"""
_MOST_SEARCHED = 200
"""
Beside more pods than these on one node, a packing by fit is taken as it is.
"""
_Runs = tuple[int, list[tuple[tuple[int, ...], int]]]
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
    order = sorted(range(len(wanted)), key=lambda at: _size(fresh, wanted[at]))
    ordered = [wanted[at] for at in order]
    opened, runs = _by_fit(bins, fresh, ordered)
    every = iter([place for place, times in runs for _ in range(times)])
    least = opened if _are_many(wanted) else least_opened(bins, fresh, wanted)
    for fewer in range(least, opened):
        places = PackingSearch(ordered).run((*bins, *([fresh] * fewer)))
        if places is not None:
            opened, every = fewer, iter([*places])
            break
    places_of = {at: [*islice(every, wanted[at].number)] for at in order}
    in_order = (place for at in range(len(wanted)) for place in places_of[at])
    return Packed(opened, tuple(in_order))


def num_opened(bins: tuple[Bin, ...], fresh: Bin, wanted: tuple[Wanted, ...]) -> int:
    """
    Count the idle devices that are opened; of any number of pods, none is listed.
    """
    if _are_many(wanted):
        return _by_fit(bins, fresh, sorted(wanted, key=partial(_size, fresh)))[0]
    return packed(bins, fresh, wanted).opened


def _are_many(wanted: Sequence[Wanted]) -> bool:
    return sum(one.number for one in wanted) > _MOST_SEARCHED


def _size(fresh: Bin, one: Wanted) -> tuple[float, int]:
    """
    Sort the largest items first, of equal ones those on most devices.
    """
    rooms = zip(one.item.room, fresh.room, strict=True)
    return -max(amount / max(1, whole) for amount, whole in rooms), -one.devices


def _by_fit(bins: Sequence[Bin], fresh: Bin, wanted: Sequence[Wanted]) -> _Runs:
    """
    Pack onto the fullest devices, and say how many pods in a row lie on the same ones.
    """
    left, runs = list(bins), []
    for one in wanted:
        rest = one.number
        while rest:
            chosen = fullest(left, one.item, one.devices)
            opened = one.devices - len(chosen)
            chosen += range(len(left), len(left) + opened)
            left += [fresh] * opened
            # The fullest stay the fullest: equal pods follow as long as they fit.
            times = min(rest, *(takes(left[at], one.item) for at in chosen))
            assert times
            for at in chosen:
                left[at] = _put_often(left[at], one.item, times)
            runs.append((tuple(sorted(chosen)), times))
            rest -= times
    return len(left) - len(bins), runs


def _put_often(device: Bin, item: Item, times: int) -> Bin:
    if isinstance(item, DeviceShare):
        item, times = DeviceShare(item.cores * times, item.memory * times), 1
    for _ in range(times):
        more = put(device, item)
        assert more is not None
        device = more
    return device


def left_open(
    bins: Sequence[Bin], fresh: Bin, wanted: tuple[Wanted, ...]
) -> tuple[Bin, ...]:
    """
    Give what is left of all devices that are open once pods are packed.
    """
    found = packed(tuple(bins), fresh, wanted)
    left = [*bins, *([fresh] * found.opened)]
    items = (one.item for one in wanted for _ in range(one.number))
    for item, places in zip(items, found.places, strict=True):
        for at in places:
            left[at] = _put_often(left[at], item, 1)
    return tuple(left)


def least_left(left: Sequence[Bin], fresh: Bin, item: Item) -> int:
    """
    Give the thousandths that one more item leaves of the fullest device it fits.
    """
    after = {more for device in set(left) if (more := put(device, item)) is not None}
    return min((_thousandths(device, fresh) for device in after), default=NO_DEVICE)


def _thousandths(device: Bin, fresh: Bin) -> int:
    rooms = zip(device.room, fresh.room, strict=True)
    return max(WHOLE * left // max(1, whole) for left, whole in rooms)


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
    if not wanted and devices == 1:
        each = sum(takes(device, item) for device in bins)
        return each + allowed * takes(fresh, item)
    if num_opened(bins, fresh, wanted) > allowed:
        return -1
    all_ = (*bins, *([fresh] * allowed))
    if len(all_) < devices:
        return 0
    low, high = 0, most_by_weight(all_, fresh, wanted, Wanted(item, devices, 1))
    while low < high:
        middle = high if high - low > 1 and low == 0 else (low + high + 1) // 2
        more = (*wanted, Wanted(item, devices, middle))
        if num_opened(bins, fresh, more) <= allowed:
            low = middle
        else:
            high = middle - 1
    return low
