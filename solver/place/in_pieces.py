"""
Room in pieces: how many pods of a leaf have a place now, wherever the others are.
"""

import numpy as np

from models.nodes import HOSTNAME
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, num_fitting
from solver.problem.problem import Problem, Unit
from solver.problem.running_domains import running_cells


def is_in_pieces(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether a leaf that is needed lacks room, whoever is around.
    """
    return any(
        leaf.need > room_of_leaf(problem, state, i, problem.shapes.allowed)[0]
        for state in unit.states
        if state.rigid
        for i, leaf in enumerate(state.leaves)
    )


def room_of_leaf(
    problem: Problem, state: Standing, at: int, may: Bools
) -> tuple[int, str]:
    """
    Count the pods of one leaf that fit now, and say where if they must be together.
    """
    shape = problem.shapes.of_leaf[state.key, at]
    counts = num_fitting(problem.room.now, problem.shapes.requests[shape]) * may[shape]
    leaf = state.leaves[at].pod_set
    is_alone = leaf.exclusive or leaf.neighbours.one_in_each(HOSTNAME)
    if is_alone:
        counts = np.minimum(counts, 1)
    alone = " with a host each" if is_alone else ""
    best, where = int(counts.sum()), alone
    for node in state.nodes:
        demand = node.topology
        if demand is None or demand.required is None or at not in node.leaves:
            continue
        level = demand.required
        cells = problem.domains.cells(demand.topology, level)
        used = running_cells(problem, state, node, level)
        totals = cells.sums(counts)
        some = [*used] or range(1, len(totals))
        room = 0 if 0 in some or len(used) > 1 else int(totals[some].max(initial=0))
        if room < best:
            which = "where its pods run" if used else f"in one {level}"
            best, where = room, f"{alone} {which}"
    return best, where
