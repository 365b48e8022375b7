"""
Entitled first: in the second step those who are entitled get room that is free now.

Nobody leaves for them there, so what others leave is for those who borrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from solver.evict.freeze import waiting_units, without
from solver.place.draft import Draft
from solver.place.fits_now import fits_now
from solver.place.gang_order import rank_of
from solver.place.place_gang import place_unit
from solver.place.round_state import RoundState
from solver.problem.node_room import Places
from solver.problem.problem import Problem, Step, Unit


def has_room_now(now: Problem, draft: Draft) -> bool:
    """
    Tell whether who is entitled in the second step has room before anybody leaves.
    """
    return now.step is Step.ENTITLED or not any(
        unit.key in draft.entitled for unit in waiting_units(now, draft)
    )


def nodes_for_entitled(now: Problem, idle: Draft) -> frozenset[int] | None:
    """
    Name the nodes with room now, if somebody starts as entitled in the second step.

    None where these are too many to be looked at one by one.
    """
    if now.step is Step.ENTITLED or not idle.entitled:
        return frozenset()
    shapes = {
        now.shapes.of_leaf[state.key, leaf]
        for unit in now.units
        for state in unit.states
        for leaf in range(len(state.leaves))
    }
    fits = now.shapes.fits[sorted(shapes)].any(axis=0)
    nodes = np.flatnonzero(fits).tolist()
    return None if len(nodes) > now.tuning.encode.most_first_nodes else frozenset(nodes)


def has_room_later(later: Problem, draft: Draft) -> bool:
    """
    Tell whether all that a draft starts or moves has its place once others have left.

    Who leaves by an earlier step leaves no more room.
    """
    gone = {(one.gang, one.pod.name) for one in later.frozen.exits}
    if any((one.gang, one.pod.name) in gone for one in draft.exits):
        return False
    rest = without(later, draft.exits)
    if (rest.room.now < np.minimum(later.room.now, 0)).any():
        return False
    work = RoundState(rest)
    started = filter(draft.starts, sorted(later.units, key=rank_of))
    return all(fits_now(work, unit, draft) for unit in started)


def entitled_first(now: Problem, later: Problem, draft: Draft) -> Draft:
    """
    Place the entitled starts of a draft in what is free now, and others in the rest.

    The second step is given in the room there is ``now`` and that there will be; the
    draft stays as it is where there is no way by hand.
    """
    if has_room_now(now, draft):
        return draft
    rest = without(later, draft.exits)
    free = np.minimum(now.room.now, rest.room.now)
    units = sorted(filter(draft.starts, now.units), key=rank_of)
    first = [unit for unit in units if unit.key in draft.entitled]
    others = [unit for unit in units if unit.key not in draft.entitled]
    work = RoundState(now.in_room(free))
    found = _placed(work, first, draft)
    if found is None:
        return draft
    work = RoundState(rest)
    again = _placed(work, [*first, *others], replace(draft, places=found))
    if again is None or any(again[key] != found[key] for key in _keys(first)):
        return draft
    return replace(draft, places={**draft.places, **again})


def _keys(units: Sequence[Unit]) -> list[str]:
    return [state.key for unit in units for state in unit.states]


def _placed(
    work: RoundState, units: Sequence[Unit], draft: Draft
) -> Mapping[str, Places] | None:
    """
    Place units where they are while that fits, else anew; none where one finds none.
    """
    found = dict(draft.places)
    anew = [unit for unit in units if not fits_now(work, unit, draft)]
    for unit in anew:
        if not place_unit(work, unit):
            return None
    for state in (state for unit in anew for state in unit.states):
        places = work.places(state)
        if places is not None:
            found[state.key] = places
    return found
