"""
Bins: devices of a node that depend on one another, and what each can hold.

Devices that share counters, or that one item could take together, are in one bin; all
others are bins by themselves.  A *content* says how many of each kind of item a bin
holds at once; only those count that no other one contains.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from models.errors import PhalanxError

_MOST_STATES = 20_000
_MOST_CONTENTS = 2_000
_COMPARED = 100
"""
So many contents are compared in the time that one state takes.
"""
MOST_OF_A_KIND = 256
"""
No node has more pods that hold a part of one device each.
"""
Content = tuple[int, ...]
"""
A number for each kind of item.
"""
Puts = tuple[tuple[int, tuple[int, ...]], ...]
"""
Where an item may lie in a bin: the devices as bits, and what it takes of each counter.
"""


class TooManyError(PhalanxError):
    """
    There are more ways to place items than are looked at.
    """


@dataclass(frozen=True, slots=True)
class Bin:
    """
    What is free of a bin: for each kind of item its places, and the counters left.
    """

    puts: tuple[Puts, ...]
    left: tuple[int, ...] = ()

    def only(self, kinds: Collection[int]) -> "Bin":
        """
        Give what is free for some kinds of items, and nothing for the others.
        """
        if len(kinds) == len(self.puts):
            return self
        puts = (put if at in kinds else () for at, put in enumerate(self.puts))
        return Bin(tuple(puts), self.left)

    def without(self, mask: int, taken: Sequence[int]) -> "Bin":
        """
        Give what is free once some devices and amounts are taken.
        """
        left = tuple(have - less for have, less in zip(self.left, taken, strict=True))
        return Bin(
            tuple(
                tuple(put for put in puts if not put[0] & mask and _fits(put[1], left))
                for puts in self.puts
            ),
            left,
        )


def _fits(taken: Iterable[int], left: Iterable[int]) -> bool:
    return all(less <= have for less, have in zip(taken, left, strict=True))


def contents(free: Bin) -> tuple[Content, ...]:
    """
    List the contents of a bin that no other one contains.

    Raises
    ------
    TooManyError
        When there are too many ways to make them.
    """
    found = _looked_for(free)
    if isinstance(found, str):
        raise TooManyError(found)
    return found


@lru_cache(maxsize=1 << 14)
def _looked_for(free: Bin) -> tuple[Content, ...] | str:
    """
    Give the contents; where there are too many, why, as for all nodes that are alike.
    """
    try:
        return tuple(sorted(_Counter(free.puts).found(0, 0, free.left)))
    except TooManyError as error:
        return str(error)


class _Counter:
    """
    Counts what fits, kind by kind, each state once.
    """

    def __init__(self, puts: Sequence[Puts]) -> None:
        self._puts = puts
        self._known: dict[tuple[int, int, tuple[int, ...]], frozenset[Content]] = {}
        self._states = 0

    def found(self, at: int, used: int, left: tuple[int, ...]) -> frozenset[Content]:
        """
        Give the contents that the kinds from one on may have.
        """
        if at == len(self._puts):
            return frozenset({()})
        key = at, used, left
        if key not in self._known:
            self._known[key] = self._walked(at, used, left)
        return self._known[key]

    def _walked(self, at: int, used: int, left: tuple[int, ...]) -> frozenset[Content]:
        found: set[Content] = set()
        states = {(used, left)}
        number = 0
        while states and number <= MOST_OF_A_KIND:
            self._states += len(states)
            if self._states > _MOST_STATES:
                raise TooManyError(f"more than {_MOST_STATES:,} ways to share them")
            for state in states:
                found.update((number, *rest) for rest in self.found(at + 1, *state))
            states = {more for state in states for more in self._more(at, *state)}
            number += 1
        if len(found) > _MOST_CONTENTS:
            raise TooManyError(f"more than {_MOST_CONTENTS:,} ways to share one")
        kept = largest(found)
        self._states += len(found) * len(kept) // _COMPARED
        return frozenset(kept)

    def _more(
        self, at: int, used: int, left: tuple[int, ...]
    ) -> Iterable[tuple[int, tuple[int, ...]]]:
        """
        Walk the states with one more item of a kind.
        """
        for mask, taken in self._puts[at]:
            if not mask & used and _fits(taken, left):
                rest = tuple(a - b for a, b in zip(left, taken, strict=True))
                yield used | mask, rest


def largest(found: Iterable[Content]) -> list[Content]:
    """
    Keep the contents that no other one contains.
    """
    kept: list[Content] = []
    for one in sorted(found, key=lambda content: (-sum(content), content)):
        if not any(_within(one, other) for other in kept):
            kept.append(one)
    return kept


def _within(one: Content, other: Content) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
