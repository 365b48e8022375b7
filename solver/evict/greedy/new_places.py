"""
New places for those who are moved by hand instead of evicted.
"""

from collections.abc import Sequence

from models.gangs import leaf_of
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.greedy.what_goes import Going
from solver.evict.moved_gangs import Mover, movers_of, with_pods
from solver.place.place_gang import place_gang
from solver.place.round_state import RoundState
from solver.problem.node_room import fitting


class NewPlaces:
    """
    Who stands for what is moved, and where there is room for it.
    """

    def __init__(
        self, work: RoundState, table: VictimTable, movers: Sequence[Mover] | None
    ) -> None:
        self.work = work
        self.table = table
        self._movers = movers
        self._mover_of: dict[tuple[bool, int], Mover] = {}

    def find(self, serial: int, going: Going) -> bool:
        """
        Find a new place for somebody who is moved.
        """
        mover = self._mover(going) if self._is_room(going) else None
        if mover is None:
            return False
        of_leaf = self.work.problem.shapes.of_leaf
        pods = [runner for runner, _ in going.runners]
        unit = with_pods(mover, pods, f"{serial}")
        (state,) = unit.states
        for i in range(len(state.leaves)):
            of_leaf[state.key, i] = of_leaf[mover.state.key, i]
        if not place_gang(self.work, state):
            return False
        going.unit = unit
        return True

    def _is_room(self, going: Going) -> bool:
        """
        Tell quickly whether any node has room for one of somebody's pods.
        """
        leaf = going.runners[0][0][0]
        requests = leaf_of(going.item.victim.gang, leaf).requests
        row = self.table.listed.row(requests)
        return bool(fitting(self.work.room.rows, row).any())

    def _mover(self, going: Going) -> Mover | None:
        """
        Name what stands for somebody who needs a new place.
        """
        if not self._mover_of:
            if self._movers is None:
                self._movers = movers_of(self.table.victims)
            of_leaf = self.work.problem.shapes.of_leaf
            for mover in self._movers:
                if (mover.state.key, 0) in of_leaf:
                    at = mover.account if mover.wide < 0 else mover.wide
                    self._mover_of[mover.wide >= 0, at] = mover
        if going.whole and going.item.wide >= 0:
            return self._mover_of.get((True, going.item.wide))
        return self._mover_of.get((False, going.item.sort))
