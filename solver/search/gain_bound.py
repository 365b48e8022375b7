"""
Whether evictions could gain anything worth having, asked of the coarse model.
"""

from collections.abc import Mapping

from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.leaving.aggregated import encode_coarsely
from solver.evict.open_step import Opened
from solver.evict.victims import vacated
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import score
from solver.search.goal import Goal, solver_of
from solver.search.parameters import RELAXED, is_large, presolved_once
from solver.tuning import Search


def coarse_bounds(
    opened: Opened, budget: Budget, known: Mapping[TierKey, int]
) -> tuple[dict[TierKey, int], bool]:
    """
    Give bounds of a step's tiers, and whether what is idle reaches them, near enough.

    Bounds that are ``known`` already are taken as they are.
    """
    problem = opened.problem
    coarse = encode_coarsely(problem, opened.victims, vacated(problem, opened.victims))
    values = score(problem, opened.idle, opened.keys)
    bounds: dict[TierKey, int] = {}
    for key, value in zip(opened.keys, values, strict=True):
        if key.name in LOSSES:
            continue
        row = coarse.tier(key)
        if key not in known:
            goal = Goal(key.direction, key.gap, value, row.most)
            if row.variables:
                coarse.model.maximize(row.expression)
                _ask(coarse.model, goal, budget, problem.tuning.search)
            bounds[key] = goal.bound
            if not goal.is_closed():
                return bounds, False
        if row.variables:
            coarse.model.add(row.expression >= value)
    return bounds, True


def _ask(model: cp_model.CpModel, goal: Goal, budget: Budget, tuning: Search) -> None:
    """
    Tighten the bound of a goal until it is near enough, or the limit is reached.
    """
    limit = budget.left * tuning.gain_part
    manner = presolved_once(RELAXED) if is_large(model, tuning) else RELAXED
    solver = solver_of(budget, manner, 0.0, limit, tuning)

    def learn(bound: float) -> None:
        """
        Stop as soon as no more is to be learned.
        """
        goal.tighten(bound)
        if goal.is_closed():
            solver.stop_search()

    solver.best_bound_callback = learn
    status = solver.solve(model)
    budget.charge(solver.deterministic_time)
    if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        goal.tighten(solver.best_objective_bound)
