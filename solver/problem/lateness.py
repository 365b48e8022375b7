"""
Late gangs: those passed over for so long that a policy gives them more than others.
"""

from models.resources import num_gpus
from solver.problem.gang_state import Standing, least_need
from solver.problem.problem import Problem, Unit


def passed_over(unit: Unit) -> int:
    """
    Give how long a unit was passed over: of its gangs the one that was for longest.
    """
    return max(state.gang.passed_over for state in unit.states)


def is_late(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether a start counts in the tier of those who are late.
    """
    tier = problem.policy.late
    if tier is None or tier.after is None or not unit.starts:
        return False
    return passed_over(unit) >= tier.after and needs_gpus(unit, tier.gpus)


def is_apart(problem: Problem, unit: Unit) -> tuple[bool, bool]:
    """
    Tell whether a start is that of a late unit, and of the one that is asked for.
    """
    return is_late(problem, unit), unit.key == problem.asked


def late_value(problem: Problem, unit: Unit) -> int:
    """
    Give what a start counts in that tier: its least cores.
    """
    if not is_late(problem, unit):
        return 0
    return sum(problem.least_value[state.key] for state in unit.states)


def needs_gpus(unit: Unit, least: int | None) -> bool:
    """
    Tell whether a unit cannot start without so many GPUs; any unit where none is said.
    """
    return not least or unit_gpus(unit) >= least


def unit_gpus(unit: Unit) -> int:
    """
    Give the fewest GPUs with which a unit can start.
    """
    return sum(map(_gpus, unit.states))


def _gpus(state: Standing) -> int:
    prices = [num_gpus(leaf.pod_set.requests) for leaf in state.leaves]
    return least_need(state, lambda i: prices[i]) or 0
