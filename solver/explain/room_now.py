"""
What a unit may use, and which resource it is shortest of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.resources import MODEL_MARK
from solver.place.place_gang import place_unit
from solver.place.round_state import RoundState
from solver.problem.gang_state import Standing, least_need
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Bools, Floats, Ints
from solver.problem.problem import Problem, Unit
from solver.problem.when_empty.never_starts import needed

NEVER_SHORT = 2**60
Level = tuple[str, str]
"""
A topology and one of its levels.
"""


def matching(problem: Problem, unit: Unit) -> Bools:
    """
    Tell of each node whether any pod of a unit may be there, whatever it has free.
    """
    return _anywhere(problem, unit, problem.shapes.allowed)


def fitting_nodes(problem: Problem, unit: Unit) -> Bools:
    """
    Tell of each node whether any pod of a unit fits there now.
    """
    return _anywhere(problem, unit, problem.shapes.fits)


def _anywhere(problem: Problem, unit: Unit, table: Bools) -> Bools:
    """
    Join the nodes of a unit's shapes, without those outside the domains that it needs.
    """
    found = np.zeros(table.shape[1], dtype=bool)
    for row, levels in rows_of(problem, unit):
        inside = [problem.domains.cells(*level).of_node > 0 for level in levels]
        found |= np.logical_and.reduce([table[row], *inside])
    return found


def rows_of(problem: Problem, unit: Unit) -> set[tuple[int, frozenset[Level]]]:
    """
    List the shapes of a unit's leaves, each with the levels of which it needs a domain.
    """
    return {
        (
            problem.shapes.of_leaf[state.key, i],
            frozenset(
                (node.topology.topology, node.topology.required)
                for node in state.nodes
                if node.topology and node.topology.required and i in node.leaves
            ),
        )
        for state in unit.states
        for i in range(len(state.leaves))
    }


def strain(problem: Problem, unit: Unit, left: Ints) -> tuple[int, str, int]:
    """
    Find the resource of which a unit needs most of what is left, and how much of it.

    Where all GPUs left are of the model that it may have, it is those of the model.
    Of a tree with a choice it is the way that needs least of what is left.
    """
    resources = problem.room.resources
    have = np.maximum(0.5, left.astype(float))
    ways = [(state, _prices(problem, state, have)) for state in unit.states]
    needs = [sum(_needed_so(*way, name) for way in ways) for name in resources]
    marked = [MODEL_MARK in resource for resource in resources]
    column = max(range(len(needs)), key=lambda at: (needs[at] / have[at], marked[at]))
    return column, resources[column], needs[column]


def _prices(problem: Problem, state: Standing, have: Floats) -> list[int]:
    """
    Price a pod of each leaf by the most of what is left that it needs of any resource.

    No two ways cost the same: the last digits count the pods of each leaf.
    """
    digit = 1 + max((len(leaf.pending) for leaf in state.leaves), default=0)
    last = digit ** len(state.leaves)
    prices = []
    for at in range(len(state.leaves)):
        row = problem.shapes.requests[problem.shapes.of_leaf[state.key, at]]
        worst = float((row / have).max(initial=0.0))
        prices.append(round(worst * 1e6) * last + digit**at)
    return prices


def _needed_so(state: Standing, prices: Sequence[int], resource: str) -> int:
    """
    Give how much of a resource a gang needs in the way with the least price.
    """
    asked = [leaf.pod_set.requests.get(resource, 0) for leaf in state.leaves]
    if state.rigid or not any(asked):
        return needed(state, resource)
    pods = [len(leaf.pending) for leaf in state.leaves]
    most = 1 + sum(a * n for a, n in zip(asked, pods, strict=True))
    cost = least_need(state, lambda at: prices[at] * most + asked[at])
    return 0 if cost is None else cost % most


def places(work: RoundState, unit: Unit) -> bool:
    """
    Tell whether greedy finds places for a unit; they are given back.
    """
    mark = work.mark()
    done = place_unit(work, unit)
    work.undo(mark)
    return done


def places_beside(work: RoundState, unit: Unit, around: PodsAround | None) -> bool:
    """
    Tell whether greedy would find places for a unit if others were around it.
    """
    there, work.around = work.around, around
    done = places(work, unit)
    work.around = there
    return done


class FreeSums:
    """
    What lies free on the nodes that a unit may use; added up once for equal nodes.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._free = problem.room.now.clip(min=0)
        self._known: dict[object, Ints] = {}

    def of(self, unit: Unit) -> Ints:
        """
        Give the sum of each resource on matching nodes.
        """
        rows = frozenset(rows_of(self._problem, unit))
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
    member: str


def limits_of(problem: Problem, unit: Unit) -> Iterator[Bound]:
    """
    Walk the limits and quotas that bind a unit, on all queues above its gangs.
    """
    return (bound for bound in bounds_of(problem, unit) if bound.needs)


def bounds_of(problem: Problem, unit: Unit) -> Iterator[Bound]:
    """
    Walk also those of which a tree with a choice may need nothing.
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
                asks = any(_asks(state, resource) for state in some)
                if asks and limit is not None and left is not None:
                    yield Bound(
                        queue=name,
                        resource=resource,
                        needs=needs,
                        left=left,
                        limit=limit,
                        used=table.get(name, {}).get(resource, 0),
                        fixed=fixed,
                        member=some[0].gang.queue,
                    )


def _asks(state: Standing, resource: str) -> bool:
    return any(
        leaf.pending and leaf.pod_set.requests.get(resource) for leaf in state.leaves
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
