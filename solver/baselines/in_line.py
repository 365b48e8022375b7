"""
Baselines of one line: first come first served, and best fit.

They start whole gangs, respect queue limits, and know nothing of fair shares, tiers or
proof; what the judge demands of every plan it demands of theirs.
"""

from collections.abc import Sequence
from dataclasses import replace

from solver.effort.budget import Budget
from solver.place.gang_order import oldest
from solver.place.greedy import fill_up, start
from solver.place.round_state import RoundState
from solver.problem.problem import Problem, Unit
from solver.score.tier import LOSSES
from solver.score.tiers import score, tier_keys, trivial_bound
from solver.search.search_outcome import Outcome, tier_results


def plan_first_come(problem: Problem, budget: Budget) -> Outcome:
    """
    Start the oldest first, over all queues; what does not fit stops all behind it.
    """
    work = RoundState(problem)
    fill_up(work, _until_one_fails)
    return _in_line(outcome_of(problem, work, budget))


def plan_best_fit(problem: Problem, budget: Budget) -> Outcome:
    """
    Start the oldest first, over all queues, and pass over what does not fit.
    """
    work = RoundState(problem)
    fill_up(work, _all_that_fit)
    return outcome_of(problem, work, budget)


def _in_line(outcome: Outcome) -> Outcome:
    """
    Name the first that did not fit, behind whom the others wait.
    """
    line = by_age(outcome.problem.units)
    first = next((u.key for u in line if not outcome.draft.starts(u)), "")
    return replace(outcome, first_in_line=first)


def by_age(units: Sequence[Unit]) -> list[Unit]:
    """
    List what may start, the oldest first.
    """
    starting = [unit for unit in units if unit.starts]
    return sorted(starting, key=lambda u: (-oldest(u), u.key))


def _until_one_fails(work: RoundState, units: list[Unit]) -> None:
    for unit in by_age(units):
        if not start(work, unit, entitled=False):
            return


def _all_that_fit(work: RoundState, units: list[Unit]) -> None:
    for unit in by_age(units):
        start(work, unit, entitled=False)


def outcome_of(problem: Problem, work: RoundState, budget: Budget) -> Outcome:
    """
    Say what was drafted, with the bounds of arithmetic.
    """
    draft = work.draft()
    budget.watch.lap("greedy")
    keys = tier_keys(problem)
    values = score(problem, draft)
    bounds = [0 if key.name in LOSSES else trivial_bound(problem, key) for key in keys]
    return Outcome(
        problem=problem, draft=draft, tiers=tier_results(keys, values, bounds)
    )
