"""
Entitled first: in the second step those who are entitled get room that is free now.

Nobody leaves for them there, so what others leave is for those who borrow.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from solver.evict.freeze import by_claims, waiting_units, without
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
    Place those for whom nobody leaves in what is free now, and others in the rest.

    The second step is given in the room there is ``now`` and that there will be.  Of
    those for whom nobody leaves who finds no place by hand is left out.
    """
    if has_room_now(now, draft):
        return draft
    rest = without(later, draft.exits)
    free = np.minimum(now.room.now, rest.room.now)
    first, others = by_claims(now, draft)
    first.sort(key=lambda unit: unit.key not in draft.entitled)
    found = _placed(RoundState(now.in_room(free)), first, draft)
    late = {*_keys(first)} - found.keys()
    kept = {key: rows for key, rows in draft.places.items() if key not in late}
    fewer = replace(draft, places={**kept, **found}, entitled=draft.entitled - late)
    units = [*filter(fewer.starts, first), *others]
    again = _placed(RoundState(rest), units, fewer)
    if again.keys() != {*_keys(units)}:
        return draft
    return replace(fewer, places={**fewer.places, **again})


def _keys(units: Iterable[Unit]) -> Iterator[str]:
    return (state.key for unit in units for state in unit.states)


def _placed(work: RoundState, units: Sequence[Unit], draft: Draft) -> dict[str, Places]:
    """
    Place units where they are while that fits, else anew where they find a place.
    """
    stay = [unit for unit in units if fits_now(work, unit, draft)]
    found = {key: draft.places[key] for key in _keys(stay)}
    for unit in units:
        if unit not in stay and place_unit(work, unit):
            for state in unit.states:
                found[state.key] = work.places(state) or draft.places[state.key]
    return found
