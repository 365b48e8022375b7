"""
Completing a draft: what a tier left open is offered to gangs in the policy's order.

The model stops caring about a gang as soon as its tier is locked and a later one has
not been solved; a draft completed by hand is the next tier's hint and the fallback.
"""

from solver.effort.budget import Budget
from solver.place.draft import Draft
from solver.place.gang_order import oldest, rank_of
from solver.place.greedy import start
from solver.place.place_gang import place_surplus
from solver.place.refused_kinds import Refusals
from solver.place.round_state import RoundState
from solver.problem.core_pods import least_core
from solver.problem.problem import Problem, Unit
from solver.problem.start_values import quarters_owed
from solver.problem.unit_kind import place_of


def complete(problem: Problem, draft: Draft, budget: Budget | None = None) -> Draft:
    """
    Add starts and surplus to a draft, taking nothing from it, until the limit.
    """
    work = loaded(problem, draft, budget)
    waiting = [u for u in problem.units if u.starts and u.key not in draft.places]

    def size(unit: Unit) -> int:
        return sum(problem.least_value[state.key] for state in unit.states)

    def owed(unit: Unit) -> int:
        return max(quarters_owed(problem, s.gang.queue) for s in unit.states)

    failed = Refusals(problem)
    waiting.sort(key=lambda u: (-u.band, -owed(u), -size(u), -oldest(u), u.key))
    late = [u for u in waiting if not start_if_new(work, u, failed, entitled=True)]
    failed = Refusals(problem)
    for unit in late:
        start_if_new(work, unit, failed, entitled=False)
    grown: set[object] = set()
    for unit in sorted(problem.units, key=rank_of):
        if not work.is_late() and (not unit.starts or work.placed.get(unit.key)):
            _grow(work, unit, grown)
    return work.draft()


def loaded(problem: Problem, draft: Draft, budget: Budget | None = None) -> RoundState:
    """
    Lay a draft out in the state of a round, with its entitled cores booked.
    """
    work = RoundState(problem, budget)
    placed = [
        (state, draft.places[state.key])
        for unit in problem.units
        for state in unit.states
        if state.key in draft.places
    ]
    work.take_all((s, i, hosts) for s, row in placed for i, hosts in enumerate(row))
    for state, places in placed:
        if state.key in draft.entitled:
            core = least_core(state, places)
            work.ledger.entitle(state, work.ledger.charge_of(state, core))
    work.entitled = set(draft.entitled & work.placed.keys())
    return work


def start_if_new(
    work: RoundState, unit: Unit, failed: Refusals, *, entitled: bool
) -> bool:
    """
    Start a unit, unless one like it has failed before.
    """
    if failed.covers(unit):
        return False
    if start(work, unit, entitled=entitled):
        return True
    failed.note(unit)
    return False


def _grow(work: RoundState, unit: Unit, full: set[object]) -> None:
    for state in unit.states:
        placed = work.placed.get(state.key, {})
        if all(
            len(leaf.pending) <= len(placed.get(i, ()))
            for i, leaf in enumerate(state.leaves)
        ):
            continue
        place = place_of(work.problem.shapes, state)
        key = None if place.demands or len(state.leaves) > 1 else place
        if (key is None or key not in full) and not place_surplus(work, state):
            full.add(key)
