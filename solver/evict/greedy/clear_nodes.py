"""
Covering a need: which nodes are cleared for the pods of one gang, cheapest first.

What is free is taken first; then node after node where a place costs least, until all
pods that the gang needs have one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from solver.evict.eviction_ledger import MOVED
from solver.evict.greedy.beside_others import BesideOthers
from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.node_offers import SAME, NodeOffers, Offer, pod_has_gpus
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.greedy.what_goes import Going
from solver.place.round_state import RoundState
from solver.problem.core_pods import pod_cost
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Bools, Floats, Ints, num_fitting
from solver.problem.running_domains import running_cells


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
        for inside in self._domains(node, mask):
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

    def _domains(self, node: TreeNode, mask: Bools | None) -> Iterator[Bools]:
        """
        Walk the few domains in which the pods below a node would cost least.
        """
        demand = node.topology
        assert demand is not None
        assert demand.required is not None
        problem = self.work.problem
        cells = problem.domains.cells(demand.topology, demand.required)
        used = running_cells(problem, self.state, node, demand, demand.required)
        rows = self.work.placed.get(self.state.key, {})
        used |= cells.on([host for i in node.leaves for host in rows.get(i, ())])
        if 0 in used or len(used) > 1:
            return
        costs = np.zeros(len(cells.names))
        for leaf in node.leaves:
            if self._missing(leaf) > 0:
                costs += self._costs_by_cell(leaf, mask, cells.of_node, len(costs))
        costs[0] = np.inf
        order = np.argsort(costs, kind="stable")[
            : self.table.problem.tuning.evict.most_domains
        ]
        for cell in [min(used)] if used else order.tolist():
            if np.isfinite(costs[cell]):
                inside = cells.mask([cell])
                yield inside if mask is None else inside & mask

    def _costs_by_cell(
        self, leaf: int, mask: Bools | None, cell_of: Ints, number: int
    ) -> Floats:
        """
        Estimate per domain what the places of a leaf cost; infinite without enough.
        """
        need = self._missing(leaf)
        free = self.work.room_for(self.state, leaf, mask)
        offers = self.offers.of_all(leaf, need, mask)
        rest = offers.most - offers.gain
        where = np.concatenate([np.arange(len(free)), offers.nodes, offers.nodes])
        prices = np.concatenate([np.zeros(len(free)), offers.ratio, offers.dearest])
        amounts = np.concatenate([free, offers.gain, rest])
        some = (amounts > 0) & np.isfinite(prices)
        where, prices, amounts = where[some], prices[some], amounts[some]
        cells = cell_of[where]
        order = np.lexsort((prices, cells))
        cells, prices, amounts = cells[order], prices[order], amounts[order]
        costs = np.full(number, np.inf)
        edges = np.searchsorted(cells, np.arange(number + 1))
        for cell in np.unique(cells).tolist():
            here = slice(edges[cell], edges[cell + 1])
            taken = np.minimum(np.cumsum(amounts[here]), need)
            if taken[-1] >= need:
                costs[cell] = float(np.diff(taken, prepend=0) @ prices[here])
        return costs

    # --- one leaf -------------------------------------------------------------------

    def _cover_leaf(self, leaf: int, mask: Bools | None) -> bool:
        need = self._missing(leaf)
        need -= self._fill(leaf, need, mask)
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
                need -= self._fill(leaf, need, mask)
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

    def _fill(self, leaf: int, need: int, mask: Bools | None) -> int:
        return self.work.fill(self.state, leaf, need, mask) if need > 0 else 0

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
        if self.offers.moves_are_too_few(leaf, need):
            return []
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
        for at in offer.items.tolist():
            sort = int(self.table.sort[at])
            rule = int(self.offers.rules[sort])
            if self.table.live[at] and self.leavers.let_go(at, rule) is None:
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
        self._keep(node, leaf, offer.target, mark)
        self.work.take(self.state, leaf, {node: offer.gain})
        for serial, going in self.leavers.since(mark).items():
            moved = going.leaver.rule == MOVED
            if moved and not self.leavers.find_place(serial):
                self._strike(going.item.sort)
                return False
        return True

    def _keep(self, node: int, leaf: int, target: int, mark: int) -> None:
        """
        Let those stay who need not leave the node, the dearest first.
        """
        found = self.leavers.since(mark)
        if len(found) < 2:
            return
        asked, request = self.offers.asked(leaf)
        if self.work.room.has_devices:
            self._keep_one_by_one(node, leaf, target, found)
            return
        slack = self.work.room.rows[node, asked] - target * request
        rows = np.array([going.rooms[node][asked] for going in found.values()])
        if not (rows <= slack).all(axis=1).any():
            return
        for serial, going in sorted(found.items(), key=dearest):
            row = going.rooms[node][asked]
            if (row <= slack).all() and self.leavers.is_apart(going):
                self.leavers.bring_back(serial)
                slack = slack - row

    def _keep_one_by_one(
        self, node: int, leaf: int, target: int, found: Mapping[int, Going]
    ) -> None:
        """
        Let those stay without whom the node has as many places, the dearest first.
        """
        room = self.work.room
        asked, request = self.offers.asked(leaf)
        for serial, going in sorted(found.items(), key=dearest):
            left = (room.rows[node] - going.rooms[node])[None]
            rows = room.after_leaving(np.array([node]), left)
            enough = num_fitting(rows[:, asked], request)[0] >= target
            if enough and self.leavers.is_apart(going):
                self.leavers.bring_back(serial)


def dearest(pair: tuple[int, Going]) -> tuple[int, bool, int, int, int, int]:
    """
    Rank who left by what is lost with it, most first.
    """
    serial, going = pair
    work, whole, pods, band, age = going.rank
    return (-work, not whole, -pods, -band, -age, serial)
