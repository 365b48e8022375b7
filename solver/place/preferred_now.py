"""
Who is there of those that pods prefer to be near or apart from, as a step begins.
"""

import numpy as np

from models.gangs import leaf_of
from solver.place.draft import Draft
from solver.problem.leaving_pods import NOWHERE
from solver.problem.neighbours.preferred_pods import PreferredPods
from solver.problem.problem import Problem


def preferred_now(problem: Problem, *, placed: bool = True) -> PreferredPods | None:
    """
    Count who runs and stays, and who got a place before if ``placed``.

    None where nobody prefers anything, or it does not count.
    """
    if problem.preferred is None:
        return None
    found, frozen = problem.preferred.copy(), problem.frozen
    for one in (one for one in frozen.exits if one.host != NOWHERE):
        left = leaf_of(problem.gangs[one.gang], one.leaf)
        found.add(left.neighbours, np.array([one.host]), np.array([-1]))
    for table in (frozen.places, frozen.bound) if placed else ():
        for key, places in table.items():
            for leaf, hosts in zip(problem.states[key].leaves, places, strict=True):
                at = np.array(hosts, dtype=np.int64)
                found.add(leaf.pod_set.neighbours, at, np.ones_like(at))
    return found


def unmet(problem: Problem, draft: Draft, _tier: object = None) -> int:
    """
    Add up what all pods that get places lack of the neighbours that they prefer.
    """
    there = preferred_now(problem, placed=False)
    if there is None:
        return 0
    places = {**problem.frozen.places, **problem.frozen.bound, **draft.places}
    return there.unmet(
        (leaf.pod_set.neighbours, hosts)
        for key, found in places.items()
        for leaf, hosts in zip(problem.states[key].leaves, found, strict=True)
    )
