"""
The table of what may leave: one row for each victim on its node, cheapest first there.

Numbers lie in arrays, so that what a node could give up is added up for all nodes at
once.  Who may leave for whom, and what happens to others then, is not decided here.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from models.gangs import Gang, Pod, PodSet, pod_sets
from models.resources import Resources, is_gpu
from solver.evict.may_leave import Rights
from solver.evict.victims import Victims, Wide, held_row
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import Bools, Floats, Ints
from solver.problem.problem import Problem, Step
from solver.problem.running_gangs import Runner, age_of

RECLAIM, PREEMPT, MOVE = 1, 2, 3


@dataclass(frozen=True, slots=True)
class VictimRow:
    """
    What leaves a node: a small gang, a spare pod, or a part of a gang that goes whole.

    ``sort`` is its account, or the number of accounts and more for gangs that go whole.
    """

    node: int
    sort: int
    wide: int
    pods: tuple[Runner, ...]
    gang: Gang
    work: int


class VictimTable:
    """
    All items, with what they hold and cost; ``live`` are those that may leave next.
    """

    def __init__(self, problem: Problem, victims: Victims) -> None:
        self.problem = problem
        self.victims = victims
        self._tuning = problem.tuning.evict
        self.items: list[VictimRow] = []
        self.of_wide: dict[int, list[int]] = {}
        self.singles: dict[int, dict[int, list[int]]] = {}
        self._rows_of: dict[int, tuple[Resources, Ints]] = {}
        rows = self._collect()
        width = len(problem.room.resources)
        self.rows: Ints = np.array(rows, dtype=np.int64).reshape(len(rows), width)
        self.node: Ints = np.array([i.node for i in self.items], dtype=np.int64)
        self.sort: Ints = np.array([i.sort for i in self.items], dtype=np.int64)
        self.part_of: Ints = np.maximum(self.sort - len(victims.accounts), -1)
        self.cost: Floats = np.array([self._cost(i) for i in self.items], dtype=float)
        values = problem.values
        self.age: Ints = np.array([age_of(i.pods) for i in self.items], dtype=np.int64)
        self.size: Ints = np.array(
            [
                sum(values.of_pod(self.requests(i.gang, leaf)) for leaf, _ in i.pods)
                for i in self.items
            ],
            dtype=np.int64,
        )
        self.live: Bools = np.ones(len(self.items), dtype=bool)
        self.wide_cost: Floats = np.zeros(len(victims.wide) + 1)
        self.wide_parts: Ints = np.ones(len(victims.wide) + 1, dtype=np.int64)
        self.kind_of: Ints = self._kinds()
        self._orders: dict[bool, Order] = {}
        self._sorts = _Sorts(victims)
        for wide in range(len(victims.wide)):
            self.refresh(wide, frozenset())

    def row(self, requests: Resources) -> Ints:
        """
        Write a request over the columns of the room; not to be changed.
        """
        known = self._rows_of.get(id(requests))
        if known is None:
            known = (requests, self.problem.room.row(dict(requests)))
            self._rows_of[id(requests)] = known
        return known[1]

    def held(self, requests: Resources, pod: Pod, node: int) -> Ints:
        """
        Write what a running pod holds of its node; not to be changed.
        """
        if not pod.devices:
            return self.row(requests)
        return self.problem.room.held(requests, pod.devices, node)

    @staticmethod
    def requests(gang: Gang, leaf: int) -> Resources:
        """
        Give what one pod of a leaf asks for.
        """
        if isinstance(gang.tree, PodSet):
            return gang.tree.requests
        return tuple(pod_sets(gang.tree))[leaf].requests

    def _collect(self) -> list[Ints]:
        """
        List all items, and what each of them holds.
        """
        rows = []
        for node, here in self.victims.on_node.items():
            for account, alike in here.items():
                record = self.victims.accounts[account]
                if record.wide >= 0 and spare_of(self.victims.wide[record.wide]) <= 0:
                    continue
                row = self.row(record.requests)
                for victim in alike:
                    if victim.devices:
                        row = held_row(self.problem.room, victim, node)
                    at = len(self.items)
                    self.items.append(
                        VictimRow(
                            node=node,
                            sort=account,
                            wide=record.wide,
                            pods=victim.pods,
                            gang=victim.gang,
                            work=victim.work,
                        )
                    )
                    rows.append(row)
                    if record.wide >= 0:
                        on = self.singles.setdefault(record.wide, {})
                        on.setdefault(node, []).append(at)
                        self.of_wide.setdefault(record.wide, []).append(at)
        for at, wide in enumerate(self.victims.wide):
            rows += self._parts(at, wide)
        return rows

    def _parts(self, at: int, wide: Wide) -> list[Ints]:
        """
        Add the parts of a gang that leave together.
        """
        if not wide.rights:
            return []
        leaves = tuple(pod_sets(wide.gang.tree))
        on: dict[int, list[Runner]] = {}
        for runner, host in zip(wide.pods, wide.hosts, strict=True):
            if host != NOWHERE:
                on.setdefault(host, []).append(runner)
        rows = []
        for node, runners in on.items():
            self.of_wide.setdefault(at, []).append(len(self.items))
            self.items.append(
                VictimRow(
                    node=node,
                    sort=len(self.victims.accounts) + at,
                    wide=at,
                    pods=tuple(runners),
                    gang=wide.gang,
                    work=self.problem.runners.work_of(wide.gang, runners),
                )
            )
            row = np.zeros(len(self.problem.room.resources), dtype=np.int64)
            for leaf, pod in runners:
                row += self.held(leaves[leaf].requests, pod, node)
            rows.append(row)
        return rows

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
                row = self.row(record.requests).tobytes()
                key = (record.queue, record.band, record.budgets, record.pods, row)
                key = (key, record.rights, tree.demand)
            found.append(kinds.setdefault(key, len(kinds)))
        last = len(kinds)
        found += range(last, last + len(self.victims.wide))
        return np.array(found, dtype=np.int64)

    def _cost(self, item: VictimRow) -> float:
        if item.wide >= 0:
            band = self.victims.wide[item.wide].band
            return item.work + self._each(band) * len(item.pods)
        band = self.victims.accounts[item.sort].band
        return item.work + self._tuning.per_gang + self._each(band) * len(item.pods)

    def _each(self, band: int) -> float:
        """
        Give what a pod that leaves costs, beside its work.
        """
        return self._tuning.per_pod + self._tuning.per_band * band

    # --- what changes ---------------------------------------------------------------

    def refresh(self, wide: int, gone: AbstractSet[int], *, left: bool = True) -> None:
        """
        Say anew what may leave of a wide gang.

        Parameters
        ----------
        wide
            Its index.
        gone
            The items of it that have left one by one.
        left
            Whether the gang is there at all.
        """
        own = self.of_wide.get(wide, [])
        if not left:
            self.live[own] = False
            return
        record = self.victims.wide[wide]
        pods = len(record.pods) - len(gone)
        spare = spare_of(record) - len(gone)
        parts = {self.items[at].node: at for at in own if self.part_of[at] >= 0}
        self.live[list(parts.values())] = True
        self._refresh_singles(wide, gone, spare, parts)
        work = self.problem.runners.work_of(record.gang, record.pods)
        work -= sum(self.items[at].work for at in gone)
        each = self._each(record.band)
        self.wide_cost[wide] = work + self._tuning.per_gang + each * pods
        self.wide_parts[wide] = max(1, int(self.live[list(parts.values())].sum()))

    def _refresh_singles(
        self, wide: int, gone: AbstractSet[int], spare: int, parts: Mapping[int, int]
    ) -> None:
        """
        Offer the cheapest pods of each node one by one, and the others only together.
        """
        for node, mine in self.singles.get(wide, {}).items():
            stay = [at for at in mine if at not in gone]
            stay.sort(key=lambda at: (self.cost[at], at))
            self.live[mine] = False
            self.live[stay[: max(0, spare)]] = True
            part = parts.get(node)
            if part is not None:
                others = stay[max(0, spare) :]
                self.rows[part] = self.rows[others].sum(axis=0)
                self.live[part] = bool(others)

    # --- who may leave for whom -----------------------------------------------------

    def rules(self, queue: str, band: int) -> Ints:
        """
        Give for each sort the rule by which it may leave for a start, 0 for none.
        """
        claims = self.problem.step is Step.ENTITLED
        return self._sorts.rules(queue, band, claims=claims)

    def in_queues(self, queues: Sequence[str]) -> Bools:
        """
        Tell for each sort whether it is of one of some queues.
        """
        return self._sorts.in_queues(queues)

    @property
    def movable(self) -> Bools:
        """
        Tell for each sort whether it may be moved.
        """
        return self._sorts.movable

    @property
    def shared_cost(self) -> Floats:
        """
        Say what each item costs; that of a gang is shared by all its parts.
        """
        part = self.part_of
        shared = self.wide_cost[part] / self.wide_parts[part]
        return np.where(part >= 0, shared, self.cost)

    # --- the order on each node -----------------------------------------------------

    def order(self, *, gpus: bool) -> "Order":
        """
        Order the items of each node, cheapest first, for pods with GPUs or without.
        """
        if gpus not in self._orders:
            ranks = (self.size, self.age, self._density(gpus=gpus))
            self._orders[gpus] = Order(self.node, ranks)
        return self._orders[gpus]

    def _density(self, *, gpus: bool) -> Floats:
        """
        Say what an item costs for what it holds; without any GPU it comes last.
        """
        room = self.problem.room
        has = np.array([is_gpu(r) for r in room.resources], dtype=bool)
        scale = np.maximum(room.empty.max(axis=0, initial=1), 1)
        if room.parts is not None and gpus:
            block = room.parts.devices.block
            has[block] = True
            scale[block] *= scale[room.parts.gpu]
        size = (self.rows / scale)[:, has if gpus else ~has].sum(axis=1)
        cost = self.shared_cost
        for together in self._sharers() if gpus else ():
            size[together], cost[together] = size[together].sum(), cost[together].sum()
        return np.where(size > 0, cost / np.maximum(size, 1e-9), np.inf)

    def _sharers(self) -> list[list[int]]:
        """
        List the items on each device, by the first one they have: they go together.
        """
        found: dict[tuple[int, int], list[int]] = {}
        for at, item in enumerate(self.items):
            numbers = [place.device for _, pod in item.pods for place in pod.devices]
            if numbers:
                found.setdefault((item.node, min(numbers)), []).append(at)
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

    def on(self, node: int) -> Ints:
        """
        List the items of one node.
        """
        at = self._at.get(node)
        if at is None:
            return self.items[:0]
        return self.items[self.first[at] : self.last[at]]


class _Sorts:
    """
    Queue, band and rights of every sort, as columns.
    """

    def __init__(self, victims: Victims) -> None:
        accounts, wide = victims.accounts, victims.wide
        rights: list[Rights] = [r.rights for r in accounts] + [w.rights for w in wide]
        self._queues = [r.queue for r in accounts] + [w.queue for w in wide]
        self._codes = {name: i for i, name in enumerate(dict.fromkeys(self._queues))}
        self._queue = np.array([self._codes[q] for q in self._queues], dtype=np.int64)
        bands = [r.band for r in accounts] + [w.band for w in wide]
        self._band = np.array(bands, dtype=np.int64)
        self._reclaim = np.array([r.reclaim for r in rights], dtype=bool)
        self._preempt = np.array([r.preempt for r in rights], dtype=bool)
        self.movable: Bools = np.array([r.move for r in rights], dtype=bool)

    def rules(self, queue: str, band: int, *, claims: bool) -> Ints:
        own = self._queue == self._codes.get(queue, -1)
        found = np.where(self.movable, MOVE, 0)
        found[self._preempt & own & (self._band < band)] = PREEMPT
        if claims:
            found[self._reclaim & ~own] = RECLAIM
        return found

    def in_queues(self, queues: Sequence[str]) -> Bools:
        codes = [self._codes[name] for name in queues if name in self._codes]
        return np.isin(self._queue, codes)


def spare_of(wide: Wide) -> int:
    """
    Count the pods that a gang of one leaf may lose one by one.
    """
    state = wide.state
    if state is None or len(state.nodes) > 1:
        return 0
    (leaf,) = state.leaves
    if not state.nodes[0].live or not leaf.minimum:
        return len(leaf.running)
    return min(len(leaf.running), leaf.counted - leaf.minimum)
