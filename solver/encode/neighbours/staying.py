"""
Who stays: of those that are there already, less those that a step lets leave.

Sums are per domain of a topology key.  Where a variable lets pods leave several domains
at once, its pods count as gone where others would be apart from them, and as staying
where others would be near to them, so that the model stays a relaxation.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.gangs import leaf_of
from models.neighbours import Neighbours
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Linear, Var
from solver.evict.victims import Victim
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Ints


@dataclass(frozen=True, slots=True)
class _LeavingPods:
    """
    So many pods of a kind leave one of some nodes with each unit of a variable.
    """

    said: Neighbours
    stays: bool
    number: int
    nodes: tuple[int, ...]
    variable: Var
    most: int


@dataclass(slots=True)
class Staying:
    """
    Who is there when a step begins, and who leaves in it.
    """

    around: PodsAround
    leaving: Sequence[_LeavingPods] = field(default_factory=list)

    def sums(
        self,
        key: str,
        row: Ints | None,
        is_meant: Callable[[Neighbours], bool],
        *,
        relied_on: bool = False,
        counting: Collection[int] | None = None,
    ) -> "DomainSums":
        """
        Count who stays of those in a row, per domain of a key, on nodes that count.
        """
        found = DomainSums(row)
        cells = self.around.domains.of(key)
        for one in self.leaving:
            if not is_meant(one.said) or (relied_on and not one.stays):
                continue
            nodes = [n for n in one.nodes if counting is None or n in counting]
            found.is_exact &= len(nodes) in {0, len(one.nodes)}
            where = np.unique(cells[nodes]).tolist()
            found.is_exact &= len(where) < 2
            for cell in where:
                if cell >= 0 and len(where) == 1:
                    found.of(cell).add(one.variable, -one.number, one.most)
                elif cell >= 0 and not relied_on:
                    found.of(cell).constant -= one.number * one.most
        return found


class DomainSums:
    """
    How many stay in each domain; ``is_exact`` where no variable reaches over several.
    """

    def __init__(self, row: Ints | None) -> None:
        self._row = row
        self._sums: dict[int, Linear] = {}
        self.is_exact = True

    def of(self, cell: int) -> Linear:
        """
        Give the sum of one domain.
        """
        there = 0 if self._row is None else int(self._row[cell])
        return self._sums.setdefault(cell, Linear(there))


def staying(around: PodsAround, leaving: Leaving) -> Staying:
    """
    Gather who leaves by which variable.
    """
    stale = around.stale
    return Staying(around, [*_of_groups(leaving, stale), *_of_crowds(leaving, stale)])


def _of_groups(leaving: Leaving, stale: frozenset[str]) -> Iterator[_LeavingPods]:
    for (g, o), taken in leaving.taken.items():
        group = leaving.conversion.groups[g]
        for column, count in enumerate(group.options[o].taken):
            if count:
                (victim, *_) = group.column_of(leaving.victims, group.nodes[0], column)
                stays = victim.gang.key not in stale
                yield from _of_thing(victim, group.nodes, taken, count, stays=stays)


def _of_crowds(leaving: Leaving, stale: frozenset[str]) -> Iterator[_LeavingPods]:
    victims = leaving.victims
    for c, crowded in enumerate(leaving.conversion.crowded_nodes):
        for column, account in enumerate(crowded.accounts):
            here = victims.alike(crowded.node, account, crowded.pieces[column])
            for literal, victim in zip(leaving.crowded[c, column], here, strict=True):
                stays = victim.gang.key not in stale
                yield from _of_thing(victim, (crowded.node,), literal, 1, stays=stays)


def _of_thing(
    victim: Victim, nodes: tuple[int, ...], variable: Var, count: int, *, stays: bool
) -> Iterator[_LeavingPods]:
    kinds = Counter(leaf_of(victim.gang, at).neighbours for at, _ in victim.pods)
    for said, number in kinds.items():
        yield _LeavingPods(said, stays, number * count, nodes, variable, len(nodes))
