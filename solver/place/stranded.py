"""
Pods that lie well only beside others: whose places do not hold once those are gone.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from models.neighbours import Neighbours
from models.nodes import NodeDemand
from solver.place.draft import Draft
from solver.place.round_state import leave_and_move
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Places
from solver.problem.problem import Problem

_Pod = tuple[str, Neighbours, NodeDemand, int]


def stranded(
    problem: Problem,
    placed: Mapping[str, Mapping[int, Iterable[int]]],
    around: PodsAround | None,
) -> set[str]:
    """
    Name the gangs of which pods could not come to their places in any order tried.

    Who looks for its like comes first, then who looks for nobody, then all others.
    """
    if around is None:
        return set()
    pods: list[_Pod] = []
    for key, leaves in sorted(placed.items()):
        for leaf, hosts in sorted(leaves.items()):
            shape = problem.shapes.items[problem.shapes.of_leaf[key, leaf]]
            said = shape.neighbours
            pods += [(key, said, shape.demand, host) for host in hosts if said]
    near = [pod for pod in pods if pod[1].near]
    rest = _come(around, near)
    plain = [pod for pod in pods if not pod[1].near]
    rest = _come(around, plain) + rest
    return {key for key, _, _, _ in _come(around, rest)}


def strands_reserved(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether some that have their places reserved lack who was to start near them.
    """
    frozen = problem.frozen
    if problem.around is None or not frozen.places:
        return False
    around = problem.around.afterwards()
    leave_and_move(problem, around, gone=True)
    placed = {**frozen.places, **frozen.bound, **draft.places}
    return not stranded(problem, by_leaf(placed), around).isdisjoint(frozen.places)


def by_leaf(placed: Mapping[str, Places]) -> dict[str, dict[int, tuple[int, ...]]]:
    """
    Give the nodes of gangs by the numbers of their leaves.
    """
    return {key: dict(enumerate(places)) for key, places in placed.items()}


def _come(around: PodsAround, pods: list[_Pod]) -> list[_Pod]:
    """
    Let pods come as long as one may; give those that may not.
    """
    one = np.array([1])
    moved = True
    while moved:
        moved = False
        for pod in list(pods):
            _, said, demand, host = pod
            if around.may_be(said, demand)[host]:
                around.add(said, np.array([host]), one, comes=True)
                pods.remove(pod)
                moved = True
    return pods
