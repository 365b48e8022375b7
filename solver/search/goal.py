"""
The goal of one tier's search: the value in hand, its bound, and a solver for it.
"""

from dataclasses import dataclass
from typing import Literal

from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.limited import bare_solver
from solver.search.parameters import Manner
from solver.tuning import Search


@dataclass(slots=True)
class Goal:
    """
    What is to be reached: the value in hand, a bound, and a gap that will do.

    Once it is near enough, the best itself is tried for so many times as long as that
    took; without ``patience`` nothing comes after it that a better value makes easier.
    """

    direction: Literal["max", "min"]
    gap: float
    value: int
    bound: int
    patience: float = 0.0

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


def solver_of(
    budget: Budget,
    manner: Manner,
    gap: float,
    limit: float,
    tuning: Search,
) -> cp_model.CpSolver:
    """
    Set a solver up for one manner, with a gap and a limit.
    """
    solver = bare_solver()
    parameters = solver.parameters
    parameters.random_seed = budget.seed
    parameters.relative_gap_limit = gap
    parameters.presolve_probing_deterministic_time_limit = tuning.probing
    parameters.symmetry_level = 0
    # A hint is whole: a first solution, and no way to search for better ones.
    parameters.hint_conflict_limit = 0
    parameters.linearization_level = 2
    share = min(limit, budget.left)
    if budget.limits.seconds is not None:
        parameters.max_time_in_seconds = max(0.01, share)
    else:
        parameters.max_deterministic_time = max(0.001, share)
    manner.configure(solver)
    return solver
