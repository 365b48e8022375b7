"""
What nodes get back when those leave who have devices: all that becomes free.

A pod that alone has devices of some bins gives back all that these can hold then, also
for items of other kinds.  Where several have a part in one bin, what one of them gives
back depends on the others: then it is what it asked for, which is never too much.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from adapters.kube.claims.device_bins import Content, contents
from adapters.kube.claims.device_reader import DeviceName
from adapters.kube.claims.device_requests import HeldDevice
from adapters.kube.claims.node_bins import NodeBin

Contents = tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """
    A pod with devices of its node.
    """

    key: str
    node: str
    held: tuple[HeldDevice, ...]


@dataclass(frozen=True, slots=True)
class GivenBack:
    """
    What some bins of a node hold now, and once the only pod that has some of them left.
    """

    before: tuple[Contents, ...]
    after: tuple[Contents, ...]


@dataclass(frozen=True, slots=True)
class HoldersGone:
    """
    What changes on a node if one pod leaves, and what its bins hold if all left.
    """

    each: Mapping[str, GivenBack]
    emptied: tuple[Contents, ...]


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
    touched = [{bin_of.get(x.device, -1) for x in who.held} - {-1} for who in holders]
    users = Counter(chain.from_iterable(touched))
    each = {
        who.key: GivenBack(
            before=tuple(
                contents(each.free)
                for each in now
                if any(bin_of[name] in mine for name in _names(each))
            ),
            after=tuple(x for at, x in zip(place, held, strict=True) if at in mine),
        )
        for who, mine in zip(holders, touched, strict=True)
        if all(users[at] == 1 for at in mine)
    }
    return HoldersGone(each, tuple(held))


def _concerned(held: Contents, joined: Iterable[int]) -> bool:
    return any(one[at] for one in held for at in joined)


def _names(each: NodeBin) -> Iterator[DeviceName]:
    for ways in each.ways:
        for way in ways:
            for chosen in way.chosen:
                yield chosen.device.name
