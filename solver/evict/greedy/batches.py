"""
Lots: equal gangs that wait in a row are placed as one, since one by one takes long.
"""

from collections.abc import Sequence
from dataclasses import replace

from solver.problem.gang_state import Standing
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import gang_kind

_BATCH = "*batch"


def batch_kind(problem: Problem, unit: Unit) -> object:
    """
    Name what units must have in common to be placed as one; none where they never are.
    """
    state = unit.states[0]
    leaf = state.leaves[0]
    if len(unit.states) > 1 or len(state.leaves) > 1 or leaf.running or not unit.starts:
        return None
    if len(state.nodes) > 1 or leaf.pod_set.topology or leaf.pod_set.exclusive:
        return None
    return (gang_kind(problem.shapes, state), unit.band)


def batch_of(units: Sequence[Unit]) -> Unit:
    """
    See equal units as one gang that needs all pods that they need.
    """
    first = units[0].states[0]
    (leaf,) = first.leaves
    pods = tuple(
        pod for unit in units for pod in unit.states[0].leaves[0].pending[: leaf.need]
    )
    gang = replace(first.gang, name=f"{first.gang.name}{_BATCH}", mates=())
    whole = replace(leaf, minimum=len(pods) + leaf.counted, pending=pods)
    state = Standing(gang=gang, nodes=first.nodes, leaves=(whole,))
    return replace(units[0], states=(state,))
