"""
Covering a need: which nodes are cleared for the pods of one gang, cheapest first.

What is free is taken first; then node after node where a place costs least, until all
pods that the gang needs have one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from models.gpu_parts import is_part
from models.resources import is_gpu
from solver.evict.eviction_ledger import MOVED
from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.victim_table import Order, VictimTable
from solver.evict.greedy.what_goes import Going
from solver.place.round_state import RoundState
from solver.problem.core_pods import pod_cost
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Bools, Floats, Ints, num_fitting
from solver.problem.running_domains import running_cells

_Number = TypeVar("_Number", np.int64, np.float64)
_EVER = 2**40
_SAME = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class _Offer:
    """
    What one node gives next: the items that leave it, for how many more pods.
    """

    ratio: float
    items: Ints
    gain: int
    target: int


@dataclass(frozen=True, slots=True)
class _Offers:
    """
    What all nodes with items could give, of one leaf.

    Per node what is free, the best ratio with its gain, and all that could be gained.
    """

    nodes: Ints
    base: Ints
    ratio: Floats
    gain: Ints
    most: Ints
    dearest: Floats


@dataclass(slots=True)
class Cover:
    """
    One gang for whose pods room is made.

    ``rules`` say per sort of item by which rule it may leave; those that turn out not
    to be allowed to are struck out.
    """

    work: RoundState
    table: VictimTable
    leavers: Leavers
    state: Standing
    counts: Mapping[int, int]
    rules: Ints
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
            rules = self.rules.copy()
            if self._below(at, inside):
                return True
            self.work.undo(mark)
            self.rules = rules
        return False

    def _missing(self, leaf: int) -> int:
        return self.counts.get(leaf, 0) - self.work.num(self.state, leaf)

    def _below(self, at: int, mask: Bools | None) -> bool:
        node = self.state.nodes[at]
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
        offers = self._offers(leaf, need, mask)
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
            offer = self._offer_on(node, leaf, need)
            if offer is None:
                continue
            if heap and offer.ratio > heap[0][0] * _SAME:
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

    def _fill(self, leaf: int, need: int, mask: Bools | None) -> int:
        return self.work.fill(self.state, leaf, need, mask) if need > 0 else 0

    def _is_open(self, leaf: int, need: int, mask: Bools | None) -> bool:
        """
        Tell whether there is enough left to take after a kind was struck out.

        Where kinds are many, as wide gangs are, this is asked after some of them only.
        """
        if self._struck & (self._struck - 1):
            return True
        return int(self._offers(leaf, need, mask).most.sum()) >= need

    def _queue_up(
        self, leaf: int, need: int, mask: Bools | None
    ) -> list[tuple[float, int]]:
        """
        List nodes by what a place costs, as a heap; none where there is not enough.
        """
        offers = self._offers(leaf, need, mask)
        if int(offers.most.sum()) < need:
            return []
        order = np.argsort(offers.ratio, kind="stable")
        order = order[np.isfinite(offers.ratio[order])]
        ratios = offers.ratio[order].tolist()
        return list(zip(ratios, offers.nodes[order].tolist(), strict=True))

    def _shape(self, leaf: int) -> int:
        return self.work.problem.shapes.of_leaf[self.state.key, leaf]

    def _order(self, leaf: int) -> Order:
        return self.table.order(gpus=pod_has_gpus(self.state, leaf))

    def _may(self, items: Ints) -> Bools:
        rules = self.rules[self.table.sort[items]]
        return np.asarray((rules > 0) & self.table.live[items])

    def _costs(self, items: Ints, need: int) -> Floats:
        """
        Say what items cost; a gang's cost is shared by the parts that are of use.
        """
        part = self.table.part_of[items]
        shared = np.minimum(self.table.wide_parts[part], max(1, need))
        whole = self.table.wide_cost[part] / shared
        return np.where(part >= 0, whole, self.table.cost[items])

    def _most_on(self, leaf: int, nodes: Ints) -> Ints:
        """
        Say how many pods of a leaf a node may take, whatever room it has.
        """
        shape = self._shape(leaf)
        most = np.where(self.work.problem.shapes.allowed[shape, nodes], _EVER, 0)
        if self.work.problem.shapes.items[shape].neighbours:
            return np.zeros_like(most)
        if not self.work.problem.shapes.items[shape].tag:
            return most
        mine = self.state.leaves[leaf].pod_set.exclusive
        if mine:
            most = np.minimum(most, 1)
        for other, hosts in self.work.placed.get(self.state.key, {}).items():
            if mine or self.state.leaves[other].pod_set.exclusive:
                most[np.isin(nodes, hosts)] = 0
        return most

    def _offers(self, leaf: int, need: int, mask: Bools | None) -> _Offers:
        """
        Add up for all nodes at once what could leave them.
        """
        order = self._order(leaf)
        asked, request = self._asked(leaf)
        items, first, last = order.items, order.first, order.last
        may = self._may(items)
        most = self._most_on(leaf, order.nodes)
        if mask is not None:
            most = most * mask[order.nodes]
        free = self.work.room.rows[:, asked]
        base = np.minimum(num_fitting(free[order.nodes], request), most)
        if self.work.room.has_devices:
            rows = self.table.rows[items] * may[:, None]
            left = self.work.room.rows[order.node] + _within(rows, first, order.group)
            room = self.work.room.after_leaving(order.node, left)[:, asked]
        else:
            rows = self.table.rows[:, asked][items] * may[:, None]
            room = free[order.node] + _within(rows, first, order.group)
        fits = np.minimum(num_fitting(room, request), most[order.group])
        gain = fits - base[order.group]
        paid = _within(self._costs(items, need) * may, first, order.group)
        used = np.minimum(gain, need)
        ratio = np.where(gain > 0, paid / np.maximum(used, 1), np.inf)
        best = np.minimum.reduceat(ratio, first) if len(first) else np.zeros(0)
        at_best = np.where(ratio <= best[order.group], used, 0)
        reached = np.maximum.reduceat(at_best, first) if len(first) else base
        return _Offers(
            nodes=order.nodes,
            base=base,
            ratio=best,
            gain=np.where(np.isfinite(best), reached, 0),
            most=gain[last - 1] if len(first) else base,
            dearest=ratio[last - 1] if len(first) else best,
        )

    def _asked(self, leaf: int) -> tuple[Ints, Ints]:
        """
        Give the columns that a leaf's pods ask for, and how much.
        """
        request = self.work.problem.shapes.requests[self._shape(leaf)]
        asked = np.flatnonzero(request)
        return asked, request[asked]

    def _offer_on(self, node: int, leaf: int, need: int) -> _Offer | None:
        """
        Work out what is best let go on one node.
        """
        items = self._order(leaf).on(node)
        items = items[self._may(items)]
        if not len(items):
            return None
        asked, request = self._asked(leaf)
        most = int(self._most_on(leaf, np.array([node]))[0])
        free = self.work.room.rows[node]
        left = np.concatenate([[free], free + self.table.rows[items].cumsum(0)])
        where = np.full(len(left), node)
        room = self.work.room.after_leaving(where, left)[:, asked]
        fits = np.minimum(num_fitting(room, request), most)
        gain = np.minimum(fits[1:] - fits[0], need)
        if gain[-1] <= 0:
            return None
        paid = self._costs(items, need).cumsum()
        ratio = np.where(gain > 0, paid / np.maximum(gain, 1), np.inf)
        at = int(np.flatnonzero(ratio <= ratio.min() * _SAME)[-1])
        reached = int(gain[at])
        return _Offer(
            ratio=float(ratio[at]),
            items=items[: at + 1],
            gain=reached,
            target=int(fits[0]) + reached,
        )

    # --- clearing a node --------------------------------------------------------------

    def _clear(self, node: int, leaf: int, offer: _Offer) -> list[int] | None:
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

    def _let_go(self, offer: _Offer) -> bool:
        for at in offer.items.tolist():
            sort = int(self.table.sort[at])
            rule = int(self.rules[sort])
            if self.table.live[at] and self.leavers.let_go(at, rule) is None:
                self._strike(sort)
                return False
        return True

    def _strike(self, sort: int) -> None:
        """
        Leave out, from here on, what is of a kind of which one may not leave.
        """
        kinds = self.table.kind_of
        self.rules[kinds == kinds[sort]] = 0
        self._struck += 1

    def _use(self, node: int, leaf: int, offer: _Offer, mark: int) -> bool:
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
        asked, request = self._asked(leaf)
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
        asked, request = self._asked(leaf)
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


def _within(values: NDArray[_Number], first: Ints, group: Ints) -> NDArray[_Number]:
    """
    Add values up, anew on every node.
    """
    total = values.cumsum(axis=0)
    before = total[first] - values[first]
    return np.asarray(total - before[group])


def pod_has_gpus(state: Standing, leaf: int) -> bool:
    """
    Tell whether pods of a leaf ask for GPUs.
    """
    requests = state.leaves[leaf].pod_set.requests
    return any(
        amount and (is_gpu(name) or is_part(name)) for name, amount in requests.items()
    )
