"""
Attempts: one model solved in several manners, one after the other.

Cases that stall in one manner close at once in another, so they take turns.  Two at
once were slower: neither stops at once when the other is done (decision 0006).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model_helper import SatParameters

from models.policy import Limits
from solver.encode.variables import Var

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Manner:
    """
    One way to search: from a hint or not, presolved or not, and how to branch.

    Without ``branching`` the solver has its own way; else the relaxation leads it.
    What is ``shared`` uses all workers; the others are quicker with one.
    """

    hinted: bool
    presolved: bool
    branching: SatParameters.SearchBranching | None = None
    shared: bool = False

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
IMPROVING = Manner(hinted=True, presolved=True, shared=True)
RELAXED = Manner(hinted=False, presolved=True, branching=cp_model.LP_SEARCH)

PROOF = 0.05
"""
The part of the limit that goes to proving that what is in hand is best already.
"""

PASSES = ((0.4, (0.3, 0.2, 0.1)), (1.0, (0.15, 0.1, 0.1, 0.1)))
"""
The part of the gap at which manners may stop, and their parts of the limit in turn.

A tier locked short of its best makes the next ones harder, so the first pass tries for
less than half of the gap.
"""


@dataclass(slots=True)
class Goal:
    """
    What is to be reached: the value in hand, a bound, and a gap that will do.
    """

    direction: Literal["max", "min"]
    gap: float
    value: int
    bound: int

    def is_closed(self, claim: int | None = None, part: float = 1.0) -> bool:
        """
        Tell whether the better of the value and a claim is as near the bound as asked.
        """
        best = self.value
        if claim is not None and self.is_better(claim, best):
            best = claim
        return abs(best - self.bound) <= part * self.gap * abs(best)

    def is_better(self, one: int, other: int) -> bool:
        """
        Compare two values.
        """
        return one > other if self.direction == "max" else one < other

    def tighten(self, bound: float) -> None:
        """
        Learn a bound, rounded to the nearest whole value that it still allows.
        """
        found = whole(bound, up=self.direction == "min")
        if self.direction == "max":
            self.bound = min(self.bound, max(found, self.value))
        else:
            self.bound = max(self.bound, min(found, self.value))


def whole(bound: float, *, up: bool) -> int:
    """
    Round a bound to the nearest whole value it still allows.
    """
    nearest = round(bound)
    if abs(bound - nearest) < 1e-6 * max(1.0, abs(bound)):
        return nearest
    return int(-(-bound // 1)) if up else int(bound // 1)


@dataclass(slots=True)
class Budget:
    """
    What is left of the limit, in deterministic units or in seconds.
    """

    limits: Limits
    spent: Clock
    used: float = 0.0

    @property
    def left(self) -> float:
        """
        Give what may still be used.
        """
        if self.limits.seconds is not None:
            return self.limits.seconds - self.spent()
        return self.limits.deterministic - self.used

    def solver(self, manner: Manner, limit: float) -> cp_model.CpSolver:
        """
        Set a solver up for one manner and its limit.
        """
        solver = cp_model.CpSolver()
        parameters = solver.parameters
        parameters.num_workers = self.limits.workers if manner.shared else 1
        parameters.presolve_probing_deterministic_time_limit = 0.5
        parameters.symmetry_level = 0
        parameters.linearization_level = 2
        share = min(limit, self.left)
        if self.limits.seconds is not None:
            parameters.max_time_in_seconds = max(0.01, share)
        else:
            parameters.max_deterministic_time = max(0.001, share)
        manner.configure(solver)
        return solver


class Answer:
    """
    The values of one solve.
    """

    def __init__(self, solver: cp_model.CpSolver) -> None:
        self.solver = solver
        self.claim = round(solver.objective_value)

    def value(self, variable: Var) -> int:
        """
        Give a variable's value.
        """
        return int(self.solver.value(variable))


class Attempts:
    """
    Manners in the order in which they are tried: the one that closed a tier goes first.
    """

    def __init__(self, budget: Budget, seed: int) -> None:
        self.budget = budget
        self.seed = seed
        self.manners = [DIVING, IMPROVING, WEIGHING, RELAXED]

    def solve(self, model: cp_model.CpModel, goal: Goal, share: float) -> Answer | None:
        """
        Solve a model with hints for its objective; tighten the goal's bound on the way.

        Gives the best answer found, none when there is none.
        """
        best: Answer | None = None
        limit = min(share, self.budget.left)
        self._turn(model, STAYING, goal, limit * PROOF, PASSES[0][0])
        for gap, parts in PASSES:
            for manner, part in zip(tuple(self.manners), parts, strict=False):
                claim = None if best is None else best.claim
                if self.budget.left <= 0 or goal.is_closed(claim, gap):
                    return best
                answer = self._turn(model, manner, goal, limit * part, gap)
                if answer and (
                    best is None or goal.is_better(answer.claim, best.claim)
                ):
                    best = answer
                if goal.is_closed(None if best is None else best.claim, gap):
                    self.manners.remove(manner)
                    self.manners.insert(0, manner)
        return best

    def _turn(
        self,
        model: cp_model.CpModel,
        manner: Manner,
        goal: Goal,
        limit: float,
        gap: float,
    ) -> Answer | None:
        if not manner.hinted:
            model = model.clone()
            model.clear_hints()  # type: ignore[no-untyped-call]
        solver = self.budget.solver(manner, limit)
        solver.parameters.random_seed = self.seed
        solver.parameters.relative_gap_limit = goal.gap * gap
        solver.best_bound_callback = goal.tighten
        status = solver.solve(model)
        self.budget.used += solver.deterministic_time
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        goal.tighten(solver.best_objective_bound)
        return Answer(solver)
