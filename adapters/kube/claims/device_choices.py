"""
Items with a choice between different numbers of devices: one whole GPU or two halves.

Bins know single devices only.  What a node holds of items with a choice is found from
the largest numbers of single devices that all its bins hold together.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from adapters.kube.claims.device_bins import Content, TooManyError, largest
from adapters.kube.claims.device_items import Item

Options = tuple[tuple[int, int], ...]
"""
What an item may be instead: a single item by number, and how many of it.
"""
_MOST_SUMS = 400
_MOST_STEPS = 20_000


def options_of(item: Item, singles: Sequence[Item]) -> Options:
    """
    Say what an item may be, by the numbers of the items that bins know.
    """
    return tuple((singles.index(each), number) for each, number in item.choices)


@lru_cache(maxsize=1 << 10)
def sums(bins: tuple[tuple[Content, ...], ...]) -> tuple[Content, ...]:
    """
    List the largest numbers of single items that some bins hold together.

    Raises
    ------
    TooManyError
        When there are too many.
    """
    if not bins:
        return ()
    found: list[Content] = [(0,) * len(bins[0][0])]
    for contents in bins:
        added = {
            tuple(a + b for a, b in zip(one, more, strict=True))
            for one in found
            for more in contents
        }
        if len(added) > 4 * _MOST_SUMS:
            raise TooManyError(f"more than {_MOST_SUMS:,} sums of devices")
        found = largest(added)
        if len(found) > _MOST_SUMS:
            raise TooManyError(f"more than {_MOST_SUMS:,} sums of devices")
    return tuple(found)


def less(left: Iterable[Content], options: Options) -> tuple[Content, ...]:
    """
    Give what may be left once an item has taken what it needs; none if it cannot.
    """
    found = set()
    for have in left:
        for at, number in options:
            if have[at] >= number:
                found.add((*have[:at], have[at] - number, *have[at + 1 :]))
    return tuple(largest(found))


@lru_cache(maxsize=1 << 10)
def chosen_contents(
    bins: tuple[tuple[Content, ...], ...], asked: tuple[Options, ...]
) -> tuple[Content, ...]:
    """
    List the largest numbers of items that some bins hold together.

    Raises
    ------
    TooManyError
        When there are too many ways to make them.
    """
    steps = 0
    known: dict[tuple[int, tuple[Content, ...]], list[Content]] = {}

    def found(at: int, left: tuple[Content, ...]) -> list[Content]:
        nonlocal steps
        if at == len(asked):
            return [()]
        if (at, left) not in known:
            several: set[Content] = set()
            number, rest = 0, left
            while rest:
                steps += len(rest)
                if steps > _MOST_STEPS:
                    raise TooManyError(f"more than {_MOST_STEPS:,} ways to choose")
                several.update((number, *more) for more in found(at + 1, rest))
                number, rest = number + 1, less(rest, asked[at])
            known[at, left] = largest(several)
        return known[at, left]

    return tuple(sorted(found(0, sums(bins))))


def chosen(
    left: tuple[Content, ...], wanted: Sequence[Options]
) -> tuple[tuple[int, int], ...]:
    """
    Choose for each item, the first come first, the first option that leaves all room.
    """
    found: list[tuple[int, int]] = []
    for at, options in enumerate(wanted):
        for option in options:
            rest = less(left, (option,))
            last = rest
            for later in wanted[at + 1 :]:
                last = less(last, later)
            if last:
                found.append(option)
                left = rest
                break
    return tuple(found)
