"""
Gangs that were read a while ago: they are as they were, but for the time that passed.

From one round to the next most gangs only grow older.  Each of them stays the very
same object, so that what was made of it can be kept, and is aged when it is looked at.
"""

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast, overload

from models.gangs import ON_A_NODE, Gang, Pod, PodSet, Tree


class AgedGangs(Sequence[Gang]):
    """
    The gangs of a snapshot at the time ``now``, of which each was read at its own.

    ``still`` are the gangs as they were read, ``seen`` the whole seconds of that: all
    of a gang but its age and the seconds of its pods holds still.
    """

    __slots__ = ("_index", "_made", "_whole", "now", "seen", "still")

    def __init__(
        self, still: tuple[Gang, ...], seen: tuple[int, ...], now: int
    ) -> None:
        self.still = still
        self.seen = seen
        self.now = now
        self._index: Mapping[str, int] | None = None
        self._made: dict[int, Gang] = {}
        self._whole: tuple[Gang, ...] | None = None

    def __len__(self) -> int:
        return len(self.still)

    @overload
    def __getitem__(self, at: int) -> Gang: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Gang, ...]: ...

    def __getitem__(self, at: int | slice) -> Gang | tuple[Gang, ...]:
        """
        Give a gang as it is now, always as the same object, or several.
        """
        if self._whole is not None or isinstance(at, slice):
            return self._all()[at]
        made = self._made.get(at)
        if made is None:
            made = older(self.still[at], self.now - self.seen[at])
            self._made[at] = made
        return made

    def __iter__(self) -> Iterator[Gang]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AgedGangs | tuple):
            return NotImplemented
        return self._all() == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as gangs have none

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> tuple[Gang, ...]:
        if self._whole is None:
            made, now = self._made.get, self.now
            self._whole = tuple(
                [
                    made(at) or older(gang, now - seen)
                    for at, (gang, seen) in enumerate(
                        zip(self.still, self.seen, strict=True)
                    )
                ]
            )
        return self._whole

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """
        Give the place of a gang, as tuples do.
        """
        return self._all().index(value, start, len(self) if stop is None else stop)

    def places(self) -> Mapping[str, int]:
        """
        Give the place of each gang by its name.
        """
        if self._index is None:
            self._index = {gang.key: at for at, gang in enumerate(self.still)}
        return self._index

    def replaced(self, gangs: Mapping[int, Gang]) -> "AgedGangs":
        """
        Give the gangs with others, as they are now, in some places.
        """
        if not gangs:
            return self
        still, seen = list(self.still), list(self.seen)
        for at, gang in gangs.items():
            still[at], seen[at] = gang, self.now
        fresh = AgedGangs(tuple(still), tuple(seen), self.now)
        fresh._index = self._index
        return fresh


class GangsByName(Mapping[str, Gang]):
    """
    The gangs of a snapshot by name, each aged when it is asked for.
    """

    __slots__ = ("_gangs",)

    def __init__(self, gangs: AgedGangs) -> None:
        self._gangs = gangs

    def __getitem__(self, key: str) -> Gang:
        return self._gangs[self._gangs.places()[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._gangs.places()

    def __iter__(self) -> Iterator[str]:
        return iter(self._gangs.places())

    def __len__(self) -> int:
        return len(self._gangs)


def still(gangs: Sequence[Gang]) -> Sequence[Gang]:
    """
    Give gangs of which all but the times holds; they stay the same objects for long.
    """
    return gangs.still if isinstance(gangs, AgedGangs) else gangs


def read_anew(gangs: Sequence[Gang], others: Sequence[Gang]) -> Sequence[Gang]:
    """
    Give others in place of gangs as they were read, each at the time of its own.
    """
    if isinstance(gangs, AgedGangs):
        return AgedGangs(tuple(others), gangs.seen, gangs.now)
    return tuple(others)


def ages_of(gangs: Sequence[Gang]) -> list[int]:
    """
    Give the age of each gang.
    """
    if not isinstance(gangs, AgedGangs):
        return [gang.age for gang in gangs]
    now = gangs.now
    pairs = zip(gangs.still, gangs.seen, strict=True)
    return [gang.age + now - seen for gang, seen in pairs]


def by_name(gangs: Sequence[Gang]) -> Mapping[str, Gang]:
    """
    Give gangs by their names.
    """
    if isinstance(gangs, AgedGangs):
        return GangsByName(gangs)
    return {gang.key: gang for gang in gangs}


def places_of(gangs: Sequence[Gang]) -> Mapping[str, int]:
    """
    Give the place of each gang by its name.
    """
    if isinstance(gangs, AgedGangs):
        return gangs.places()
    return {gang.key: at for at, gang in enumerate(gangs)}


class _Mates(Mapping[str, tuple[str, ...]]):
    """
    The mates of each gang, by its name.
    """

    def __init__(self, gangs: Mapping[str, Gang]) -> None:
        self._gangs = gangs

    def __getitem__(self, key: str) -> tuple[str, ...]:
        return self._gangs[key].mates

    def __iter__(self) -> Iterator[str]:
        return iter(self._gangs)

    def __len__(self) -> int:
        return len(self._gangs)


def mates_by_name(gangs: Sequence[Gang]) -> Mapping[str, tuple[str, ...]]:
    """
    Give the mates of each gang, by its name.
    """
    return _Mates(by_name(gangs))


def overlaid(gangs: Mapping[str, Gang], others: Iterable[Gang]) -> Mapping[str, Gang]:
    """
    Give gangs by name, with others in place of those of their names.
    """
    mine = {gang.key: gang for gang in others}
    return ChainMap(mine, cast("dict[str, Gang]", gangs))


def replaced(gangs: Sequence[Gang], others: Mapping[int, Gang]) -> Sequence[Gang]:
    """
    Give gangs with others in some places.
    """
    if isinstance(gangs, AgedGangs):
        return gangs.replaced(others)
    return tuple([others.get(at, gang) for at, gang in enumerate(gangs)])


def older(gang: Gang, seconds: int) -> Gang:
    """
    Give a gang some seconds later, when nothing but the time has changed.
    """
    if not seconds:
        return gang
    stale = gang.stale_since
    return replace(
        gang,
        tree=_older(gang.tree, seconds),
        age=gang.age + seconds,
        stale_since=None if stale is None else stale + seconds,
    )


def _older(tree: Tree, seconds: int) -> Tree:
    if not isinstance(tree, PodSet):
        children = tuple([_older(child, seconds) for child in tree.children])
        return replace(tree, children=children)
    pods = [
        Pod(
            pod.name,
            pod.phase,
            pod.node,
            pod.seconds + seconds,
            pod.uid,
            pod.devices,
            pod.tied,
        )
        if pod.phase in ON_A_NODE
        else pod
        for pod in tree.pods
    ]
    return replace(tree, pods=tuple(pods))
