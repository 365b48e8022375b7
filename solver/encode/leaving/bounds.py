"""
Rights: what reclaim and preempt may take stays within what queues and bands allow.
"""

from collections.abc import Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.leaving.evicted_units import units
from solver.encode.leaving.preempt_bound import add_preempt
from solver.encode.leaving.reclaim_bound import Reclaim
from solver.encode.leaving.starts_asked import starts_of
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import TypeVars
from solver.problem.problem import Problem


def add_rights(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
) -> None:
    """
    Ensure that reclaim and preempt stay within what queues and bands allow.
    """
    starts = starts_of(model, problem, types)
    Reclaim(model, problem, leaving, starts).add()
    add_preempt(model, list(units(leaving, "preempt")), starts)
