"""
The table of what may leave: one row for each victim on its node, cheapest first there.

Numbers lie in arrays, so that what a node could give up is added up for all nodes at
once.  Who may leave for whom, and what happens to others then, is not decided here.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import floor, inf

import numpy as np

from models.gangs import PodSet, leaf_of
from models.resources import is_gpu
from solver.evict.greedy.sorts import Sorts
from solver.evict.greedy.victim_rows import VictimRow, VictimRows, spare_of
from solver.evict.victims import Victim, Victims
from solver.problem.node_room import Bools, Floats, Ints
from solver.problem.problem import Problem
from solver.problem.running_gangs import age_of, work_of

TINY = 1e-12
"""
By this part devices of equal cost differ, so that the items of each lie together.
"""


class VictimTable:
    """
    All items, with what they hold and cost; ``live`` are those that may leave next.

    ``refreshed`` lists the nodes on which an item holds more or less than before, in
    the order of the changes.
    """

    def __init__(self, problem: Problem, victims: Victims) -> None:
        self.problem = problem
        self.victims = victims
        self._tuning = problem.tuning.evict
        self.listed = VictimRows(problem, victims)
        self.items = self.listed.items
        width, number = len(problem.room.resources), len(self.items)
        holds = np.array(self.listed.holds, dtype=np.int64)
        self.rows: Ints = holds.reshape(number, width)
        self.node: Ints = np.array([i.node for i in self.items], dtype=np.int64)
        self.sort: Ints = np.array([i.sort for i in self.items], dtype=np.int64)
        self.part_of: Ints = np.maximum(self.sort - len(victims.accounts), -1)
        self.cost: Floats = np.array([self._cost(i) for i in self.items], dtype=float)
        values = problem.values
        found = [item.victim for item in self.items]
        self.age: Ints = np.array([age_of(v.pods) for v in found], dtype=np.int64)
        self.size: Ints = np.array(
            [
                sum(values.of_pod(leaf_of(v.gang, i).requests) for i, _ in v.pods)
                for v in found
            ],
            dtype=np.int64,
        )
        self.live: Bools = np.ones(len(self.items), dtype=bool)
        self.wide_cost: Floats = np.zeros(len(victims.wide) + 1)
        self.wide_parts: Ints = np.ones(len(victims.wide) + 1, dtype=np.int64)
        self.kind_of: Ints = self._kinds()
        self.refreshed: list[int] = []
        self._orders: dict[bool, tuple[Order, ...]] = {}
        self.sorts = Sorts(victims)
        for wide in range(len(victims.wide)):
            self.refresh(wide, frozenset())

    def _kinds(self) -> Ints:
        """
        Sum sorts up in kinds: of a kind none may leave where another one may not.
        """
        kinds: dict[object, int] = {}
        found: list[int] = []
        for record in self.victims.accounts:
            key: object = len(found)
            tree = record.sample.gang.tree
            free = isinstance(tree, PodSet) and not (tree.topology or tree.exclusive)
            if record.wide < 0 and isinstance(tree, PodSet) and free:
                row = self.listed.row(record.requests).tobytes()
                key = (record.queue, record.band, record.budgets, record.pods, row)
                key = (key, record.rights, tree.demand)
            found.append(kinds.setdefault(key, len(kinds)))
        last = len(kinds)
        found += range(last, last + len(self.victims.wide))
        return np.array(found, dtype=np.int64)

    def _cost(self, item: VictimRow) -> float:
        if item.wide >= 0:
            band = self.victims.wide[item.wide].band
            return self._lost(item.victim, band)
        band = self.victims.accounts[item.sort].band
        return self._lost(item.victim, band) + self._tuning.per_gang

    def _lost(self, victim: Victim, band: int) -> float:
        return victim.work + self._each(band) * len(victim.pods)

    def _each(self, band: int) -> float:
        """
        Give what a pod that leaves costs, beside its work.
        """
        return self._tuning.per_pod + self._tuning.per_band * band

    # --- what changes ---------------------------------------------------------------

    def refresh(self, wide: int, gone: AbstractSet[int], *, left: bool = True) -> None:
        """
        Say anew what may leave of a wide gang, of which items are ``gone`` one by one.

        It is there at all where it is ``left``.
        """
        own = self.listed.of_wide.get(wide, [])
        if not left:
            self.live[own] = False
            return
        record = self.victims.wide[wide]
        pods = len(record.pods) - len(gone)
        spare = spare_of(record) - len(gone)
        self.sorts.pods[len(self.victims.accounts) + wide] = pods
        parts = {self.items[at].node: at for at in own if self.part_of[at] >= 0}
        self.live[list(parts.values())] = True
        self._refresh_singles(wide, gone, spare, parts)
        work = work_of(self.problem.values, record.gang, record.pods)
        work -= sum(self.items[at].victim.work for at in gone)
        each = self._each(record.band)
        self.wide_cost[wide] = work + self._tuning.per_gang + each * pods
        self.wide_parts[wide] = max(1, int(self.live[list(parts.values())].sum()))

    def _refresh_singles(
        self, wide: int, gone: AbstractSet[int], spare: int, parts: Mapping[int, int]
    ) -> None:
        """
        Offer the cheapest pods of each node one by one, and the others only together.
        """
        for node, mine in self.listed.singles.get(wide, {}).items():
            stay = [at for at in mine if at not in gone]
            stay.sort(key=lambda at: (self.cost[at], at))
            self.live[mine] = False
            self.live[stay[: max(0, spare)]] = True
            part = parts.get(node)
            if part is not None:
                others = stay[max(0, spare) :]
                self.rows[part] = self.rows[others].sum(axis=0)
                self.refreshed.append(node)
                self.live[part] = bool(others)

    @property
    def shared_cost(self) -> Floats:
        """
        Say what each item costs; that of a gang is shared by all its parts.
        """
        part = self.part_of
        shared = self.wide_cost[part] / self.wide_parts[part]
        return np.where(part >= 0, shared, self.cost)

    def costs(self, items: Ints, need: int) -> Floats:
        """
        Say what items cost; a gang's cost is shared by the parts that are of use.
        """
        part = self.part_of[items]
        shared = np.minimum(self.wide_parts[part], max(1, need))
        whole = self.wide_cost[part] / shared
        return np.where(part >= 0, whole, self.cost[items])

    def least_lost(self, leaving: Bools, short: Ints, need: int) -> float:
        """
        Bound what is lost until so much more is free on all nodes together.

        Where some sorts are ``leaving`` for so many pods; infinite if that is too few.
        """
        items = np.flatnonzero(self.live & leaving[self.sort])
        cost = np.floor(self.costs(items, need))
        columns = np.flatnonzero(short > 0).tolist()
        found = (_least(cost, self.rows[items, at], short[at]) for at in columns)
        return max(found, default=0.0)

    # --- the order on each node -----------------------------------------------------

    def orders(self, *, gpus: bool) -> "tuple[Order, ...]":
        """
        Order the items of each node, cheapest first, for pods with GPUs or without.

        The first order is by cost for what is held.  Where devices are shared there
        are two more, since a device is of use as a whole: one by what an item costs
        alone, and one by what all on its device cost together.  So it is with pieces
        that pods are tied to.
        """
        if gpus not in self._orders:
            ranks = [(self.size, self.age, self._density(gpus=gpus))]
            parts = self.problem.room.parts
            if parts is not None and (gpus or parts.tied.number):
                cost = self.shared_cost
                ranks.append((self.size, self.age, cost))
                devices = cost_of_devices(self.items, cost)
                ranks.append((self.size, self.age, devices))
            self._orders[gpus] = tuple(Order(self.node, one) for one in ranks)
        return self._orders[gpus]

    def _density(self, *, gpus: bool) -> Floats:
        """
        Say what an item costs for what it holds; without any GPU it comes last.
        """
        room = self.problem.room
        has = np.array([is_gpu(r) for r in room.resources], dtype=bool)
        scale = np.maximum(room.empty.max(axis=0, initial=1), 1)
        rows = self.rows / scale
        if room.parts is not None:
            block = room.parts.devices.block
            has[block] = True
            rows[:, block] /= scale[room.parts.gpu]
            rows[:, room.parts.tied.block] = 0
        size = rows[:, has if gpus else ~has].sum(axis=1)
        cost = self.shared_cost
        for together in sharers(self.items) if gpus else ():
            size[together], cost[together] = size[together].sum(), cost[together].sum()
        return np.where(size > 0, cost / np.maximum(size, 1e-9), np.inf)


def _least(cost: Floats, held: Ints, short: int) -> float:
    """
    Add up the cheapest of what is held until nothing is short, the last one in part.
    """
    if held.sum() < short:
        return inf
    cost, held = cost[held > 0], held[held > 0]
    order = np.argsort(cost / held)
    cost, held = cost[order], held[order]
    taken = np.clip(short - (held.cumsum() - held), 0, held)
    return float(floor((cost * taken / held).sum()))


def cost_of_devices(items: Sequence[VictimRow], cost: Floats) -> Floats:
    """
    Say for each item what all who share its device cost; no two devices are equal.
    """
    cost = cost.copy()
    for at, together in enumerate(sharers(items)):
        cost[together] = cost[together].sum() * (1 + at * TINY)
    return cost


def sharers(items: Sequence[VictimRow]) -> list[list[int]]:
    """
    List the items on each device, by the first one they have: they go together.

    Without devices it is the first piece that they are tied to.
    """
    found: dict[tuple[int, int, int], list[int]] = {}
    for at, item in enumerate(items):
        pieces = [one for _, pod in item.victim.pods for one in pod.pieces]
        devices = [(device, 0) for device, _ in pieces if device >= 0]
        if pieces:
            found.setdefault((item.node, *min(devices or pieces)), []).append(at)
    return [*found.values()]


class Order:
    """
    Items sorted by node, and on each node by some ranks, of which the last counts most.
    """

    def __init__(self, node: Ints, ranks: Sequence[Ints | Floats]) -> None:
        self.items: Ints = np.lexsort((*ranks, node))
        self.node = node[self.items]
        edges = np.flatnonzero(np.diff(self.node, prepend=-1))
        self.first: Ints = edges
        self.last: Ints = np.append(edges[1:], len(node)) if len(edges) else edges
        self.nodes: Ints = self.node[edges]
        self.group: Ints = np.repeat(np.arange(len(edges)), self.last - self.first)
        self._at = {int(n): i for i, n in enumerate(self.nodes)}

    def groups_of(self, nodes: Iterable[int]) -> list[int]:
        """
        Give the numbers of those nodes that have items.
        """
        return [self._at[node] for node in nodes if node in self._at]

    def on(self, node: int) -> Ints:
        """
        List the items of one node.
        """
        at = self._at.get(node)
        if at is None:
            return self.items[:0]
        return self.items[self.first[at] : self.last[at]]
