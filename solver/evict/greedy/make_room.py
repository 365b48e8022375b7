"""
Room for one unit: others leave until all of it has a place, then only those who must.
"""

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import isinf

import numpy as np

from solver.evict.beneficiaries import worth
from solver.evict.greedy.clear_nodes import Cover
from solver.evict.greedy.hand_step import HandStep
from solver.evict.greedy.kept_on_node import dearest
from solver.evict.greedy.may_stay import lie_well, may_stay
from solver.evict.greedy.node_offers import NodeOffers
from solver.evict.greedy.shortfalls import Counts
from solver.evict.greedy.sorts import MOVE, PREEMPT, RECLAIM
from solver.place.place_gang import place_unit, placed_counts
from solver.problem.core_pods import least_core
from solver.problem.gang_state import Standing
from solver.problem.node_room import Ints, Places
from solver.problem.problem import Unit

Left = Mapping[str, Mapping[str, int]]
"""
What is left of limits or shares, per queue and resource.
"""


class RoomMaking:
    """
    How others are let go for the units of a step; ``_left`` is what may still be lost.
    """

    def __init__(self, step: HandStep, *, pooled: bool = True) -> None:
        self.step = step
        self.pooled = pooled
        self._left = 0.0

    def make(self, unit: Unit, mark: int) -> bool:
        """
        Let others go until all of a unit has a place, then only those who must.
        """
        planned = {state.key: _need(state) for state in unit.states}
        if not self.step.book(unit, planned, later=True):
            return False
        if not self.step.shortfalls.within_quotas(unit, planned):
            return False
        short = self.step.shortfalls.short(unit, planned)
        above = self.step.shortfalls.above(unit, planned) if self.step.entitled else []
        tight = {queue for queue, _ in [*short, *above]}
        tries = [self._below(tight), None] if tight else [None]
        if not any(self._clear(unit, planned, short, queues) for queues in tries):
            return False
        self._place_again(unit, mark)
        placed = placed_counts(self.step.work, unit)
        if not self.step.book(unit, placed):
            return False
        self.spare(mark)
        return self._settle(placed, unit, mark)

    def _clear(
        self,
        unit: Unit,
        planned: Counts,
        short: Mapping[tuple[str, str], int],
        queues: Ints | None,
    ) -> bool:
        """
        Let others go, of some queues or of all, until a unit has places and rights.
        """
        if not all(self._may_relieve(unit, *key).size for key in short):
            return False
        if self._loses_too_much(unit, planned, queues):
            return False
        mark, ledger = self.step.work.mark(), self.step.work.ledger
        ledger.lend(short)
        done = all(self._cover(state, planned, unit, queues) for state in unit.states)
        ledger.lend(short, -1)
        if done and all(self._relieve(unit, ledger.limit, *key) for key in short):
            share = ledger.share
            above = (
                self.step.shortfalls.above(unit, planned) if self.step.entitled else []
            )
            if all(self._relieve(unit, share, *key) for key in above):
                return True
        self.step.work.undo(mark)
        return False

    def _loses_too_much(self, unit: Unit, planned: Counts, queues: Ints | None) -> bool:
        """
        Tell whether too few may leave, or more is lost than may be, wherever it is.

        Who is moved takes as much as it leaves.
        """
        rules = np.array([self._rules(state, unit, queues) for state in unit.states])
        leaving = np.logical_or.reduce(np.isin(rules, (RECLAIM, PREEMPT)))
        short = self.step.shortfalls.room(unit, planned)
        pods = sum(sum(counts.values()) for counts in planned.values())
        least = self.step.table.least_lost(leaving, short, pods)
        may = self._left + worth(self.step.problem, unit, planned)
        return isinf(least) or least > may

    def _cover(
        self, state: Standing, planned: Counts, unit: Unit, queues: Ints | None
    ) -> bool:
        work, table = self.step.work, self.step.table
        rules = self._rules(state, unit, queues)
        cover = Cover(
            work,
            table,
            self.step.leavers,
            state,
            planned[state.key],
            NodeOffers(work, table, state, rules, self.step.once_left),
        )
        return cover.run()

    def _rules(self, state: Standing, unit: Unit, queues: Ints | None) -> Ints:
        queue = self.step.work.problem.queues.leaf(state.gang.queue)
        left, claims = self.step.rights.bounds.left(), self.step.entitled
        rules = self.step.table.sorts.rules(queue, unit.band, left, claims=claims)
        return rules if queues is None else rules * queues

    def _place_again(self, unit: Unit, mark: int) -> None:
        """
        Place a unit by the usual habits where nobody was moved for it.

        The places found on the way are kept where that fails.
        """
        pods = sum(
            len(h) for s in unit.states for h in self.step.work.placed[s.key].values()
        )
        if pods == 1 or any(g.unit for g in self.step.leavers.since(mark).values()):
            return
        found = {
            state.key: {i: [*h] for i, h in self.step.work.placed[state.key].items()}
            for state in unit.states
        }
        self.step.work.unplace(mark)
        if place_unit(self.step.work, unit):
            return
        for state in unit.states:
            for i, hosts in found[state.key].items():
                self.step.work.take(state, i, Counter(hosts))

    def spare(self, mark: int) -> None:
        """
        Let those stay who need not leave after all, the dearest first.
        """
        found = [
            (serial, going)
            for serial, going in self.step.leavers.since(mark).items()
            if going.unit is None and may_stay(self.step.work, self.step.rights, going)
        ]
        for serial, _ in sorted(found, key=dearest):
            self.step.leavers.spare(serial)

    def _settle(self, placed: Counts, unit: Unit, mark: int) -> bool:
        """
        Keep what was done for a unit if it is worth it.
        """
        if not lie_well(self.step.work, self.step.leavers.goings.values()):
            return False
        gone = self.step.leavers.since(mark).values()
        if not gone:
            return True
        lost = sum(going.work for going in gone)
        rest = self._left + worth(self.step.problem, unit, placed) - lost
        if rest < 0:
            return False
        self._left = rest if self.pooled else 0.0
        return True

    def _below(self, tight: AbstractSet[str]) -> Ints:
        """
        Mark the sorts below all of some queues: what leaves there is of use for all.
        """
        names = [
            name
            for name in self.step.problem.queues.queues
            if tight <= set(self.step.rights.path(name))
        ]
        return self.step.table.sorts.in_queues(names).astype(np.int64)

    def _relieve(self, unit: Unit, table: Left, queue: str, name: str) -> bool:
        """
        Let the cheapest go until a queue is within its limit, or its share.
        """
        left = table[queue]
        if left[name] >= 0:
            return True
        rules = self._relieving(unit, queue)
        amounts = self._amounts(name)
        costs = self.step.table.shared_cost / np.maximum(amounts, 1)
        order = self._may_relieve(unit, queue, name)
        ranks = (self.step.table.size, self.step.table.age, costs)
        for at in order[np.lexsort([rank[order] for rank in ranks])].tolist():
            sort = self.step.table.sort[at]
            if self.step.table.live[at] and rules[sort]:
                if self.step.leavers.let_go(at, int(rules[sort])) is None:
                    rules[sort] = 0
                elif left[name] >= 0:
                    return True
        return False

    def _may_relieve(self, unit: Unit, queue: str, name: str) -> Ints:
        """
        List what may leave and then leaves a queue more of a resource.

        Who is moved stays in its queue.
        """
        rules, amounts = self._relieving(unit, queue), self._amounts(name)
        return np.flatnonzero((rules[self.step.table.sort] > 0) & (amounts > 0))

    def _relieving(self, unit: Unit, queue: str) -> Ints:
        rules = self._rules(unit.states[0], unit, self._below({queue}))
        rules[rules == MOVE] = 0
        return rules

    def _amounts(self, name: str) -> Ints:
        rows: Ints = self.step.table.rows
        return rows[:, self.step.problem.room.resources.index(name)]


def _need(state: Standing) -> dict[int, int]:
    """
    Count the pods of each leaf that a gang needs, where all its pods may be had.
    """
    every = Places(tuple((0,) * len(leaf.pending) for leaf in state.leaves))
    return {i: count for i, count in least_core(state, every).items() if count}
