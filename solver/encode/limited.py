"""
Solvers for small questions with a yes or a no, within what a round may use up.
"""

from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model

LEAST = 0.001
"""
A solver needs some time to say that it has none, in deterministic units.
"""


def bare_solver() -> cp_model.CpSolver:
    """
    Make a solver with one worker that leaves the signals of the process alone.

    Else it takes the interrupt over, and leaves it to nobody when it is done.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    return solver


def limited_solver(budget: Budget, most: float) -> cp_model.CpSolver:
    """
    Set a solver up that uses at most so many units, and no more than is left.
    """
    solver = bare_solver()
    parameters = solver.parameters
    if budget.limits.seconds is None:
        most = min(most, budget.left)
    else:
        parameters.max_time_in_seconds = max(LEAST, budget.left)
    parameters.max_deterministic_time = max(LEAST, most)
    return solver
