"""
Last rights: whether those who start in the end still let all leave who do.

What a step bound is decided anew with all that is idle; who leaves for it is not.
"""

from dataclasses import replace

from solver.evict.reservations import is_as_promised
from solver.evict.rights.hand_rights import HandRights
from solver.place.draft import Draft
from solver.place.stranded import strands_reserved
from solver.problem.problem import Frozen, Problem, Step


def may_end_with(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether all who leave still may, and nobody reserved lacks others it needs.
    """
    return may_all_leave(problem, draft) and not strands_reserved(problem, draft)


def may_all_leave(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether what starts gives the right to all that leaves, step by step.

    Higher bands start more than was preempted below them, and what starts inside of a
    queue makes up for what others reclaim from it.  The draft starts in idle room.
    Who gets just what it was promised gave its right in the round that promised it.
    """
    frozen = problem.frozen
    if not frozen.exits:
        return True
    started = [
        unit
        for unit in filter(draft.starts, problem.units)
        if not is_as_promised(problem, unit, draft.places)
    ]
    whole = Draft(
        places={**frozen.places, **draft.places},
        entitled=frozen.entitled | draft.entitled,
        guaranteed=frozen.guaranteed,
    )
    for step, exits in zip(Step, frozen.by_step, strict=False):
        if all(one.rule == "consolidate" for one in exits):
            continue
        rights = HandRights(replace(problem, frozen=Frozen(), step=step))
        rights.leave(exits)
        rights.start_all([*frozen.units, *started], whole)
        if not rights.hold():
            return False
    return True
