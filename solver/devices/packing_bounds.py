"""
Bounds of packing parts onto devices, by weights that no content of a device exceeds.

A weight of an amount is how often some size goes into it; or, for some edge, nothing if
it is less than the edge, a whole device if less than the edge is left of one, else
itself.  Whatever a device holds weighs together no more than what it has left.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from solver.devices.packing_items import Bin, Wanted, takes


def least_opened(bins: Sequence[Bin], fresh: Bin, wanted: Sequence[Wanted]) -> int:
    """
    Give the idle devices that are opened at least.
    """
    least = max((one.devices for one in wanted), default=0) - len(bins)
    for at, whole in enumerate(fresh.room):
        asked = _asked(at, wanted)
        free = [device.room[at] for device in bins]
        for weight in _weights(whole, frozenset(asked)):
            short = sum(weight[amount] * number for amount, number in asked.items())
            short -= sum([weight[left] for left in free])
            if short > 0:
                least = max(least, -(-short // max(1, weight[whole])))
    return max(0, least)


def most_by_weight(
    bins: Sequence[Bin], fresh: Bin, wanted: Sequence[Wanted], more: Wanted
) -> int:
    """
    Bound how many pods more there is room for on devices beside others.
    """
    most = sum(takes(device, more.item) for device in bins) // more.devices
    for at, whole in enumerate(fresh.room):
        asked, amount = _asked(at, wanted), more.item.room[at]
        free = [device.room[at] for device in bins]
        for weight in _weights(whole, frozenset((*asked, amount))):
            if each := weight[amount] * more.devices:
                left = sum([weight[left] for left in free])
                left -= sum(weight[x] * number for x, number in asked.items())
                most = min(most, left // each)
    return max(0, most)


def _asked(at: int, wanted: Iterable[Wanted]) -> dict[int, int]:
    """
    Count items by what they take of one sum.
    """
    found: dict[int, int] = {}
    for one in wanted:
        amount = one.item.room[at]
        found[amount] = found.get(amount, 0) + one.devices * one.number
    return found


class _Times(dict[int, int]):
    """
    How often a size goes into amounts.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def __missing__(self, amount: int) -> int:
        found = self[amount] = amount // self._size
        return found


class _Edge(dict[int, int]):
    """
    Amounts as they are from an edge on, and whole devices where less is left of one.
    """

    def __init__(self, whole: int, edge: int) -> None:
        super().__init__()
        self._whole = whole
        self._edge = edge

    def __missing__(self, amount: int) -> int:
        found = amount if amount <= self._whole - self._edge else self._whole
        found = self[amount] = found if amount >= self._edge else 0
        return found


@lru_cache(maxsize=1 << 14)
def _weights(whole: int, amounts: frozenset[int]) -> tuple[dict[int, int], ...]:
    """
    List the weights that may tell what does not fit.
    """
    sizes = sorted(amounts - {0})
    edges = {min(size, whole - size + 1) for size in sizes if size <= whole} | {1}
    edged = [_edge(whole, edge) for edge in sorted(edges)]
    return (*map(_times, sizes), *edged) if sizes else ()


@lru_cache(maxsize=1 << 12)
def _times(size: int) -> _Times:
    return _Times(size)


@lru_cache(maxsize=1 << 12)
def _edge(whole: int, edge: int) -> _Edge:
    return _Edge(whole, edge)
