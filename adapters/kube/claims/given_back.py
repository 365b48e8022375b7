"""
What nodes get back when those leave who have devices: all that becomes free.

A pod that alone has devices of some bins gives back all that these can hold then, also
for items of other kinds.  Where several have a part in one bin, what one of them gives
back depends on the others: then it is what it asked for, which is never too much, and
the rest is free once all of them have left.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.claims.device_bins import Content, contents
from adapters.kube.claims.device_reader import DeviceName
from adapters.kube.claims.device_requests import HeldDevice
from adapters.kube.claims.node_bins import NodeBin

Contents = tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """
    Who has devices of a node: a pod for itself, or a claim for some ``pods`` there.
    """

    key: str
    node: str
    held: tuple[HeldDevice, ...]
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenBack:
    """
    What some bins of a node hold now, and once all have left who have some of them.
    """

    before: tuple[Contents, ...]
    after: tuple[Contents, ...]


@dataclass(frozen=True, slots=True)
class HoldersGone:
    """
    What changes on a node if one pod leaves, and if all holders do who share bins.
    """

    each: Mapping[str, GivenBack]
    tied: tuple[tuple[tuple[Holder, ...], GivenBack], ...]


def given_back(
    holders: Sequence[Holder],
    now: Sequence[NodeBin],
    freed: Sequence[NodeBin],
    joined: frozenset[int],
) -> HoldersGone:
    """
    Say by pod what changes on a node if it leaves, of those that share no bin.

    ``now`` are the free bins, ``freed`` those if all holders had left, and ``joined``
    the single items whose bins count as one, since a choice is about them.

    Raises
    ------
    TooManyError
        When there are too many ways to share a bin.
    """
    held = [contents(each.free) for each in freed]
    first = next((at for at, x in enumerate(held) if _concerned(x, joined)), -1)
    place = [first if _concerned(x, joined) else at for at, x in enumerate(held)]
    bin_of = {
        name: at for at, x in zip(place, freed, strict=True) for name in _names(x)
    }
    each: dict[str, GivenBack] = {}
    tied: list[tuple[tuple[Holder, ...], GivenBack]] = []
    for mine, who in _together(holders, bin_of):
        change = GivenBack(
            before=tuple(
                contents(each.free)
                for each in now
                if any(bin_of[name] in mine for name in _names(each))
            ),
            after=tuple(x for at, x in zip(place, held, strict=True) if at in mine),
        )
        if len(who) == 1 and who[0].pods == (who[0].key,):
            each[who[0].key] = change
        else:
            tied.append((who, change))
    return HoldersGone(each, tuple(tied))


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
