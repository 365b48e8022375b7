"""
Gangs that had to go before and wait: nobody leaves for them, so they need free room.
"""

from models.gangs import is_remembered
from solver.place.in_pieces import is_in_pieces
from solver.problem.problem import Problem, Unit


def was_evicted(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether a unit had to go before: then nobody leaves for it.
    """
    forgotten_after = problem.policy.waiting.protect_after
    return unit.starts and any(
        is_remembered(state.gang, forgotten_after) for state in unit.states
    )


def some_may_follow(problem: Problem) -> bool:
    """
    Tell whether some unit has room for which nobody leaves: it may follow a step.
    """
    return any(
        was_evicted(problem, unit) and not is_in_pieces(problem, unit)
        for unit in problem.units
    )
