"""
Units cut to the pods that they need to start.
"""

from dataclasses import replace

from solver.problem.gang_state import Standing
from solver.problem.problem import Unit


def cut_to_core(unit: Unit) -> Unit:
    """
    Leave out of a unit what it does not need to start, where there is no choice.
    """
    states = tuple(_core_only(state) for state in unit.states)
    return unit if states == unit.states else replace(unit, states=states)


def _core_only(state: Standing) -> Standing:
    """
    Leave out pods that are not needed, where there is no choice.
    """
    spare = any(len(leaf.pending) > leaf.need for leaf in state.leaves)
    if not (state.rigid and spare):
        return state
    leaves = tuple(
        replace(leaf, pending=leaf.pending[: leaf.need]) for leaf in state.leaves
    )
    return replace(state, leaves=leaves)
