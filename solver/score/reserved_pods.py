"""
What reserved pods count in the tiers of what is kept idle: more than bound ones could.
"""

import math
from collections.abc import Callable

from models.policy import TierName
from models.resources import Resources, num_gpus
from solver.devices.device_fragments import STEPS
from solver.problem.gang_state import least_need
from solver.problem.problem import Problem

_MOST_GPUS = 1_000
"""
More GPUs of one pod count as so many: sums of squares of a million must be numbers.
"""


def kept_by(problem: Problem, name: TierName) -> Callable[[Resources], int]:
    """
    Give what a reserved pod counts in a tier: more than any node it could have now.

    So nobody waits for others to leave to keep a node idle, and if somebody must, then
    those who need few GPUs.
    """
    room = problem.room
    if name == "packing":
        most = int(room.holes.max(initial=0)) ** 2
    else:
        gpus = (num_gpus(node.allocatable) for node in room.nodes)
        most = STEPS * max(gpus, default=0)

    def kept(requests: Resources) -> int:
        gpus = math.ceil(problem.gpus_of(requests) / room.pieces)
        return min(max(1, gpus), _MOST_GPUS) * (most + 1)

    return kept


def kept_by_all(problem: Problem, name: TierName) -> int:
    """
    Add up what all reserved pods count in a tier.
    """
    kept, places = kept_by(problem, name), problem.frozen.places
    return sum(
        kept(leaf.pod_set.requests) * len(hosts)
        for unit in problem.frozen.units
        for state in unit.states
        for leaf, hosts in zip(state.leaves, places[state.key], strict=True)
    )


def least_kept(problem: Problem) -> int:
    """
    Give what ``packing`` is at least where all start: who fits nowhere now is reserved.
    """
    kept, of_leaf, total = kept_by(problem, "packing"), problem.shapes.of_leaf, 0
    fits = [bool(row.any()) for row in problem.shapes.fits]
    states = [state for unit in problem.units if unit.starts for state in unit.states]
    for state in states:
        places = [
            len(leaf.pending) if leaf.pending and fits[of_leaf[state.key, i]] else 0
            for i, leaf in enumerate(state.leaves)
        ]
        prices = [kept(leaf.pod_set.requests) for leaf in state.leaves]
        if least_need(state, prices.__getitem__, places.__getitem__) is None:
            total += least_need(state, prices.__getitem__) or 0
    return total
