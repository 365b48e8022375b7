"""
Repacking: more of the single pods than a draft places, found by swaps.
"""

from collections.abc import Callable

from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.repack.pods_and_nodes import single_pods
from solver.repack.swaps import Assignment
from solver.score.tiers import is_better, score, tier_keys


def repacked(
    problem: Problem, best: Draft, *, stop: Callable[[], bool], seed: int
) -> Draft:
    """
    Place more of the single pods than a draft does; never less in the policy's order.

    Before every swap it is asked whether to ``stop``; the same seed and swaps give the
    same draft.
    """
    items = single_pods(problem)
    if not items.keys:
        return best
    run = Assignment(items, items.bins_of(best), seed, problem.tuning.swaps)
    while not stop():
        if run.overflows:
            run.step()
        elif not run.grow():
            break
    found = items.draft_of(run.best)
    new, old = score(problem, found), score(problem, best)
    if items.holds(problem, found) and is_better(tier_keys(problem), new, old):
        return found
    return best
