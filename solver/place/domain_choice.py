"""
Masks: the parts of the cluster in which a tree node may be tried, best first.

Required domains come tightest first; a preferred level is tried in one domain, then in
the fewest that hold the need, and only then anywhere.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from models.topology import TopologyDemand
from solver.place.round_state import RoundState
from solver.problem.domains import Cells
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Floats
from solver.problem.running_domains import used_cells

_Room = dict[int, Floats]


class Masks:
    """
    Where one tree node of a gang may go, given what is placed already.

    ``frugal`` is for surplus: it may open no further preferred domain.
    """

    def __init__(
        self, work: RoundState, state: Standing, at: int, *, frugal: bool = False
    ) -> None:
        self.work = work
        self.state = state
        self.at = at
        self.node = state.nodes[at]
        self.frugal = frugal
        self.most = work.problem.tuning.place.most_domains

    def inside(self, mask: Bools | None) -> Iterator[Bools | None]:
        """
        Walk the masks worth trying inside a given one.
        """
        demand = self.node.topology
        if demand is None:
            yield mask
        elif demand.required is None:
            yield from self._preferred(demand, [mask])
        else:
            masks = islice(self._required(demand, mask), self.most)
            if demand.preferred is None:
                yield from masks
            else:
                yield from self._preferred(demand, list(masks))

    def _required(
        self, demand: TopologyDemand, mask: Bools | None
    ) -> Iterator[Bools | None]:
        level = demand.required
        assert level is not None
        cells = self.work.problem.domains.cells(demand.topology, level)
        used = self._used(level)
        if 0 in used or len(used) > 1:
            return
        some = used or set(range(1, len(cells.names)))
        for cell in self._tightest(cells, some, self._room(cells, mask), mask):
            yield _both(cells.mask([cell]), mask)

    def _preferred(
        self, demand: TopologyDemand, masks: Sequence[Bools | None]
    ) -> Iterator[Bools | None]:
        level = demand.preferred
        assert level is not None
        cells = self.work.problem.domains.cells(demand.topology, level)
        used = self._used(level)
        for mask in masks:
            for cell in self._singles(cells, used, mask):
                yield _both(cells.mask(used | {cell}), mask)
        if not self.frugal:
            for mask in masks:
                yield from self._unions(cells, used, mask)

    def _singles(self, cells: Cells, used: set[int], mask: Bools | None) -> list[int]:
        if used:
            return [min(used)]
        room = self._room(cells, mask)
        if self.frugal:
            return self._widest(cells, room)[:1]
        every = set(range(len(cells.names)))
        return self._tightest(cells, every, room, mask)[: self.most]

    def _unions(
        self, cells: Cells, used: set[int], mask: Bools | None
    ) -> Iterator[Bools | None]:
        """
        Join the widest domains, as few as may hold the need, then more and more.
        """
        room = self._room(cells, mask)
        order = [cell for cell in self._widest(cells, room) if cell not in used]
        number = self._fewest(room, used, order)
        while number < len(order):
            yield _both(cells.mask(used | set(order[:number])), mask)
            number += max(1, number // 2)
        yield mask

    def _fewest(self, room: _Room, used: set[int], order: list[int]) -> int:
        number = 1
        for i, row in room.items():
            held = sum(row[cell] for cell in used) + np.cumsum(row[order])
            number = max(number, 1 + int(np.searchsorted(held, self._want(i))))
        return number

    def _used(self, level: str) -> set[int]:
        rows = self.work.placed.get(self.state.key, {})
        return used_cells(self.work.problem, self.state, self.node, level, rows)

    def _room(self, cells: Cells, mask: Bools | None) -> _Room:
        """
        Count per leaf the pods that each domain would take, up to those there are.
        """
        room = {}
        for i in self.node.leaves:
            left = len(self.state.leaves[i].pending) - self.work.num(self.state, i)
            if left > 0:
                sums = cells.sums(self.work.room_for(self.state, i, mask))
                room[i] = np.minimum(sums, left)
        return room

    def _want(self, leaf: int) -> int:
        here = self.state.leaves[leaf]
        return here.need - self.work.num(self.state, leaf)

    def _tightest(
        self, cells: Cells, some: set[int], room: _Room, mask: Bools | None
    ) -> list[int]:
        """
        List the domains that may hold the node.

        Those that take most of its pods come first, of these the one with least room.
        """
        if not room:
            return []
        fits = self._may_hold(self.at, room)
        held = self._held(cells, room)
        tight = self.work.free.tight
        free = cells.sums(tight if mask is None else tight * mask)
        return sorted(
            (c for c in some if fits[c]), key=lambda c: (-held[c], free[c], c)
        )

    def _widest(self, cells: Cells, room: _Room) -> list[int]:
        """
        List the domains that take anything, those that take most first.
        """
        held = self._held(cells, room)
        return sorted(np.flatnonzero(held).tolist(), key=lambda c: (-held[c], c))

    @staticmethod
    def _held(cells: Cells, room: _Room) -> Floats:
        return sum(room.values(), np.zeros(len(cells.names)))

    def _may_hold(self, at: int, room: _Room) -> Bools:
        """
        Tell per domain whether the counts allow a tree node to be satisfied in it.
        """
        node = self.state.nodes[at]
        if self.frugal:
            return np.asarray(sum(room.values()) > 0)
        zero = np.zeros(len(next(iter(room.values()))))
        have = node.counted + sum(self.work.num(self.state, i) for i in node.leaves)
        pods = have + sum((room[i] for i in node.leaves if i in room), zero)
        if node.leaf >= 0:
            return np.asarray(pods >= max(self.state.leaves[node.leaf].minimum, 1))
        groups = sum((self._may_hold(c, room) for c in node.children), zero)
        return np.asarray((groups >= node.min_groups) & (pods >= node.min_pods))


def _both(mask: Bools, other: Bools | None) -> Bools:
    return mask if other is None else mask & other
