"""
Started now: a start of a step that waits for others to leave takes room that is free.

A step places its starts wherever there will be room.  What is free now, and is nobody's
later, serves a start at once instead of being left beside it.
"""

from dataclasses import replace

import numpy as np

from solver.evict.freeze import waiting_units, without
from solver.evict.open_step import Opened
from solver.place.complete import loaded, start_if_new
from solver.place.draft import Draft
from solver.place.gang_order import rank_of
from solver.place.refused_kinds import Refusals
from solver.place.round_state import RoundState
from solver.problem.problem import Problem, Unit
from solver.score.tiers import is_better, score


def started_now(opened: Opened, draft: Draft) -> Draft:
    """
    Let those of a draft that wait have room that is free now, where nothing is worse.

    Who waits by choice of the model stays, and so do all where neighbours count.
    """
    now = opened.now
    may = {u.key for u in now.units if draft.starts(u) and _may_fit(now, u)}
    if not may or draft.held or now.around is not None:
        return draft
    waiting = waiting_units(now, draft)
    if all(unit.key not in may for unit in waiting):
        return draft
    work = _free_now(opened, draft, waiting)
    found, failed = dict(draft.places), Refusals(now)
    for unit in sorted(waiting, key=rank_of):
        if unit.key in may and start_if_new(work, unit, failed, entitled=False):
            found |= {s.key: work.places(s) or found[s.key] for s in unit.states}
    first = replace(draft, places=found)
    if found == draft.places or not opened.holds(first, whole=False):
        return draft
    values = (score(opened.problem, one, opened.keys) for one in (draft, first))
    return draft if is_better(opened.keys, *values) else first


def _free_now(opened: Opened, draft: Draft, waiting: list[Unit]) -> RoundState:
    """
    Lay out who has room now, in what those who wait will leave free, too.
    """
    keys = {state.key for unit in waiting for state in unit.states}
    reserved = {key: rows for key, rows in draft.places.items() if key in keys}
    ready = {key: rows for key, rows in draft.places.items() if key not in keys}
    left = without(opened.problem, draft.exits)
    rest = loaded(left, replace(draft, places=reserved)).room.rows
    now = opened.now.in_room(np.minimum(opened.now.room.now, rest))
    return loaded(now, replace(draft, places=ready))


def _may_fit(now: Problem, unit: Unit) -> bool:
    """
    Tell whether some pod of each gang of a unit fits somewhere now.

    Who wants hosts alone does not come beside others so late.
    """
    fits, shape = now.shapes.fits, now.shapes.of_leaf
    return all(
        not any(leaf.pod_set.exclusive for leaf in state.leaves)
        and any(fits[shape[state.key, i]].any() for i in range(len(state.leaves)))
        for state in unit.states
    )
