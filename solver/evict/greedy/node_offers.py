"""
Offers: what each node gives for the pods of one gang if the cheapest leave it first.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from models.devices.gpu_parts import is_part
from models.resources import is_gpu
from solver.evict.greedy.places_once_left import PlacesOnceLeft, summed
from solver.evict.greedy.victim_table import Order, VictimTable
from solver.place.round_state import RoundState, keep_hosts_apart
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Floats, Ints, num_fitting

_EVER = 2**40
SAME = 1 + 1e-9
"""
Ratios that differ by less are the same.
"""


@dataclass(frozen=True, slots=True)
class Offer:
    """
    What one node gives next: the items that leave it, for how many more pods.
    """

    ratio: float
    items: Ints
    gain: int
    target: int


@dataclass(frozen=True, slots=True)
class Offers:
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
class NodeOffers:
    """
    What nodes offer one gang, by what may leave them as ``rules`` say.

    ``rules`` say per sort of item by which rule it may leave; those that turn out not
    to be allowed to are struck out.
    """

    work: RoundState
    table: VictimTable
    state: Standing
    rules: Ints
    once_left: PlacesOnceLeft
    _asked: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)
    _known: dict[int, tuple[Order, ...]] = field(default_factory=dict)

    def _shape_of(self, leaf: int) -> int:
        return self.work.problem.shapes.of_leaf[self.state.key, leaf]

    def _request(self, leaf: int) -> Ints:
        return np.asarray(self.work.problem.shapes.requests[self._shape_of(leaf)])

    def _orders(self, leaf: int) -> tuple[Order, ...]:
        if leaf not in self._known:
            gpus = pod_has_gpus(self.state, leaf)
            self._known[leaf] = self.table.orders(gpus=gpus)
        return self._known[leaf]

    def _may(self, items: Ints) -> Bools:
        rules = self.rules[self.table.sort[items]]
        return np.asarray((rules > 0) & self.table.live[items])

    def _most_on(self, leaf: int, nodes: Ints) -> Ints:
        """
        Say how many pods of a leaf a node may take, whatever room it has.
        """
        shape = self._shape_of(leaf)
        shapes = self.work.problem.shapes
        if not shapes.items[shape].tag:
            return np.where(shapes.allowed[shape, nodes], _EVER, 0)
        most = np.where(shapes.allowed[shape], _EVER, 0)
        placed = self.work.placed.get(self.state.key, {})
        keep_hosts_apart(self.state, leaf, placed, most)
        return most[nodes]

    def of_all(self, leaf: int, need: int, mask: Bools | None) -> Offers:
        """
        Add up for all nodes at once what could leave them, in the best of all orders.
        """
        first, *others = (
            self._in_order(order, leaf, need, mask) for order in self._orders(leaf)
        )
        for other in others:
            better = other.ratio * SAME < first.ratio
            ratio = np.where(better, other.ratio, first.ratio)
            gain = np.where(better, other.gain, first.gain)
            first = replace(first, ratio=ratio, gain=gain)
        return first

    def _in_order(
        self, order: Order, leaf: int, need: int, mask: Bools | None
    ) -> Offers:
        asked, request = self.asked(leaf)
        most = self._most_on(leaf, order.nodes)
        if mask is not None:
            most = most * mask[order.nodes]
        free = self.work.room.rows[:, asked]
        base = np.minimum(num_fitting(free[order.nodes], request), most)
        may = self._may(order.items)
        going = np.flatnonzero(may)
        which = order.group[going]
        places = self.once_left.of(order, self._request(leaf), may)[going]
        gain = np.minimum(places, most[which]) - base[which]
        paid = summed(self.table.costs(order.items[going], need), which)
        used = np.minimum(gain, need)
        ratio = np.where(gain > 0, paid / np.maximum(used, 1), np.inf)
        found = Offers(
            nodes=order.nodes,
            base=base,
            ratio=np.full(len(base), np.inf),
            gain=np.zeros_like(base),
            most=np.zeros_like(base),
            dearest=np.full(len(base), np.inf),
        )
        if len(going):
            group, first = np.unique(which, return_index=True)
            found.ratio[group] = np.minimum.reduceat(ratio, first)
            at_best = (ratio <= found.ratio[which]) & (ratio < np.inf)
            found.gain[group] = np.maximum.reduceat(np.where(at_best, used, 0), first)
            last = np.append(first[1:], len(going)) - 1
            found.most[group] = gain[last]
            found.dearest[group] = ratio[last]
        return found

    def asked(self, leaf: int) -> tuple[Ints, Ints]:
        """
        Give the columns that a leaf's pods ask for, and how much.
        """
        if leaf not in self._asked:
            request = self._request(leaf)
            asked = np.flatnonzero(request)
            self._asked[leaf] = asked, request[asked]
        return self._asked[leaf]

    def on(self, node: int, leaf: int, need: int) -> Offer | None:
        """
        Work out what is best let go on one node, in the best of all orders.
        """
        best: Offer | None = None
        for order in self._orders(leaf):
            offer = self._first_of(order.on(node), node, leaf, need)
            if offer and (best is None or offer.ratio * SAME < best.ratio):
                best = offer
        return best

    def _first_of(self, items: Ints, node: int, leaf: int, need: int) -> Offer | None:
        """
        Work out how many of some items are best let go, one after the other.
        """
        items = items[self._may(items)]
        if not len(items):
            return None
        asked, request = self.asked(leaf)
        most = int(self._most_on(leaf, np.array([node]))[0])
        left = np.empty((len(items) + 1, self.table.rows.shape[1]), dtype=np.int64)
        left[0] = 0
        self.table.rows[items].cumsum(0, out=left[1:])
        left += self.work.room.rows[node]
        where = np.full(len(left), node)
        room = self.work.room.after_leaving(where, left, asked)
        fits = np.minimum(num_fitting(room, request), most)
        gain = np.minimum(fits[1:] - fits[0], need)
        if gain[-1] <= 0:
            return None
        paid = self.table.costs(items, need).cumsum()
        ratio = np.where(gain > 0, paid / np.maximum(gain, 1), np.inf)
        at = int(np.flatnonzero(ratio <= ratio.min() * SAME)[-1])
        reached = int(gain[at])
        return Offer(
            ratio=float(ratio[at]),
            items=items[: at + 1],
            gain=reached,
            target=int(fits[0]) + reached,
        )


def pod_has_gpus(state: Standing, leaf: int) -> bool:
    """
    Tell whether pods of a leaf ask for GPUs.
    """
    requests = state.leaves[leaf].pod_set.requests
    return any(
        amount and (is_gpu(name) or is_part(name)) for name, amount in requests.items()
    )
