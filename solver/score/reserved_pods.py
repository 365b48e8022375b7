"""
What reserved pods count in the tiers of what is kept idle: more than bound ones could.
"""

import math

from models.policy import TierName
from models.resources import Resources, num_gpus
from solver.devices.device_fragments import STEPS
from solver.problem.problem import Problem


def kept_by(problem: Problem, name: TierName, requests: Resources) -> int:
    """
    Give what a reserved pod counts in a tier: more than any node it could have now.

    So nobody waits for others to leave to keep a node idle, and if somebody must, then
    those who need few GPUs.
    """
    room = problem.room
    if name == "packing":
        most = int(room.holes.max(initial=0)) ** 2
    else:
        most = STEPS * max(num_gpus(node.allocatable) for node in room.nodes)
    gpus = math.ceil(problem.gpus_of(requests) / room.pieces)
    return max(1, gpus) * (most + 1)


def kept_by_all(problem: Problem, name: TierName) -> int:
    """
    Add up what all reserved pods count in a tier.
    """
    places = problem.frozen.places
    return sum(
        kept_by(problem, name, leaf.pod_set.requests) * len(hosts)
        for unit in problem.frozen.units
        for state in unit.states
        for leaf, hosts in zip(state.leaves, places[state.key], strict=True)
    )
