"""
Idle starts beside evictions by hand: which of them stay, and which others follow.
"""

from dataclasses import replace

from solver.place.draft import Draft
from solver.place.fits_now import fits_now
from solver.place.gang_order import rank_of
from solver.place.round_state import RoundState
from solver.problem.core_pods import least_core
from solver.problem.problem import Problem, Step


def without_profit(problem: Problem, draft: Draft) -> Draft:
    """
    Leave out idle starts of bands that lose something: they follow in idle room.
    """
    lost: dict[str, int] = {}
    leaf = problem.queues.leaf
    for one in draft.exits:
        if one.rule == "preempt":
            queue = leaf(problem.gangs[one.gang].queue)
            lost[queue] = max(lost.get(queue, -1), one.band)
    if not lost:
        return draft
    out: set[str] = set()
    for unit in problem.units:
        borrows = problem.step is Step.ENTITLED or unit.key not in draft.entitled
        if draft.starts(unit) and borrows:
            for state in unit.states:
                if unit.band <= lost.get(leaf(state.gang.queue), -1):
                    out.update(mate.key for mate in unit.states)
    return replace(
        draft,
        places={k: v for k, v in draft.places.items() if k not in out},
        entitled=draft.entitled - out,
    )


def without_lower(problem: Problem, best: Draft, idle: Draft) -> Draft | None:
    """
    Leave out idle starts of lower bands than one that waits; none where all stay.
    """
    waits = [u.band for u in problem.units if u.starts and not best.starts(u)]
    high = max(waits, default=0)
    kept = {s.key for u in problem.units if u.band >= high for s in u.states}
    if idle.places.keys() <= kept:
        return None
    return replace(
        idle,
        places={key: rows for key, rows in idle.places.items() if key in kept},
        entitled=idle.entitled & kept,
    )


def without_exits(problem: Problem, draft: Draft) -> Draft:
    """
    Keep of a draft who has room, and share, though nobody leaves, the first ones first.
    """
    work, kept = RoundState(problem), set[str]()
    for unit in sorted(filter(draft.starts, problem.units), key=rank_of):
        mark, states = work.mark(), [s for s in unit.states if s.key in draft.entitled]
        cores = [least_core(s, draft.places[s.key]) for s in states]
        charges = [*zip(states, map(work.ledger.charge_of, states, cores), strict=True)]
        if fits_now(work, unit, draft) and work.ledger.entitle_all(charges):
            kept.update(state.key for state in unit.states)
        else:
            work.undo(mark)
    places = {key: rows for key, rows in draft.places.items() if key in kept}
    return Draft(places=places, entitled=draft.entitled & kept)
