"""
Last rights: whether those who start in the end still let all leave who do.

What a step bound is decided anew with all that is idle; who leaves for it is not.
"""

from collections.abc import Mapping
from dataclasses import replace

from solver.evict.eviction_ledger import HandRights
from solver.place.draft import Draft
from solver.problem.node_room import Places
from solver.problem.problem import Frozen, Problem, Step, Unit


def may_all_leave(problem: Problem, draft: Draft) -> bool:
    """
    Tell whether what starts gives the right to all that leaves, step by step.

    Higher bands start more than was preempted below them, and what starts inside of a
    queue makes up for what others reclaim from it.

    Parameters
    ----------
    problem
        The round with all that was frozen.
    draft
        What starts in idle room.
    """
    frozen = problem.frozen
    first = frozen.losses[Step.ENTITLED].pods
    for step, exits in (
        (Step.ENTITLED, frozen.exits[:first]),
        (Step.BORROWING, frozen.exits[first:]),
    ):
        if any(one.rule in {"preempt", "reclaim"} for one in exits):
            rights = HandRights(replace(problem, frozen=Frozen(), step=step))
            rights.leave(exits)
            places = {**frozen.places, **frozen.bound}
            units = (*frozen.units, *frozen.committed)
            _start(rights, units, places, frozen)
            started = tuple(filter(draft.starts, problem.units))
            _start(rights, started, draft.places, draft)
            if not rights.hold():
                return False
    return True


def _start(
    rights: HandRights,
    units: tuple[Unit, ...],
    places: Mapping[str, Places],
    named: Frozen | Draft,
) -> None:
    for unit in units:
        if not all(state.key in places for state in unit.states):
            continue
        counts = {state.key: places[state.key].counts for state in unit.states}
        mine, sure = unit.key in named.entitled, unit.key in named.guaranteed
        rights.start(unit, counts, entitled=mine, guaranteed=sure)
