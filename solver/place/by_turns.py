"""
Placing pods one by one, where each changes where the next of its kind may be.
"""

from collections.abc import Callable

import numpy as np

from models.neighbours import Neighbours
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Bools, Ints

Mask = Bools | None


def by_turns(
    around: PodsAround,
    said: Neighbours,
    count: int,
    room_in: Callable[[Mask], Ints],
    fill_one: Callable[[Mask], int],
    mask: Mask,
) -> int:
    """
    Place up to ``count`` pods; the first of its like where all of them have room.
    """
    for done in range(count):
        inside = mask
        if around.is_first(said):
            inside = _first_domain(around, said, room_in(mask), count)
            inside = inside if mask is None else mask & inside
        elif said.shared and not done:
            with around.volumes.on_trust():
                reached = around.volumes.for_all(said, room_in(mask), count)
            inside = reached if mask is None else mask & reached
        if not fill_one(inside):
            return done
    return count


def _first_domain(
    around: PodsAround, said: Neighbours, room: Ints, count: int
) -> Bools:
    """
    Give the domain for the first pod of its like: tight, with room for all.
    """
    assert said.near is not None
    rows = [around.domains.of(key) for key in said.near.keys]
    cells = max(rows, key=lambda row: int(row.max(initial=-1)))
    inside = cells >= 0
    sums = np.bincount(cells[inside], weights=room[inside], minlength=1)
    able = np.flatnonzero(sums >= count)
    best = able[np.argmin(sums[able])] if len(able) else np.argmax(sums)
    return np.asarray(cells == best)
