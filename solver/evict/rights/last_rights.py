"""
Last rights: whether those who start in the end still let all leave who do.

What a step bound is decided anew with all that is idle; who leaves for it is not.
"""

from collections.abc import Collection
from dataclasses import replace

from solver.evict.reservations import is_as_promised
from solver.evict.rights.hand_rights import HandRights
from solver.place.draft import Draft
from solver.place.stranded import strands_reserved
from solver.problem.problem import Frozen, Problem, Step


def may_end_with(problem: Problem, draft: Draft, void: Collection[str] = ()) -> bool:
    """
    Tell whether all who leave still may, and nobody reserved lacks others it needs.

    What was promised to those that are ``void`` could be kept, and was given up.
    """
    return may_all_leave(problem, draft, void) and not strands_reserved(problem, draft)


def may_all_leave(problem: Problem, draft: Draft, void: Collection[str] = ()) -> bool:
    """
    Tell whether what starts gives the right to all that leaves, step by step.

    Higher bands start more than was preempted below them, and what starts inside of a
    queue makes up for what others reclaim from it.  The draft starts in idle room.
    Who gets just what it was promised gave its right in the round that promised it.
    """
    frozen = problem.frozen
    if not frozen.exits:
        return True
    whole = Draft(
        places={**frozen.places, **draft.places},
        entitled=frozen.entitled | draft.entitled,
        guaranteed=frozen.guaranteed,
    )
    ready = [*filter(draft.starts, problem.units)]
    again = [u for u in frozen.units if any(s.key in void for s in u.states)]
    kept = {u.key for u in ready + again if is_as_promised(problem, u, whole.places)}
    started = [unit for unit in (*frozen.units, *ready) if unit.key not in kept]
    for step, exits in zip(Step, frozen.by_step, strict=False):
        if all(one.rule == "consolidate" for one in exits):
            continue
        rights = HandRights(replace(problem, frozen=Frozen(), step=step))
        rights.leave(exits)
        rights.start_all(started, whole)
        if not rights.hold():
            return False
    return True
