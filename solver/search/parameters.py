"""
Manners: parameters of the search under which different cases close at once.
"""

from dataclasses import dataclass

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model_helper import SatParameters

from solver.tuning import Search


@dataclass(frozen=True, slots=True)
class Manner:
    """
    One way to search: from a hint or not, presolved or not, and how to branch.

    Without ``branching`` the solver has its own way; else the relaxation leads it.
    """

    hinted: bool
    presolved: bool
    branching: SatParameters.SearchBranching | None = None

    def configure(self, solver: cp_model.CpSolver, *, many: bool) -> None:
        """
        Set the parameters in which manners differ, for a model of ``many`` variables.
        """
        parameters = solver.parameters
        parameters.cp_model_presolve = self.presolved
        if many:
            parameters.max_presolve_iterations = 1
        if self.branching is not None:
            parameters.search_branching = self.branching
            parameters.add_lp_constraints_lazily = False


STAYING = Manner(hinted=True, presolved=False)
DIVING = Manner(hinted=False, presolved=False, branching=cp_model.LP_SEARCH)
WEIGHING = Manner(hinted=False, presolved=False, branching=cp_model.PSEUDO_COST_SEARCH)
IMPROVING = Manner(hinted=True, presolved=True)
RELAXED = Manner(hinted=False, presolved=True, branching=cp_model.LP_SEARCH)

Lane = tuple[tuple[Manner, float], ...]


def passes(tuning: Search) -> tuple[tuple[float, tuple[float, ...]], ...]:
    """
    Give the part of the gap at which manners may stop, and their parts of the limit.
    """
    return (tuning.fine, tuning.first_pass), (1.0, tuning.second_pass)


def lanes_of(tuning: Search, variables: int) -> tuple[Lane, Lane]:
    """
    Give what each of two workers tries on a model with so many variables.
    """
    if variables > tuning.many_variables:
        return (
            ((DIVING, 0.6), (RELAXED, 0.4)),
            ((STAYING, 0.1), (WEIGHING, 0.4), (IMPROVING, 0.5)),
        )
    diving = (DIVING, WEIGHING, RELAXED)
    return (
        tuple(zip(diving, tuning.lane_of_diving, strict=True)),
        ((STAYING, 0.1), (IMPROVING, 0.9)),
    )
