"""
What lies free in pieces: for how many pods of each leaf there is room as it is.
"""

import numpy as np

from models.nodes import HOSTNAME
from models.why.reasons import counted
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, num_fitting
from solver.problem.problem import Problem, Unit
from solver.problem.running_domains import running_cells

_MOST_SHOWN = 4


def pieces(problem: Problem, unit: Unit) -> str:
    """
    Say of each leaf for how many of its needed pods there is room, the scarce first.
    """
    found: list[tuple[bool, str]] = []
    for state in unit.states:
        for i, leaf in enumerate(state.leaves):
            if not leaf.need:
                continue
            room, where = _room(problem, state, i, problem.shapes.fits)
            name = leaf.path if len(unit.states) == 1 else f"{state.key} {leaf.path}"
            of_leaf = f" of {name.strip()}" if name else ""
            its = "" if name else "its "
            needed = f"{its}{counted(leaf.need, 'pod')}{of_leaf}"
            text = f"{min(room, leaf.need)} of {needed}{where}"
            found.append((room >= leaf.need, text))
    shown = [text for _, text in sorted(found, key=lambda item: item[0])]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[:_MOST_SHOWN], f"{len(shown) - _MOST_SHOWN} more such leaves"]
    if not shown or (len(shown) == 1 and found[0][0]):
        return "none of the ways in which it could start"
    is_rigid = all(state.rigid for state in unit.states)
    if (all if is_rigid else any)(enough for enough, _ in found):
        shown[-1] += f", but not for {'all' if is_rigid else 'enough'} of them at once"
    return ", ".join(shown)


def is_in_pieces(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether a leaf that is needed lacks room, whoever is around.
    """
    return any(
        leaf.need > _room(problem, state, i, problem.shapes.allowed)[0]
        for state in unit.states
        if state.rigid
        for i, leaf in enumerate(state.leaves)
    )


def _room(problem: Problem, state: Standing, at: int, may: Bools) -> tuple[int, str]:
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
