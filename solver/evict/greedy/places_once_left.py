"""
Places once somebody has left: what nodes would take, item after item of an order.

Gang after gang asks for the same nodes, of which few have changed: what was worked out
before is kept, and only those are looked at again.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from solver.evict.greedy.victim_table import Order, VictimTable
from solver.problem.node_room import Bools, Ints, NodeRoom, num_fitting

_Number = TypeVar("_Number", np.int64, np.float64)
_MOST_KEPT = 64


@dataclass(slots=True)
class _Counted:
    """
    Places per item of an order, of those that ``may`` leave; as of so many changes.
    """

    may: Bools
    places: Ints
    touched: int = 0
    refreshed: int = 0


class PlacesOnceLeft:
    """
    How many pods of a request nodes would take if items left them one after the other.
    """

    def __init__(self, room: NodeRoom, table: VictimTable) -> None:
        self._room = room
        self._table = table
        self._kept: dict[tuple[int, bytes], _Counted] = {}

    def of(self, order: Order, request: Ints, may: Bools) -> Ints:
        """
        Count them per item of an order that may leave, with all such ones before it.
        """
        kept = self._known(order, request)
        stale = np.zeros(len(order.nodes), dtype=bool)
        stale[order.group[may != kept.may]] = True
        changed = {*self._room.touched[kept.touched :]}
        changed |= {*self._table.refreshed[kept.refreshed :]}
        stale[order.groups_of(changed)] = True
        kept.may = may
        kept.touched = len(self._room.touched)
        kept.refreshed = len(self._table.refreshed)
        anew = np.flatnonzero(may & stale[order.group])
        if len(anew):
            kept.places[anew] = self._counted(order, request, anew)
        return kept.places

    def _known(self, order: Order, request: Ints) -> _Counted:
        """
        Give what is kept for a request, of those that were asked for last.
        """
        key = id(order), request.tobytes()
        kept = self._kept.pop(key, None)
        if kept is None:
            size = len(order.items)
            kept = _Counted(np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64))
            if len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[key] = kept
        return kept

    def _counted(self, order: Order, request: Ints, at: Ints) -> Ints:
        """
        Count the places after each of some items, which are all that leave their nodes.
        """
        asked = np.flatnonzero(request)
        nodes = order.node[at]
        left = self._room.rows[nodes] + summed(
            self._table.rows[order.items[at]], order.group[at]
        )
        room = self._room.after_leaving(nodes, left, asked)
        return num_fitting(room, request[asked])


def summed(values: NDArray[_Number], group: Ints) -> NDArray[_Number]:
    """
    Add values up, anew in every group; those of a group lie together.
    """
    total = values.cumsum(axis=0)
    edges: Ints = np.flatnonzero(np.diff(group, prepend=-1))
    before = total[edges] - values[edges]
    sizes = np.diff(np.append(edges, len(group)))
    return np.asarray(total - np.repeat(before, sizes, axis=0))
