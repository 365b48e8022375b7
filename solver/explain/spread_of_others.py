"""
Who is spread and starts first: how many pods may come beside it, by counting.
"""

import numpy as np

from solver.problem.gang_state import Standing, least_need
from solver.problem.node_room import Ints, num_fitting
from solver.problem.problem import Problem, Unit


def crowds_out(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether those that came and are spread leave a unit too few places.

    It is never told where there are enough: of each leaf the most is counted that one
    rule of these leaves, with each pod alone on its node, and with all pods of the unit
    that fit counted for the domain with the fewest, which lets the others take more.
    """
    around = problem.around
    if around is None:
        return False
    fits = {
        (state.key, at): _fitting(problem, state, at)
        for state in unit.states
        for at in range(len(state.leaves))
    }
    every = np.sum([*fits.values()], axis=0)

    def most(state: Standing, at: int) -> int:
        leaf, own = state.leaves[at].pod_set, fits[state.key, at]
        return around.spread.most(leaf.neighbours, leaf.demand, own, every - own)

    return any(
        least_need(state, lambda _: 1, lambda at, state=state: most(state, at)) is None  # type: ignore[misc]
        for state in unit.states
    )


def _fitting(problem: Problem, state: Standing, at: int) -> Ints:
    """
    Count the pods of a leaf that fit on each node.
    """
    shape = problem.shapes.of_leaf[state.key, at]
    counts = num_fitting(problem.room.now, problem.shapes.requests[shape])
    pending = len(state.leaves[at].pending)
    return np.where(problem.shapes.fits[shape], np.minimum(counts, pending), 0)
