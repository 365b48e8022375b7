"""
Greedy: gang by gang in queue order, all or nothing, best fit, topology-aware.

What a good scheduler of this field does today, done honestly: it is the baseline of
every report, the fallback of every round, and the solver's first hint.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from solver.effort.budget import Budget
from solver.place.draft import Draft
from solver.place.gang_order import rank_of
from solver.place.place_gang import place_surplus, place_unit, placed_counts
from solver.place.refused_kinds import Refusals
from solver.place.round_state import RoundState
from solver.problem.problem import Problem, Unit

Rank = Callable[[Unit], tuple[int | str, ...]]


def greedy(problem: Problem, budget: Budget | None = None) -> Draft:
    """
    Plan a round: entitled starts, then borrowing ones, then surplus, until the limit.
    """
    work = RoundState(problem, budget)
    return fill_up(work, in_queue_order)


def fill_up(work: RoundState, order: Callable[[RoundState, list[Unit]], None]) -> Draft:
    """
    Start what fits in some order and grow what runs.
    """
    waiting = [u for u in work.problem.units if u.starts and u.key not in work.placed]
    order(work, waiting)
    for unit in sorted(work.problem.units, key=rank_of):
        for state in unit.states:
            if work.is_late():
                break
            if not unit.starts or state.key in work.placed:
                place_surplus(work, state)
    return work.draft()


def in_queue_order(work: RoundState, units: list[Unit]) -> None:
    """
    Let the queue with least of its share go first; inside it band, age, name.
    """
    ranked = _ranked(units)
    _pass(work, ranked, entitled=True)
    late = [unit for unit in ranked if unit.key not in work.placed]
    _pass(work, late, entitled=False)


def start_entitled(work: RoundState, units: list[Unit]) -> None:
    """
    Start what the fair shares hold, in the same order.
    """
    _pass(work, _ranked(units), entitled=True)


def _ranked(units: Sequence[Unit]) -> list[Unit]:
    """
    Sort units so that inside a queue the last is the first in line.
    """
    return sorted(units, key=rank_of, reverse=True)


def _pass(work: RoundState, ranked: Sequence[Unit], *, entitled: bool) -> None:
    """
    Offer every unit once, queue by queue.
    """
    lines: dict[str, list[Unit]] = {}
    for unit in ranked:
        lines.setdefault(unit.states[0].gang.queue, []).append(unit)
    heap = [(*_standing_of(work, name), name) for name in lines]
    heapify(heap)
    failed = Refusals(work.problem)
    while heap:
        name = heappop(heap)[-1]
        line = lines[name]
        unit = line.pop()
        if not failed.covers(unit) and not start(work, unit, entitled=entitled):
            failed.note(unit)
        if line:
            heappush(heap, (*_standing_of(work, name), name))


def _standing_of(work: RoundState, queue: str) -> tuple[int, float]:
    """
    Rank a queue: its own priority first, then how much of its share it holds.
    """
    record = work.problem.queues.queues.get(queue)
    if record is None:
        return (0, 0.0)
    ratio = 0.0
    for r in work.problem.queues.named:
        share = work.problem.shares.get(queue, {}).get(r, 0)
        if share > 0:
            ratio = max(ratio, 1.0 - work.ledger.share[queue][r] / share)
    return (-record.priority, ratio)


def start(work: RoundState, unit: Unit, *, entitled: bool) -> bool:
    """
    Start all gangs of a unit or none; entitled ones only inside their fair share.
    """
    if work.is_late():
        return False
    mark = work.mark()
    if not place_unit(work, unit):
        return False
    if not entitled:
        return True
    counts, ledger = placed_counts(work, unit), work.ledger
    charges = [(s, ledger.charge_of(s, counts[s.key])) for s in unit.states]
    if not ledger.entitle_all(charges):
        work.undo(mark)
        return False
    work.entitled.update(state.key for state in unit.states)
    return True
