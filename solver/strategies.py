"""
The strategies: by name, what turns a problem into drafts with tiers.
"""

from collections.abc import Callable, Mapping

from solver.baselines import (
    plan_best_fit,
    plan_conservatively,
    plan_easy,
    plan_first_come,
)
from solver.effort.budget import Budget
from solver.problem.problem import Problem
from solver.search.greedy_steps import plan_greedily
from solver.search.round_steps import search
from solver.search.search_outcome import Outcome

Strategy = Callable[[Problem, Budget], Outcome]
STRATEGIES: Mapping[str, Strategy] = {
    "greedy": plan_greedily,
    "solver": search,
    "fifo": plan_first_come,
    "easy": plan_easy,
    "conservative": plan_conservatively,
    "best-fit": plan_best_fit,
}
