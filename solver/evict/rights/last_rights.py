"""
Last rights: whether those who start in the end still let all leave who do.

What a step bound is decided anew with all that is idle; who leaves for it is not.
"""

from dataclasses import replace

from solver.evict.rights.hand_rights import HandRights
from solver.place.draft import Draft
from solver.problem.problem import Frozen, Problem, Step


def may_all_leave(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether what starts gives the right to all that leaves, step by step.

    Higher bands start more than was preempted below them, and what starts inside of a
    queue makes up for what others reclaim from it.  The draft starts in idle room.
    """
    frozen = problem.frozen
    places = {**frozen.places, **frozen.bound, **draft.places}
    entitled = frozen.entitled | draft.entitled
    started = filter(draft.starts, problem.units)
    units = [
        unit
        for unit in (*frozen.units, *frozen.committed, *started)
        if all(state.key in places for state in unit.states)
    ]
    for step, exits in zip(Step, frozen.by_step, strict=False):
        if all(one.rule == "consolidate" for one in exits):
            continue
        rights = HandRights(replace(problem, frozen=Frozen(), step=step))
        rights.leave(exits)
        rights.start_all(
            [(u, u.key in entitled, u.key in frozen.guaranteed) for u in units], places
        )
        if not rights.hold():
            return False
    return True
