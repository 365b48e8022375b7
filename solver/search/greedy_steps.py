"""
Greedy, step by step: the baseline of every report, and what no search may fall behind.
"""

from solver.effort.budget import Budget
from solver.evict.freeze import freeze
from solver.evict.open_step import open_step
from solver.evict.rights.last_rights import may_end_with
from solver.evict.started_now import started_now
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import Problem, Step
from solver.score.tier import LOSSES
from solver.score.tiers import score, tier_keys, trivial_bound
from solver.search.choices import Sure
from solver.search.search_outcome import Outcome, tier_results


def plan_greedily(problem: Problem, budget: Budget) -> Outcome:
    """
    Plan gang by gang; the bounds are those of arithmetic.
    """
    budget.begin_strategy()
    ready = Draft()
    sure = Sure(problem)
    for step in (Step.ENTITLED, Step.BORROWING):
        opened = open_step(problem, step, ready, budget)
        if opened is not None:
            sure.open = True
            opened = opened.by_hand(budget)
            draft = started_now(opened, opened.first)
            problem, ready = freeze(problem, draft, step)
    draft = greedy(problem, budget)
    if not may_end_with(problem, draft):
        draft = complete(problem, ready, budget)
    budget.watch.lap("greedy")
    keys = tier_keys(problem)
    values = score(problem, draft)
    bounds = [0 if key.name in LOSSES else trivial_bound(problem, key) for key in keys]
    tiers = tier_results(keys, values, bounds, sure.holds(keys, values))
    return Outcome(problem=problem, draft=draft, tiers=tiers)
