"""
Pods that lie well only beside others: whose places do not hold once those are gone.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from models.gangs import leaf_of, where_moved
from models.neighbours import Neighbours
from models.nodes import NodeDemand
from solver.place.draft import Draft
from solver.place.round_state import around_now, leave_and_move
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.neighbours.pods_around import PodsAround, come, looks_for_others
from solver.problem.node_room import Places
from solver.problem.problem import Problem

_Pod = tuple[str, Neighbours, NodeDemand, int]


def stranded(
    problem: Problem,
    placed: Mapping[str, Mapping[int, Iterable[int]]],
    around: PodsAround | None,
    moved: Iterable[_Pod] = (),
) -> set[str]:
    """
    Name the gangs of which pods could not come to their places in any order tried.

    Who looks for its like comes first, then who looks for nobody, then all others.
    Who only needs volumes comes at once where there is one for every claim.
    """
    if around is None:
        return set()
    pods = [*moved]
    for key, leaves in sorted(placed.items()):
        for leaf, hosts in sorted(leaves.items()):
            shape = problem.shapes.items[problem.shapes.of_leaf[key, leaf]]
            said = shape.neighbours
            pods += [(key, said, shape.demand, host) for host in hosts if said]
    claiming: dict[Neighbours, list[int]] = {}
    for _, said, _, host in pods:
        if not said.meets_others:
            claiming.setdefault(said, []).append(host)
    if claiming:
        found = around.copy()
        lost = _lost(found, [pod for pod in pods if pod[1].meets_others])
        for said, some in claiming.items():
            found.volumes.add(said, *np.unique(some, return_counts=True))
        if not found.volumes.lacking:
            return lost
    return _lost(around, pods)


def _lost(around: PodsAround, pods: list[_Pod]) -> set[str]:
    rest = _come(around, [pod for pod in pods if pod[1].near])
    rest = _come(around, [pod for pod in pods if not pod[1].near]) + rest
    return {key for key, _, _, _ in _come(around, rest)}


def strands_reserved(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether some that are reserved, or moved, lack who was to start near them.

    So too of those that a draft starts while others leave for it.
    """
    frozen = problem.frozen
    exits = (*frozen.exits, *draft.exits)
    if problem.around is None or not (frozen.places or exits):
        return False
    around = problem.around.afterwards()
    leave_and_move(problem, around, exits, gone=True, looking=False)
    moved = [*_moved(problem, exits)]
    placed = {**frozen.places, **frozen.bound, **draft.places}
    lost = stranded(problem, by_leaf(placed), around, moved)
    named = {*frozen.places, *(key for key, _, _, _ in moved)}
    return not lost.isdisjoint(named | (draft.places.keys() if draft.exits else set()))


def _moved(problem: Problem, exits: Iterable[Exit]) -> Iterator[_Pod]:
    """
    Walk the pods that are moved and look for others, with their new nodes.
    """
    for one in exits:
        leaf = where_moved(leaf_of(problem.gangs[one.gang], one.leaf))
        if one.target != NOWHERE and looks_for_others(leaf.neighbours):
            yield one.gang, leaf.neighbours, leaf.demand, one.target


def with_company(
    problem: Problem, draft: Draft, keys: frozenset[str]
) -> frozenset[str]:
    """
    Add to some starts of a draft those they must be near, and leave out who lacks them.
    """
    units = {s.key: {x.key for x in u.states} for u in problem.units for s in u.states}
    left_out: set[str] = set()
    while True:
        placed = {key: draft.places[key] for key in keys}
        lost = stranded(problem, by_leaf(placed), around_now(problem)) & keys
        if not lost:
            return keys
        wanted = {x.near.pods for key in lost for x in _said(problem, key) if x.near}
        more = {
            key
            for key in draft.places.keys() - keys - left_out
            if any(wanted & {*x.selected} for x in _said(problem, key))
        }
        found = {mate for key in more or lost for mate in units[key]}
        left_out |= set() if more else found
        keys = keys | found if more else keys - found


def _said(problem: Problem, key: str) -> Iterator[Neighbours]:
    return (leaf.pod_set.neighbours for leaf in problem.states[key].leaves)


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
            there = np.arange(len(around.domains.nodes)) == host
            if around.may_be(said, demand, there)[host]:
                come(around, said, demand, np.array([host]), one)
                pods.remove(pod)
                moved = True
    return pods
