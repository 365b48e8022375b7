"""
What a unit may use, and which resource it is shortest of.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solver.place.place_gang import place_gang
from solver.place.round_state import RoundState
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem, Unit
from solver.problem.when_empty.never_starts import needed

NEVER_SHORT = 2**60


def matching(problem: Problem, unit: Unit) -> Bools:
    """
    Tell of each node whether any pod of a unit may be there, whatever it has free.
    """
    return np.asarray(problem.shapes.allowed[_rows(problem, unit)].any(axis=0))


def fitting_nodes(problem: Problem, unit: Unit) -> Bools:
    """
    Tell of each node whether any pod of a unit fits there now.
    """
    return np.asarray(problem.shapes.fits[_rows(problem, unit)].any(axis=0))


def _rows(problem: Problem, unit: Unit) -> list[int]:
    return [
        problem.shapes.of_leaf[state.key, i]
        for state in unit.states
        for i in range(len(state.leaves))
    ]


def strain(problem: Problem, unit: Unit, left: Ints) -> int:
    """
    Find the resource of which a unit needs most of what is left.
    """
    best, most = 0, -1.0
    for column, resource in enumerate(problem.room.resources):
        needs = sum(needed(state, resource) for state in unit.states)
        share = needs / max(0.5, float(left[column]))
        if share > most:
            best, most = column, share
    return best


def places(work: RoundState, unit: Unit) -> bool:
    """
    Tell whether greedy finds places for a unit; they are given back.
    """
    mark = work.mark()
    done = all(place_gang(work, state) for state in unit.states)
    work.undo(mark)
    return done


class FreeSums:
    """
    What lies free on the nodes that a unit may use; added up once for equal nodes.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._free = problem.room.now.clip(min=0)
        self._known: dict[tuple[int, ...], Ints] = {}

    def of(self, unit: Unit) -> Ints:
        """
        Give the sum of each resource on matching nodes.
        """
        rows = tuple(sorted(set(_rows(self._problem, unit))))
        if rows not in self._known:
            nodes = matching(self._problem, unit)
            self._known[rows] = self._free[nodes].sum(axis=0)
        return self._known[rows]

    def lacks(self, unit: Unit) -> bool:
        """
        Tell whether matching nodes lack a resource that a unit needs, by their sums.
        """
        total = self.of(unit)
        return any(
            sum(needed(state, resource) for state in unit.states) > int(total[column])
            for column, resource in enumerate(self._problem.room.resources)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """
    What a unit needs of a limit, or of a quota that bounds non-preemptible work.
    """

    queue: str
    resource: str
    needs: int
    left: int
    limit: int
    used: int
    fixed: bool


def limits_of(problem: Problem, unit: Unit) -> Iterator[Bound]:
    """
    Walk the limits and quotas that bind a unit, on all queues above its gangs.
    """
    queues = problem.queues
    for name, states in _by_queue(problem, unit).items():
        hard = [state for state in states if not state.gang.preemptible]
        for resource in queues.named:
            rule = queues.queues[name].rule(resource)
            checks = (
                (states, rule.limit, queues.limit_left, queues.running, False),
                (hard, rule.quota, queues.quota_left, queues.fixed, True),
            )
            for some, limit, left_of, table, fixed in checks:
                needs = sum(needed(state, resource) for state in some)
                left = left_of(name, resource)
                if needs and limit is not None and left is not None:
                    yield Bound(
                        queue=name,
                        resource=resource,
                        needs=needs,
                        left=left,
                        limit=limit,
                        used=table.get(name, {}).get(resource, 0),
                        fixed=fixed,
                    )


def _by_queue(problem: Problem, unit: Unit) -> dict[str, list[Standing]]:
    """
    List the queues that a unit is in, each with the gangs below it.
    """
    found: dict[str, list[Standing]] = {}
    for state in unit.states:
        for name in problem.queues.path(state.gang.queue):
            found.setdefault(name, []).append(state)
    return found
