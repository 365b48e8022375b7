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

    def configure(self, solver: cp_model.CpSolver) -> None:
        """
        Set the parameters in which manners differ.
        """
        parameters = solver.parameters
        parameters.cp_model_presolve = self.presolved
        if self.branching is not None:
            parameters.search_branching = self.branching
            parameters.add_lp_constraints_lazily = False


STAYING = Manner(hinted=True, presolved=False)
DIVING = Manner(hinted=False, presolved=False, branching=cp_model.LP_SEARCH)
WEIGHING = Manner(hinted=False, presolved=False, branching=cp_model.PSEUDO_COST_SEARCH)
IMPROVING = Manner(hinted=True, presolved=True)
RELAXED = Manner(hinted=False, presolved=True, branching=cp_model.LP_SEARCH)

MANY = 2000
"""
In models with more variables than this, presolve takes longer than most proofs.
"""

PROOF = 0.05
"""
The part of the limit that goes to proving that what is in hand is best already.
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
    ((STAYING, 0.1), (IMPROVING, 0.9)),
)
LANES_OF_MANY: tuple[Lane, ...] = (
    ((DIVING, 0.6), (RELAXED, 0.4)),
    ((STAYING, 0.1), (WEIGHING, 0.4), (IMPROVING, 0.5)),
)
"""
The part of the gap at which manners may stop, and their parts of the limit in turn; and
with two workers, what each of them tries, in small models and in those with many
variables.
"""
