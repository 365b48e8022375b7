"""
Covering a need: which nodes are cleared for the pods of one gang, cheapest first.

What is free is taken first; then node after node where a place costs least, until all
pods that the gang needs have one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from solver.evict.greedy.beside_others import BesideOthers
from solver.evict.greedy.cheapest_domains import cheapest_domains
from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.kept_on_node import keep_dearest
from solver.evict.greedy.node_offers import SAME, NodeOffers, Offer, pod_has_gpus
from solver.evict.greedy.sorts import MOVE
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.rights.policy_bounds import MOVED
from solver.place.fill import fill
from solver.place.round_state import RoundState
from solver.problem.core_pods import pod_cost
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Bools


@dataclass(slots=True)
class Cover:
    """
    One gang for whose pods room is made, of what ``offers`` let leave.
    """

    work: RoundState
    table: VictimTable
    leavers: Leavers
    state: Standing
    counts: Mapping[int, int]
    offers: NodeOffers
    _struck: int = 0

    def run(self) -> bool:
        """
        Place what the gang needs on free and cleared room; say whether that was done.
        """
        return self._cover(0, None)

    # --- the tree -----------------------------------------------------------------

    def _cover(self, at: int, mask: Bools | None) -> bool:
        node = self.state.nodes[at]
        if not any(self._missing(i) for i in node.leaves):
            return True
        demand = node.topology
        if demand is None or demand.required is None:
            return self._below(at, mask)
        missing = {i: self._missing(i) for i in node.leaves}
        for inside in cheapest_domains(
            self.work, self.state, self.offers, missing, node, mask
        ):
            mark = self.work.mark()
            rules = self.offers.rules.copy()
            if self._below(at, inside):
                return True
            self.work.undo(mark)
            self.offers.rules = rules
        return False

    def _missing(self, leaf: int) -> int:
        return self.counts.get(leaf, 0) - self.work.num(self.state, leaf)

    def _below(self, at: int, mask: Bools | None) -> bool:
        node = self.state.nodes[at]
        if node.leaf >= 0 and self._has_neighbours(node.leaf):
            beside = self._beside_others(node.leaf, mask)
            return beside.place(self._missing(node.leaf))
        if node.leaf >= 0:
            return self._cover_leaf(node.leaf, mask)
        return all(self._cover(child, mask) for child in self._by_size(node))

    def _by_size(self, node: TreeNode) -> list[int]:
        """
        Order children: those with the largest pods, and then with most, first.
        """

        def rank(child: int) -> tuple[int, int, int]:
            below = self.state.nodes[child].leaves
            costs = [pod_cost(self.state, i) for i in below]
            total = sum(
                c * self.counts.get(i, 0) for c, i in zip(costs, below, strict=True)
            )
            return (-max(costs), -total, child)

        return sorted(node.children, key=rank)

    # --- one leaf -------------------------------------------------------------------

    def _cover_leaf(self, leaf: int, mask: Bools | None) -> bool:
        need = self._missing(leaf)
        need -= fill(self.work, self.state, leaf, need, mask)
        if need <= 0:
            return True
        heap = self._queue_up(leaf, need, mask)
        while need > 0 and heap:
            _, node = heappop(heap)
            offer = self.offers.on(node, leaf, need)
            if offer is None:
                continue
            if heap and offer.ratio > heap[0][0] * SAME:
                heappush(heap, (offer.ratio, node))
                continue
            others = self._clear(node, leaf, offer)
            heappush(heap, (offer.ratio, node))
            if others is None:
                if not self._is_open(leaf, need, mask):
                    return False
                continue
            need -= offer.gain
            if others:
                need -= fill(self.work, self.state, leaf, need, mask)
                for other in others:
                    if mask is None or mask[other]:
                        heappush(heap, (0.0, other))
        return need <= 0

    def _has_neighbours(self, leaf: int) -> bool:
        said = self.state.leaves[leaf].pod_set.neighbours
        return self.work.around is not None and bool(said)

    def _beside_others(self, leaf: int, mask: Bools | None) -> BesideOthers:
        return BesideOthers(
            work=self.work,
            table=self.table,
            leavers=self.leavers,
            state=self.state,
            leaf=leaf,
            rules=self.offers.rules,
            mask=mask,
            gpus=pod_has_gpus(self.state, leaf),
        )

    def _is_open(self, leaf: int, need: int, mask: Bools | None) -> bool:
        """
        Tell whether there is enough left to take after a kind was struck out.

        Where kinds are many, as wide gangs are, this is asked after some of them only.
        """
        if self._struck & (self._struck - 1):
            return True
        return int(self.offers.of_all(leaf, need, mask).most.sum()) >= need

    def _queue_up(
        self, leaf: int, need: int, mask: Bools | None
    ) -> list[tuple[float, int]]:
        """
        List nodes by what a place costs, as a heap; none where there is not enough.
        """
        offers = self.offers.of_all(leaf, need, mask)
        if int(offers.most.sum()) < need:
            return []
        order = np.argsort(offers.ratio, kind="stable")
        order = order[np.isfinite(offers.ratio[order])]
        ratios = offers.ratio[order].tolist()
        return list(zip(ratios, offers.nodes[order].tolist(), strict=True))

    # --- clearing a node --------------------------------------------------------------

    def _clear(self, node: int, leaf: int, offer: Offer) -> list[int] | None:
        """
        Let items go and take the room; list the other nodes that lost somebody.

        Nothing happens, and none are listed, where somebody may not go after all.
        """
        mark = self.work.mark()
        if self._let_go(offer) and self._use(node, leaf, offer, mark):
            found = self.leavers.since(mark).values()
            return sorted({n for g in found for n in g.rooms if n != node})
        self.work.undo(mark)
        return None

    def _let_go(self, offer: Offer) -> bool:
        """
        Let items leave by their rules; who may not be evicted may still be moved.
        """
        for at in offer.items.tolist():
            sort = int(self.table.sort[at])
            rule = int(self.offers.rules[sort])
            if not self.table.live[at] or self.leavers.let_go(at, rule):
                continue
            may_move = rule != MOVE and self.table.sorts.movable[sort]
            if not (may_move and self.leavers.let_go(at, MOVE)):
                self._strike(sort)
                return False
        return True

    def _strike(self, sort: int) -> None:
        """
        Leave out, from here on, what is of a kind of which one may not leave.
        """
        kinds = self.table.kind_of
        self.offers.rules[kinds == kinds[sort]] = 0
        self._struck += 1

    def _use(self, node: int, leaf: int, offer: Offer, mark: int) -> bool:
        """
        Put pods on a cleared node, and find places for who is moved away.
        """
        wanted = *self.offers.asked(leaf), offer.target
        keep_dearest(self.work.room, self.leavers, node, wanted, mark)
        self.work.take(self.state, leaf, {node: offer.gain})
        for serial, going in self.leavers.since(mark).items():
            moved = going.leaver.rule == MOVED
            if moved and not self.leavers.find_place(serial):
                self._strike(going.item.sort)
                return False
        return True
