"""
Small models solved: to the end, or not at all.
"""

from models.errors import PhalanxError
from solver.effort.cp_sat import cp_model

_SEARCH_LIMIT = 60.0


class UndecidedError(PhalanxError):
    """
    The small model was too large to decide within its limit.
    """


def solved(model: cp_model.CpModel) -> cp_model.CpSolver | None:
    """
    Give the best answer of a model, or none where it has none.

    What is done to a model before it is searched takes longer than these do.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_presolve_iterations = 1
    solver.parameters.symmetry_level = 0
    solver.parameters.max_deterministic_time = _SEARCH_LIMIT
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status != cp_model.OPTIMAL:
        raise UndecidedError(f"the small model ended {solver.status_name(status)}")
    return solver
