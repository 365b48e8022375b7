"""
Baselines of one line: first come first served, best fit, and EASY backfilling.

They start whole gangs, respect queue limits, and know nothing of fair shares, tiers or
proof; what the judge demands of every plan it demands of theirs.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from solver.effort.budget import Budget
from solver.hold.forecast import Forecast
from solver.place.greedy import fill_up, start
from solver.place.round_state import RoundState
from solver.problem.pod_shapes import kept_off
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


def plan_easy(problem: Problem, budget: Budget) -> Outcome:
    """
    Start the oldest first, and behind one that does not fit what does not delay it.

    The nodes where it could start first, as far as the run times say, are left to it;
    only what ends before that moment may use them.
    """
    work = RoundState(problem)
    fill_up(work, _until_one_fails)
    waiting = [u for u in by_age(problem.units) if u.key not in work.placed]
    if not waiting:
        return outcome_of(problem, work, budget)
    bans = _bans(problem, work, waiting)
    work = RoundState(replace(problem, shapes=kept_off(problem.shapes, bans)))
    fill_up(work, _all_that_fit)
    return replace(outcome_of(problem, work, budget), first_in_line=waiting[0].key)


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
    return sorted(starting, key=lambda u: (-max(s.gang.age for s in u.states), u.key))


def _until_one_fails(work: RoundState, units: list[Unit]) -> None:
    for unit in by_age(units):
        if not start(work, unit, entitled=False):
            return


def _all_that_fit(work: RoundState, units: list[Unit]) -> None:
    for unit in by_age(units):
        start(work, unit, entitled=False)


def _bans(
    problem: Problem, work: RoundState, waiting: Sequence[Unit]
) -> dict[tuple[str, int], tuple[int, ...]]:
    """
    Keep what could delay the first in line off the nodes where it could start first.
    """
    head, *others = waiting
    room = problem.room.seen(work.room.rows, work.room.rows)
    nobody = np.zeros(len(room.nodes), dtype=bool)
    forecast = Forecast(replace(problem, room=room))
    seats = forecast.seats_now(head, nobody) or forecast.seats_later(head, nobody)
    if seats is None or not seats.nodes:
        return {}
    moment = seats.start
    return {
        (state.key, leaf): seats.nodes
        for unit in others
        if not _ends_before(unit, moment)
        for state in unit.states
        for leaf in range(len(state.leaves))
    }


def _ends_before(unit: Unit, moment: int | None) -> bool:
    times = [state.gang.max_runtime for state in unit.states]
    if moment is None:
        return False
    return all(time is not None and time <= moment for time in times)


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
