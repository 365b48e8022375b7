"""
Room in one domain: how much of a resource the best one has, and how much is needed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from models.why.reasons import Facts
from models.why.verdicts import Blocker, Verdict
from solver.explain.room_now import matching
from solver.problem.domains import Cells
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Ints, num_fitting
from solver.problem.problem import Problem, Unit
from solver.problem.running_domains import running_cells
from solver.problem.tree_cost import Need
from solver.why.worlds import offered


def in_one_domain(problem: Problem, unit: Unit, topology: str, level: str) -> Blocker:
    """
    Compare what must be in one domain of a level with what the best of them has.

    By amounts where these tell, else by the number of pods that have a place.
    """
    cells = problem.domains.cells(topology, level)
    if len(cells.names) == 1:
        facts: Facts = {"hint": f"; no node has the labels of a {level}"}
        return Blocker(rule=Verdict.TOPOLOGY, at=level, facts=facts)
    found = [
        one
        for state, at in _demands(unit, topology, level)
        for one in _of_node(problem, unit, state, at, cells, level)
    ]
    return max(found, key=_lack)


def _demands(unit: Unit, topology: str, level: str) -> Iterator[tuple[Standing, int]]:
    """
    Walk the tree nodes of which all pods must be in one domain of a level.
    """
    for state in unit.states:
        for at, node in enumerate(state.nodes):
            demand = node.topology
            if demand and (demand.topology, demand.required) == (topology, level):
                yield state, at


def _of_node(
    problem: Problem, unit: Unit, state: Standing, at: int, cells: Cells, level: str
) -> Iterator[Blocker]:
    """
    Walk what one tree node needs in one domain: each resource, and then places.
    """
    used = running_cells(problem, state, state.nodes[at], level)
    every = range(len(cells.names))
    may = np.isin(every, [*used] or every[1:])
    if len(used) > 1 or 0 in used:
        facts: Facts = {"hint": "; those that run are not in one"}
        yield Blocker(rule=Verdict.TOPOLOGY, at=level, facts=facts)
        return

    def least(prices: Sequence[int]) -> int:
        have = [len(leaf.pending) for leaf in state.leaves]
        return Need(state, prices, have, {}).least(at) or 0

    inside = matching(problem, unit)
    there = offered(problem.room)
    for column, resource in enumerate(problem.room.resources):
        needs = least([x.pod_set.requests.get(resource, 0) for x in state.leaves])
        free = _best(problem.room.now[:, column], inside, cells, may)
        most = _best(there[:, column], inside, cells, may)
        if needs:
            yield _entry(level, resource, needs, free, most)
    yield _entry(
        level,
        "pods",
        least([1] * len(state.leaves)),
        _places(problem, problem.room.now, state, at, cells, may),
        _places(problem, there, state, at, cells, may),
    )


def _entry(level: str, resource: str, needs: int, free: int, most: int) -> Blocker:
    return Blocker(
        rule=Verdict.TOPOLOGY,
        at=level,
        resource=resource,
        has=max(free, most),
        used=max(free, most) - free,
        needs=needs,
    )


def _lack(one: Blocker) -> tuple[bool, float]:
    """
    Order entries by how far they are from enough; amounts before places.
    """
    needs = float("inf") if one.facts else one.needs or 0
    short = needs > one.left
    return short and one.resource != "pods", needs / max(0.5, float(one.left))


def _best(amounts: Ints, inside: Bools, cells: Cells, may: Bools) -> int:
    sums = cells.sums(np.where(inside, amounts, 0).clip(min=0))
    return int(sums[may].max(initial=0))


def _places(
    problem: Problem,
    room: Ints,
    state: Standing,
    at: int,
    cells: Cells,
    may: Bools,
) -> int:
    """
    Count for how many of the pods that it needs a tree node has places in one domain.

    Leaves alike share theirs.
    """
    total, shapes, needs = np.zeros(len(cells.names)), problem.shapes, Counter[int]()
    for i in state.nodes[at].leaves:
        leaf = state.leaves[i]
        needs[shapes.of_leaf[state.key, i]] += leaf.need or len(leaf.pending)
    for shape, need in needs.items():
        counts = num_fitting(room, shapes.requests[shape]) * shapes.allowed[shape]
        if shapes.items[shape].exclusive:
            counts = np.minimum(counts, 1)
        total += np.minimum(cells.sums(counts), need)
    return int(total[may].max(initial=0))
