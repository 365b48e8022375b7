"""
Room for pods that ask for others around them: who keeps them away leaves, one by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.gangs import pod_sets
from models.neighbours import Apart, Neighbours
from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.kept_on_node import dearest
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.rights.policy_bounds import MOVED
from solver.place.fill import fill
from solver.place.round_state import RoundState, has_room
from solver.problem.gang_state import Standing
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.neighbours.spread_counts import Pair
from solver.problem.node_room import Bools, Floats, Ints

_Lost = tuple[int, int, int, int]


@dataclass(slots=True)
class BesideOthers:
    """
    The pods of one leaf that ask for others around them, each where least is lost.
    """

    work: RoundState
    table: VictimTable
    leavers: Leavers
    state: Standing
    leaf: int
    rules: Ints
    mask: Bools | None
    gpus: bool

    def place(self, count: int) -> bool:
        """
        Place so many pods; say whether all of them have a place.
        """
        count -= fill(self.work, self.state, self.leaf, count, self.mask)
        while count > 0:
            done = fill(self.work, self.state, self.leaf, 1, self.mask)
            if not done and (self.work.is_late() or not self._make_place()):
                return False
            count -= 1
        return True

    def _make_place(self) -> bool:
        around = self.work.around
        assert around is not None
        best: tuple[_Lost, int] | None = None
        clashes = [*self._clashes(around)]
        nodes = self._cheapest(around, clashes)
        for node in nodes[: self.work.problem.tuning.evict.most_domains]:
            mark = self.work.mark()
            if self._clear(node, clashes):
                found = self._lost(mark), node
                best = found if best is None else min(best, found)
            self.work.undo(mark)
        return best is not None and self._clear(best[1], clashes)

    def _lost(self, mark: int) -> _Lost:
        ranks = [going.rank for going in self.leavers.since(mark).values()]
        work, whole, pods, _, age = (
            [sum(column) for column in zip(*ranks, strict=True)] if ranks else [0] * 5
        )
        return work, whole, pods, age

    # --- who is in the way ----------------------------------------------------------

    @property
    def _said(self) -> Neighbours:
        return self.state.leaves[self.leaf].pod_set.neighbours

    def _clashes(self, around: PodsAround) -> Iterator["_Clash"]:
        mine = set(self._said.selected)
        pairs: list[tuple[Pair, bool]] = []
        pairs += [((r.pods, r.key), True) for r in self._said.apart]
        pairs += [(pair, False) for pair in sorted(around.apart) if pair[0] in mine]
        for pair, selects in pairs:
            row = (around.members if selects else around.holders).get(pair)
            if row is not None and row.any():
                yield self._clash(
                    around.domains.of(pair[1]), row, pair, selects=selects
                )

    def _clash(self, cells: Ints, row: Ints, pair: Pair, *, selects: bool) -> "_Clash":
        covered = np.zeros(len(row), dtype=np.int64)
        cost = np.zeros(len(row))
        items: dict[int, list[int]] = {}
        for at, item in enumerate(self.table.items):
            if not self._may(at):
                continue
            leaves = tuple(pod_sets(item.victim.gang.tree))
            number = sum(
                _clashes_with(leaves[leaf].neighbours, pair, selects=selects)
                for leaf, _ in item.victim.pods
            )
            cell = int(cells[item.node])
            if number and cell >= 0:
                covered[cell] += number
                cost[cell] += self.table.cost[at]
                items.setdefault(cell, []).append(at)
        cost[row > covered] = np.inf
        cost[row == 0] = 0
        return _Clash(cells, row, cost, items)

    def _may(self, at: int) -> bool:
        return bool(self.table.live[at] and self.rules[self.table.sort[at]])

    def _cheapest(self, around: PodsAround, clashes: list["_Clash"]) -> list[int]:
        problem = self.work.problem
        shape = problem.shapes.of_leaf[self.state.key, self.leaf]
        free = problem.shapes.may_be[shape] & around.near_others(self._said)
        if self.mask is not None:
            free &= self.mask
        cost = np.where(free, 0.0, np.inf)
        for clash in clashes:
            inside = clash.cells >= 0
            cost[inside] += clash.cost[clash.cells[inside]]
        cost += self._price_of_room(shape)
        order = np.argsort(cost, kind="stable")
        return [int(node) for node in order if np.isfinite(cost[node])]

    def _price_of_room(self, shape: int) -> Floats:
        nodes = len(self.work.room.rows)
        price = np.zeros(nodes)
        full = self.work.free.places(shape) == 0
        price[full] = np.inf
        for at, item in enumerate(self.table.items):
            if full[item.node] and self._may(at):
                price[item.node] = min(price[item.node], self.table.cost[at])
        return price

    # --- clearing a node --------------------------------------------------------------

    def _clear(self, node: int, clashes: list["_Clash"]) -> bool:
        """
        Let those go who are in the way on a node, take a place, and place who moves.
        """
        mark = self.work.mark()
        for clash in clashes:
            for at in clash.items.get(int(clash.cells[node]), ()):
                if self.table.live[at] and not self._let_go(at):
                    return False
        for at in self.table.orders(gpus=self.gpus)[0].on(node).tolist():
            if self._has_place(node):
                break
            if self._may(at):
                self._let_go_unless_needed(at, node)
        if not self._has_place(node):
            return False
        self.work.take(self.state, self.leaf, {node: 1})
        left = sorted(self.leavers.since(mark).items(), key=dearest)
        left = [(x, going) for x, going in left if not self.leavers.spare(x)]
        moved = [serial for serial, going in left if going.leaver.rule == MOVED]
        return all(map(self.leavers.find_place, moved))

    def _has_place(self, node: int) -> bool:
        return has_room(self.work, self.state, self.leaf, node, self.mask)

    def _let_go_unless_needed(self, at: int, node: int) -> None:
        mark, around = self.work.mark(), self.work.around
        assert around is not None
        if not self._let_go(at) or not around.near_others(self._said)[node]:
            self.work.undo(mark)

    def _let_go(self, at: int) -> bool:
        return self.leavers.let_go(at, int(self.rules[self.table.sort[at]])) is not None


@dataclass(frozen=True, slots=True)
class _Clash:
    """
    A rule by which others keep a pod away: their number, price and items by domain.
    """

    cells: Ints
    row: Ints
    cost: Floats
    items: dict[int, list[int]]


def _clashes_with(said: Neighbours, pair: Pair, *, selects: bool) -> bool:
    return pair[0] in said.selected if selects else Apart(*pair) in said.apart
