"""
Room beside others wherever these are put: counted, as nobody knows their places yet.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from solver.problem.gang_state import Leaf, Standing, least_need
from solver.problem.node_room import Ints, num_fitting
from solver.problem.problem import Problem, Unit


def has_room_beside(problem: Problem, unit: Unit, placed: AbstractSet[str]) -> bool:
    """
    Tell whether a unit finds places however all others are placed before it.

    A pod of others takes at most as many places as its share of the unit's pod, rounded
    up.  Each domain has places to spare; all these together must be more than others
    can take, so that one domain is left with enough.  What cannot be counted is not.

    Pods that are ``placed`` have their places in that room already.
    """
    others = [one for one in problem.units if one.key != unit.key]
    pods = [
        (state, at, left)
        for one in others
        for state in one.states
        for at, leaf in enumerate(state.leaves)
        if (left := _left(state, leaf, placed))
    ]
    if not pods:
        return True
    need = least_need(unit.states[0], lambda _: 1)
    if need is None or not _is_counted(problem, unit, others):
        return False
    (state,) = unit.states
    request = _request(problem, state, 0)
    taken = sum(
        left * _most_taken(_request(problem, one, at), request)
        for one, at, left in pods
    )
    spare = np.maximum(0, _places(problem, state, need + taken) - need + 1)
    return bool(spare.sum() > taken)


def _left(state: Standing, leaf: Leaf, placed: AbstractSet[str]) -> int:
    """
    Count the pods of a leaf that wait for a place.
    """
    name = state.gang.namespace
    return sum(f"{name}/{pod.name}" not in placed for pod in leaf.pending)


def _is_counted(problem: Problem, unit: Unit, others: Sequence[Unit]) -> bool:
    """
    Tell whether places can be counted: one leaf, whole GPUs, no rules of neighbours.
    """
    if len(unit.states) > 1 or len(unit.states[0].leaves) > 1:
        return False
    if problem.room.parts is not None:
        return False
    state = unit.states[0]
    demands = [node.topology for node in state.nodes if node.topology is not None]
    if len(demands) > 1 or (demands and state.leaves[0].running):
        return False
    leaves = [x for one in (unit, *others) for s in one.states for x in s.leaves]
    return not any(leaf.pod_set.neighbours for leaf in leaves)


def _request(problem: Problem, state: Standing, at: int) -> Ints:
    shape = problem.shapes.of_leaf[state.key, at]
    return np.asarray(problem.shapes.requests[shape])


def _most_taken(theirs: Ints, ours: Ints) -> int:
    """
    Give how many places for pods of ours one pod of theirs can take on one node.
    """
    asked = np.flatnonzero(ours)
    return int(np.max(-(-theirs[asked] // ours[asked]), initial=0))


def _places(problem: Problem, state: Standing, enough: int) -> Ints:
    """
    Count the places in each domain; all nodes are one where no domain is asked for.
    """
    shape = problem.shapes.of_leaf[state.key, 0]
    counts = num_fitting(problem.room.now, problem.shapes.requests[shape])
    most = 1 if state.leaves[0].pod_set.exclusive else enough
    counts = np.where(problem.shapes.allowed[shape], np.minimum(counts, most), 0)
    demand = next((x.topology for x in state.nodes if x.topology is not None), None)
    if demand is None or demand.required is None:
        return np.array([counts.sum()])
    sums = problem.domains.cells(demand.topology, demand.required).sums(counts)
    return np.asarray(sums[1:], dtype=np.int64)
