"""
What nodes get back when those leave who have devices: all that becomes free.

A pod that alone has devices of some bins gives back all that these can hold then, also
for items of other kinds.  Where several have a part in one bin, what one of them gives
back depends on the others: then it is the least that it gives back beside any of them,
or what it asked for where they are many.  The rest is free once all have left.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.claims.device_bins import Content, contents
from adapters.kube.claims.device_reader import DeviceName
from adapters.kube.claims.device_requests import HeldDevice
from adapters.kube.claims.node_bins import NodeBin

Contents = tuple[Content, ...]
_MOST_APART = 3
"""
Of more holders that share bins it is not asked what some of them give back.
"""


@dataclass(frozen=True, slots=True)
class Holder:
    """
    Who has devices of a node: a pod for itself, or a claim for some ``pods`` there.
    """

    key: str
    node: str
    held: tuple[HeldDevice, ...]
    pods: tuple[str, ...]

    @property
    def is_pod(self) -> bool:
        """
        Whether it is a pod for itself.
        """
        return self.pods == (self.key,)


Without = Callable[[int, Sequence[Holder]], Sequence[NodeBin] | str]
"""
Gives the free bins of a node once some holders have left, by a number of this question.
"""


@dataclass(frozen=True, slots=True)
class GivenBack:
    """
    What some bins of a node hold now, and once all have left who have some of them.
    """

    before: tuple[Contents, ...]
    after: tuple[Contents, ...]


@dataclass(frozen=True, slots=True)
class Tied:
    """
    Holders that share bins: what these hold now, and once all have left.

    ``between`` is what they hold once some have left, by the numbers of these as bits;
    nothing where the holders are too many.
    """

    who: tuple[Holder, ...]
    all_gone: GivenBack
    between: Mapping[int, tuple[Contents, ...]]


@dataclass(frozen=True, slots=True)
class HoldersGone:
    """
    What changes on a node if one pod leaves, and if some do who share bins.
    """

    each: Mapping[str, GivenBack]
    tied: tuple[Tied, ...]


def given_back(
    holders: Sequence[Holder],
    now: Sequence[NodeBin],
    freed: Sequence[NodeBin],
    joined: frozenset[int],
    without: Without,
) -> HoldersGone:
    """
    Say what changes on a node if its holders leave: by pod, and of those that share.

    ``now`` are the free bins, ``freed`` those if all holders had left, ``joined`` the
    single items whose bins count as one, since a choice is about them, and ``without``
    gives the free bins once some have left.

    Raises
    ------
    TooManyError
        When there are too many ways to share a bin.
    """
    all_free = _AllFree(freed, joined)
    every = [*_together(holders, all_free.number_of)]
    states = _states([who for _, who in every], without)
    each: dict[str, GivenBack] = {}
    tied: list[Tied] = []
    for mine, who in every:
        change = GivenBack(all_free.of(now, mine), all_free.on(mine))
        if len(who) == 1 and who[0].is_pod:
            each[who[0].key] = change
            continue
        masks = _between(who)
        known = all(mask in states for mask in masks)
        some = {x: all_free.of(states[x], mine) for x in masks} if known else {}
        tied.append(Tied(who, change, some))
    return HoldersGone(each, tuple(tied))


class _AllFree:
    """
    The bins of a node without its holders, numbered; those that a choice joins are one.
    """

    def __init__(self, freed: Sequence[NodeBin], joined: frozenset[int]) -> None:
        self._held = [contents(each.free) for each in freed]
        first = next((i for i, x in enumerate(self._held) if _concerned(x, joined)), -1)
        self._place = [
            first if _concerned(x, joined) else at for at, x in enumerate(self._held)
        ]
        self.number_of = {
            name: at
            for at, x in zip(self._place, freed, strict=True)
            for name in _names(x)
        }

    def on(self, mine: Collection[int]) -> tuple[Contents, ...]:
        """
        Say what some of the bins hold.
        """
        pairs = zip(self._place, self._held, strict=True)
        return tuple(held for at, held in pairs if at in mine)

    def of(
        self, bins: Sequence[NodeBin], mine: Collection[int]
    ) -> tuple[Contents, ...]:
        """
        Say what those of other bins hold that are parts of some of these.
        """
        return tuple(
            contents(each.free)
            for each in bins
            if any(self.number_of[name] in mine for name in _names(each))
        )


def _between(who: Sequence[Holder]) -> range:
    """
    List which of some holders may have left, but nobody and all, as bits.
    """
    few = len(who) <= _MOST_APART and all(one.is_pod for one in who)
    return range(1, (1 << len(who)) - 1 if few else 1)


def _states(
    every: Iterable[tuple[Holder, ...]], without: Without
) -> dict[int, Sequence[NodeBin]]:
    """
    Give the free bins once some have left, the same numbers of all who share at once.
    """
    gone: dict[int, list[Holder]] = {}
    for who in every:
        for mask in _between(who):
            left = [one for at, one in enumerate(who) if mask >> at & 1]
            gone.setdefault(mask, []).extend(left)
    found = ((mask, without(mask, some)) for mask, some in sorted(gone.items()))
    return {mask: bins for mask, bins in found if not isinstance(bins, str)}


def _together(
    holders: Iterable[Holder], bin_of: Mapping[DeviceName, int]
) -> Iterator[tuple[set[int], tuple[Holder, ...]]]:
    """
    Walk the holders that have bins in common, with these bins.
    """
    found: list[tuple[set[int], list[Holder]]] = []
    for who in holders:
        mine = {bin_of.get(one.device, -1) for one in who.held} - {-1}
        near = [one for one in found if not mine.isdisjoint(one[0])]
        found = [one for one in found if one not in near]
        bins = mine.union(*(some for some, _ in near))
        found.append((bins, [*(x for _, some in near for x in some), who]))
    for bins, some in found:
        yield bins, tuple(sorted(some, key=lambda who: who.key))


def _concerned(held: Contents, joined: Iterable[int]) -> bool:
    return any(one[at] for one in held for at in joined)


def _names(each: NodeBin) -> Iterator[DeviceName]:
    for ways in each.ways:
        for way in ways:
            for chosen in way.chosen:
                yield chosen.device.name
