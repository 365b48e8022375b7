"""
Roles in order: a leaf that comes after another waits for that one's minimum.
"""

from collections.abc import Mapping

from solver.effort.cp_sat import cp_model
from solver.encode.variables import Count
from solver.problem.gang_state import Standing


def add_role_order(
    model: cp_model.CpModel, state: Standing, active: Mapping[int, Count]
) -> None:
    """
    Ensure that a leaf gets no pod before each leaf it comes after has its minimum.
    """
    node_of = {node.leaf: at for at, node in enumerate(state.nodes) if node.leaf >= 0}
    for i, leaf in enumerate(state.leaves):
        here = active.get(node_of[i])
        if here is None or here.variable is None:
            continue
        for first in leaf.after:
            if state.leaves[first].need == 0:
                continue
            earlier = active.get(node_of[first])
            if earlier is None or earlier.variable is None:
                model.add(here.variable == 0)
            else:
                model.add_implication(here.variable, earlier.variable)
