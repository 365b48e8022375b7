"""
Placing pods one by one, where each changes where the next of its kind may be.
"""

from collections.abc import Callable

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
            inside = around.first_domain(said, room_in(mask), count)
            inside = inside if mask is None else mask & inside
        if not fill_one(inside):
            return done
    return count
