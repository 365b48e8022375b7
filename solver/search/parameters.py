"""
Manners: parameters of the search under which different cases close at once.
"""

from dataclasses import dataclass

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model_helper import SatParameters


@dataclass(frozen=True, slots=True)
class Manner:
    """
    One way to search: from a hint or not, presolved or not, and how to branch.

    Without ``branching`` the solver has its own way; else the relaxation leads it.
    """

    hinted: bool
    presolved: bool
    branching: SatParameters.SearchBranching | None = None

    def configure(self, solver: cp_model.CpSolver, variables: int) -> None:
        """
        Set the parameters in which manners differ, for a model with so many variables.
        """
        parameters = solver.parameters
        parameters.cp_model_presolve = self.presolved
        if variables > MANY:
            parameters.max_presolve_iterations = 1
        if self.branching is not None:
            parameters.search_branching = self.branching
            parameters.add_lp_constraints_lazily = False


DIVING = Manner(hinted=False, presolved=False, branching=cp_model.LP_SEARCH)
WEIGHING = Manner(hinted=False, presolved=False, branching=cp_model.PSEUDO_COST_SEARCH)
IMPROVING = Manner(hinted=True, presolved=True)
RELAXED = Manner(hinted=False, presolved=True, branching=cp_model.LP_SEARCH)

MANY = 2000
"""
In models with more variables than this one pass of presolve has done most of its work.
"""

NEARBY = 0.2
"""
The most of a tier's share that goes to what can be had with the starts as they are.
"""

FINE = 0.4
"""
The part of the gap that is tried for first.

A tier locked short of its best makes the next ones harder.
"""

HASTE = 0.5
"""
The part of the limit after which a race takes the whole gap.
"""

PASSES = ((FINE, (0.4, 0.3, 0.2)), (1.0, (0.2, 0.2, 0.2, 0.2)))
Lane = tuple[tuple[Manner, float], ...]
LANES: tuple[Lane, ...] = (
    ((DIVING, 0.45), (WEIGHING, 0.3), (RELAXED, 0.25)),
    ((IMPROVING, 1.0),),
)
"""
The part of the gap at which manners may stop, and their parts of the limit in turn; and
with two workers, what each of them tries.
"""
