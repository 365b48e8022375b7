"""
Partitions of Koordinator: the sets of a node's GPUs that are linked with one another.

A Device object lists them in an annotation; for some models they are known.  A pod that
gets GPUs whole gets such a set where one is free, and no other where that is a must.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from adapters.kube.objects.fields import parsed_json

TABLE = "scheduling.koordinator.sh/gpu-partitions"
POLICY = "node.koordinator.sh/gpu-partition-policy"
_MODEL = "node.koordinator.sh/gpu-model"
_VENDOR = "node.koordinator.sh/gpu-vendor"
_HOPPER = frozenset({"H100", "H800", "H20"})
_MOST = 1_000
Text = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GpuSet:
    """
    GPUs by their numbers that are linked; a higher score says that they are better so.
    """

    numbers: frozenset[int]
    score: int = 1


@dataclass(frozen=True)
class Partitions:
    """
    The sets of a node; ``must`` says that whole GPUs are given in no other ones.
    """

    sets: tuple[GpuSet, ...] = ()
    must: bool = False
    problem: str = ""

    @cached_property
    def by_size(self) -> dict[int, tuple[GpuSet, ...]]:
        """
        Give the sets of each size, the smallest first.
        """
        sizes = sorted({len(one.numbers) for one in self.sets})
        return {
            size: tuple(one for one in self.sets if len(one.numbers) == size)
            for size in sizes
        }

    def num_free(self, size: int, free: Collection[int]) -> int:
        """
        Count the sets of a size of which all is free.
        """
        return sum(one.numbers.issubset(free) for one in self.by_size.get(size, ()))

    def choose(self, count: int, free: Collection[int]) -> tuple[int, ...] | None:
        """
        Choose a free set for a pod: the best one, that leaves most of larger ones free.

        Nothing where no set is free; what is left over counts for the largest first.
        """
        found = [
            one for one in self.by_size.get(count, ()) if one.numbers.issubset(free)
        ]
        if not found:
            return None
        larger = [size for size in reversed(self.by_size) if size > count]

        def rank(one: GpuSet) -> tuple[int, list[int], list[int]]:
            left = {*free} - one.numbers
            kept = [self.num_free(size, left) for size in larger]
            return one.score, kept, sorted(one.numbers, reverse=True)

        return tuple(sorted(max(found, key=rank).numbers))


def partitions_of(
    annotations: Text, labels: Text, minors: Collection[int]
) -> Partitions | None:
    """
    Read the table of a Device object with some minors; no sets where it has none.

    Nothing where it says nothing at all.
    """
    text, must = annotations.get(TABLE), _is_must(labels)
    if not isinstance(text, str) or not text:
        return Partitions(must=True) if must else None
    rows = _rows(parsed_json(text))
    return _checked(rows, minors, must=must) if rows else Partitions(must=must)


def known_partitions(
    labels: Text, minors: Collection[int], *, must: bool = False
) -> Partitions | None:
    """
    Give what is known of the model of a node whose Device object has no table.
    """
    must = must or _is_must(labels)
    is_hopper = labels.get(_MODEL) in _HOPPER
    if labels.get(_VENDOR, "") not in {"", "nvidia"} or not is_hopper:
        what = f"label {POLICY}: nobody says which of its GPUs are linked"
        return Partitions(must=True, problem=what) if must else None
    rows = [
        (tuple(range(first, first + size)), 1)
        for size in (1, 2, 4, 8)
        for first in range(0, 8, size)
    ]
    return _checked(rows, minors, must=must)


def _is_must(labels: Text) -> bool:
    return labels.get(POLICY) == "Honor"


_Row = tuple[tuple[int, ...], int]


def _rows(table: object) -> list[_Row] | None:
    """
    Read a table: of each number of GPUs a list of sets.
    """
    if not isinstance(table, dict):
        return None
    found: list[_Row] = []
    for size, listed in table.items():
        for raw in listed if isinstance(listed, list) else (None,):
            match raw:
                case {"minors": list(minors), "allocationScore": int(score)}:
                    row = tuple(one for one in minors if isinstance(one, int))
                case {"minors": list(minors)}:
                    row, score = tuple(x for x in minors if isinstance(x, int)), 0
                case _:
                    return None
            if str(len({*row})) != size or len(row) < len(minors):
                return None
            found.append((row, score))
    return found if len(found) <= _MOST else None


def _checked(
    rows: Collection[_Row], minors: Collection[int], *, must: bool
) -> Partitions:
    """
    Give the sets of GPUs that are there; each is known by its place among the minors.
    """
    number = {minor: at for at, minor in enumerate(sorted(minors))}
    sets = {
        frozenset(number[one] for one in row): score
        for row, score in rows
        if all(one in number for one in row)
    }
    made = Partitions(tuple(GpuSet(row, score) for row, score in sets.items()), must)
    problem = next(_not_nested(made), "") if must else ""
    return Partitions(made.sets, must, problem)


def _not_nested(partitions: Partitions) -> Iterator[str]:
    """
    Find where sets overlap, or a set is not made up of sets of the next smaller size.
    """
    for rows in partitions.by_size.values():
        union = frozenset[int]().union(*(one.numbers for one in rows))
        if len(union) < sum(len(one.numbers) for one in rows):
            yield "sets of GPUs that overlap are not planned"
    for small, large in pairwise(partitions.by_size.values()):
        for one in large:
            within = [x.numbers for x in small if x.numbers & one.numbers]
            if frozenset[int]().union(*within) != one.numbers:
                yield "sets of GPUs that are not unions of smaller ones are not planned"
