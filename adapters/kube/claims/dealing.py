"""
Dealing: which devices of its node each item gets, so that all that are wanted get some.

Items come in their order, each as its first alternative that leaves room for all that
come after it; of these ways the one that spoils least.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from adapters.kube.claims.device_bins import Bin, Content, contents
from adapters.kube.claims.device_choices import Options, chosen, less, sums
from adapters.kube.claims.node_bins import NodeBin, Way

T = TypeVar("T", bound=Hashable)


def dealt(
    bins: Sequence[NodeBin], wanted: Sequence[tuple[T, Sequence[Options]]]
) -> dict[T, tuple[Way, ...]]:
    """
    Deal devices to some, each with what the items may be that it wants.

    Who is not named gets nothing: there is no room for all that it wants beside those
    before it.
    """
    if all(len(options) == 1 for _, items in wanted for options in items):
        return _dealt(bins, [(who, [x[0][0] for x in items]) for who, items in wanted])
    left = sums(tuple(contents(each.free) for each in bins))
    takers: list[tuple[T, Sequence[Options]]] = []
    rest = left
    for who, items in wanted:
        more = rest
        for options in items:
            more = less(more, options)
        if more:
            rest = more
            takers.append((who, items))
    taken = iter(chosen(left, [options for _, items in takers for options in items]))
    numbers = [(who, [next(taken) for _ in items]) for who, items in takers]
    singles = [
        (who, [at for at, number in each for _ in range(number)])
        for who, each in numbers
    ]
    ways = _dealt(bins, singles)
    return {who: tuple(_joined(ways[who], each)) for who, each in numbers}


def _joined(ways: Sequence[Way], numbers: Sequence[tuple[int, int]]) -> Iterator[Way]:
    """
    Join the ways of single devices to those of the items that they are for.
    """
    left = iter(ways)
    for _, number in numbers:
        some = [next(left) for _ in range(number)]
        together = tuple(one for way in some for one in way.chosen)
        yield some[0] if number == 1 else Way(together, ())


def _dealt(
    bins: Sequence[NodeBin], wanted: Sequence[tuple[T, Sequence[int]]]
) -> dict[T, tuple[Way, ...]]:
    """
    Deal devices to some, each with the numbers of the single items that it wants.
    """
    number = len(bins[0].free.puts) if bins else 0
    free = [each.free.without(0, [0] * len(each.free.left)) for each in bins]
    takers: list[tuple[T, Sequence[int]]] = []
    left = [0] * number
    for who, items in wanted:
        more = list(left)
        for item in items:
            more[item] += 1
        if _fits(tuple(sorted(free, key=repr)), tuple(more)):
            left = more
            takers.append((who, items))
    found: dict[T, tuple[Way, ...]] = {}
    for who, items in takers:
        ways = []
        for item in items:
            left[item] -= 1
            ways.append(_next(bins, free, item, left))
        found[who] = tuple(ways)
    return found


def _next(
    bins: Sequence[NodeBin], free: list[Bin], item: int, left: Sequence[int]
) -> Way:
    """
    Choose a way for one item, and take it.
    """
    seen: set[Bin] = set()
    ways: list[tuple[int, int, int, int, Way, Bin]] = []
    for at, (own, now) in enumerate(zip(bins, free, strict=True)):
        if now in seen or not now.puts[item]:
            continue
        seen.add(now)
        room = _room(now)
        for way, (mask, taken) in zip(own.ways[item], own.free.puts[item], strict=True):
            if (mask, taken) in now.puts[item]:
                rest = now.without(mask, taken)
                ways.append((way.rank, room - _room(rest), room, at, way, rest))
    ways.sort(key=lambda each: each[:4])
    for *_, at, way, rest in ways:
        others = [*free[:at], rest, *free[at + 1 :]]
        if _fits(tuple(sorted(others, key=repr)), tuple(left)):
            free[at] = rest
            return way
    raise AssertionError("what fits together has a way")


@lru_cache(maxsize=1 << 14)
def _room(free: Bin) -> int:
    """
    Measure what a bin could still hold: the most of each kind, added up.
    """
    return sum(map(max, zip(*contents(free), strict=True)))


@lru_cache(maxsize=1 << 14)
def _fits(free: tuple[Bin, ...], left: Content) -> bool:
    """
    Tell whether so many items of each kind fit into some bins.
    """
    if not any(left):
        return True
    if not free:
        return False
    first, *rest = free
    seen: set[Content] = set()
    for content in contents(first):
        more = tuple(max(0, a - b) for a, b in zip(left, content, strict=True))
        if more not in seen:
            seen.add(more)
            if _fits(tuple(rest), more):
                return True
    return False
