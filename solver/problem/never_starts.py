"""
What could never start, however empty the cluster: arithmetic on empty nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.reasons import Facts, Reason, Waiting
from solver.problem.domains import Domains
from solver.problem.eligibility import spread_to_groups
from solver.problem.gang_state import Standing, TreeNode, least_need, satisfied_after
from solver.problem.no_fitting_node import why_nowhere
from solver.problem.node_room import Bools, Ints, Room, num_fitting
from solver.problem.pod_shapes import Shapes
from solver.problem.unit_kind import gang_kind, names_of
from solver.shares.queue_tree import Amounts, QueueTree


@dataclass(frozen=True, kw_only=True)
class Possible:
    """
    How many pods of each shape empty nodes can hold, in all or in one domain.
    """

    room: Room
    shapes: Shapes
    domains: Domains
    _counts: dict[int, Ints] = field(default_factory=dict)
    _totals: dict[int, int] = field(default_factory=dict)
    _by_domain: dict[tuple[int, str, str], Ints] = field(default_factory=dict)
    _living: dict[str, list[int] | None] = field(default_factory=dict)
    _nowhere: dict[int, Facts] = field(default_factory=dict)
    _sums: dict[object, Ints] = field(default_factory=dict)

    def per_node(self, shape: int) -> Ints:
        """
        Count a shape's pods per empty node.
        """
        if shape not in self._counts:
            counts = num_fitting(self.room.empty, self.shapes.requests[shape])
            if self.shapes.items[shape].exclusive:
                counts = np.minimum(counts, 1)
            self._counts[shape] = np.where(self.shapes.allowed[shape], counts, 0)
        return self._counts[shape]

    def total(self, shape: int) -> int:
        """
        Count a shape's pods on all empty nodes together.
        """
        if shape not in self._totals:
            self._totals[shape] = int(self.per_node(shape).sum())
        return self._totals[shape]

    def per_domain(self, shape: int, topology: str, level: str) -> Ints:
        """
        Count a shape's pods per domain of a level, where all nodes are empty.
        """
        key = (shape, topology, level)
        if key not in self._by_domain:
            cells = self.domains.cells(topology, level)
            totals = np.zeros(len(cells.names), dtype=np.int64)
            np.add.at(totals, cells.of_node, self.per_node(shape))
            self._by_domain[key] = totals[1:]
        return self._by_domain[key]

    def sums(self, state: Standing) -> Ints:
        """
        Add up what all empty nodes have on which any pod of a gang may be.
        """
        rows = [self.shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]
        items = [self.shapes.items[row] for row in rows]
        key = frozenset((item.demand, item.banned) for item in items)
        if key not in self._sums:
            nodes = self.shapes.allowed[rows].any(axis=0)
            self._sums[key] = self.room.empty[nodes].clip(min=0).sum(axis=0)
        return self._sums[key]

    def available(self, state: Standing) -> Callable[[int], int]:
        """
        Give per leaf how many of its pending pods empty nodes hold.
        """

        def count(leaf: int) -> int:
            places = self.total(self.shapes.of_leaf[state.key, leaf])
            return min(len(state.leaves[leaf].pending), places)

        return count

    def offers(self, state: Standing) -> list[int]:
        """
        Cut the pending pods of each leaf to what empty nodes, and domains, hold.
        """
        places = self.available(state)
        counts = [places(i) for i in range(len(state.leaves))]
        for node in state.nodes:
            demand = node.topology
            if demand is None or demand.required is None:
                continue
            for i in node.leaves:
                best = self.best(state, i, demand.topology, demand.required)
                counts[i] = min(counts[i], best)
        return counts

    def best(self, state: Standing, leaf: int, topology: str, level: str) -> int:
        """
        Count the places for a leaf in the domain of a level that has most.
        """
        shape = self.shapes.of_leaf[state.key, leaf]
        return int(self.per_domain(shape, topology, level).max(initial=0))

    def living(self, state: Standing) -> list[int] | None:
        """
        Cut offers to subtrees that can be satisfied; none where the root never can.

        A leaf that waits for a role that is never reached gets no pods, either.
        """
        if state.key not in self._living:
            self._living[state.key] = self._cut(state, self.offers(state))
        return self._living[state.key]

    @staticmethod
    def _cut(state: Standing, counts: list[int]) -> list[int] | None:
        while True:
            before = sum(counts)
            satisfied = satisfied_after(state, dict(enumerate(counts)))
            for at, node in enumerate(state.nodes):
                if not satisfied[at]:
                    for i in node.leaves:
                        counts[i] = 0
            for i, leaf in enumerate(state.leaves):
                if any(counts[t] < state.leaves[t].need for t in leaf.after):
                    counts[i] = 0
            if sum(counts) == before:
                return counts if satisfied[0] else None

    def demand(self, states: Sequence[Standing]) -> Amounts:
        """
        Add up pending pods per queue, without subtrees that can never be satisfied.
        """
        total: Amounts = {}
        for state in states:
            amounts = total.setdefault(state.gang.queue, {})
            for at in self._living_leaves(state):
                leaf = state.leaves[at]
                for name, amount in leaf.pod_set.requests.items():
                    more = amount * len(leaf.pending)
                    amounts[name] = amounts.get(name, 0) + more
        return total

    def _living_leaves(self, state: Standing) -> list[int]:
        return [i for i, pods in enumerate(self.living(state) or ()) if pods]

    def why_nowhere(self, shape: int) -> Facts:
        """
        Say why a shape fits no empty node.
        """
        if shape not in self._nowhere:
            self._nowhere[shape] = why_nowhere(self.room, self.shapes, shape)
        return self._nowhere[shape]


def structural_reasons(
    states: Mapping[str, Standing],
    blocked: Mapping[str, Waiting],
    possible: Possible,
    queues: QueueTree,
) -> dict[str, Waiting]:
    """
    Find the gangs that could not start even on empty nodes and in an idle queue.
    """
    known: dict[object, Waiting | None] = {}
    found = dict(blocked)
    for key, state in states.items():
        if key in blocked or state.satisfied:
            continue
        kind = (gang_kind(possible.shapes, state), names_of(state))
        if kind not in known:
            known[kind] = (
                _no_fitting_node(state, possible)
                or _exceeds_cluster(state, possible)
                or _exceeds_domains(state, possible)
                or _exceeds_quota(state, queues, possible)
            )
        waiting = known[kind]
        if waiting is not None:
            found[key] = _with_own_pod(state, waiting)
    return spread_to_groups(states, found)


def _no_fitting_node(state: Standing, possible: Possible) -> Waiting | None:
    places = possible.available(state)
    if (
        least_need(state, lambda _: 1, lambda i: _all_or_none(state, i, places))
        is not None
    ):
        return None
    for at, leaf in enumerate(state.leaves):
        if leaf.pending and not places(at):
            shape = possible.shapes.of_leaf[state.key, at]
            facts: Facts = {"leaf": at, **possible.why_nowhere(shape)}
            return Waiting(Reason.NO_FITTING_NODE, facts)
    return None


def _with_own_pod(state: Standing, waiting: Waiting) -> Waiting:
    """
    Name a gang's own pod where one of its leaves is said to fit no node.
    """
    facts = dict(waiting.facts)
    leaf = facts.pop("leaf", None)
    if not isinstance(leaf, int):
        return waiting
    pod = f"{state.gang.namespace}/{state.leaves[leaf].pending[0].name}"
    return Waiting(waiting.reason, {"pod": pod, **facts})


def _all_or_none(state: Standing, leaf: int, places: Callable[[int], int]) -> int:
    return len(state.leaves[leaf].pending) if places(leaf) else 0


def _exceeds_cluster(state: Standing, possible: Possible) -> Waiting | None:
    totals = possible.sums(state)
    for column, name in enumerate(possible.room.resources):
        needs, total = needed(state, name), int(totals[column])
        if needs > total:
            facts: Facts = {"resource": name, "needs": needs, "total": total}
            return Waiting(Reason.DEMAND_EXCEEDS_CLUSTER, facts)
    places = possible.available(state)
    if least_need(state, lambda _: 1, places) is not None:
        return None
    counts = [places(i) for i in range(len(state.leaves))]
    short = _pods_short(state, [counts])
    return Waiting(Reason.DEMAND_EXCEEDS_CLUSTER, short.facts("total"))


def needed(
    state: Standing,
    resource: str,
    available: Callable[[int], int] | None = None,
) -> int:
    """
    Give the least amount of one resource that the gang's missing pods ask for.
    """
    prices = [leaf.pod_set.requests.get(resource, 0) for leaf in state.leaves]
    if not any(prices):
        return 0
    return least_need(state, lambda i: prices[i], available) or 0


@dataclass(frozen=True, slots=True)
class _Short:
    """
    How many pods are needed, of which leaf if it is one, and how many there can be.
    """

    needs: int
    most: int
    leaf: int | None = None
    where: str = ""

    def facts(self, word: str) -> Facts:
        facts: Facts = {"resource": "pods", "needs": self.needs, word: self.most}
        return facts | ({"where": self.where} if self.where else {})


def _pods_short(state: Standing, places: Sequence[Sequence[int]]) -> _Short:
    """
    Say of which leaf there are too few places everywhere, or of all of them together.

    Parameters
    ----------
    state
        A gang that cannot start.
    places
        For each choice of nodes the number of places per leaf.
    """
    best = [
        max((row[i] for row in places), default=0) for i in range(len(state.leaves))
    ]
    choice = least_need(state, lambda _: 1) or 0
    short = [i for i, leaf in enumerate(state.leaves) if leaf.need > best[i]]
    if len(short) == 1:
        leaf = state.leaves[short[0]]
        of_leaf = f" of {leaf.path}" if leaf.path else ""
        alone = " with a host each" if leaf.pod_set.exclusive else ""
        return _Short(leaf.need, best[short[0]], short[0], f"{of_leaf}{alone}")
    most = max(
        (
            sum(min(leaf.need, row[i]) for i, leaf in enumerate(state.leaves))
            for row in places
        ),
        default=0,
    )
    return _Short(choice, min(most, choice - 1))


def _exceeds_domains(state: Standing, possible: Possible) -> Waiting | None:
    demands = [_required(node) for node in state.nodes]
    if demands[0] is not None:
        waiting = _exceeds_every_domain(state, possible, *demands[0])
        if waiting is not None:
            return waiting
    if not any(demands):
        return None
    offers = possible.offers(state)
    if least_need(state, lambda _: 1, lambda i: offers[i]) is not None:
        return None
    short = _pods_short(state, [offers])
    found = [
        (min(possible.best(state, i, *demand) for i in node.leaves), demand)
        for node, demand in zip(state.nodes, demands, strict=True)
        if demand is not None
    ]
    mine = [
        (possible.best(state, i, *demand), demand)
        for node, demand in zip(state.nodes, demands, strict=True)
        for i in node.leaves
        if demand is not None and i == short.leaf
    ]
    return _too_small(possible, short.facts("largest"), *min(mine or found)[1])


def _required(node: TreeNode) -> tuple[str, str] | None:
    demand = node.topology
    if demand is None or demand.required is None:
        return None
    return demand.topology, demand.required


def _too_small(possible: Possible, facts: Facts, topology: str, level: str) -> Waiting:
    facts = facts | {"level": level}
    if len(possible.domains.cells(topology, level).names) == 1:
        facts["hint"] = f" (no node has the labels of a {level})"
    return Waiting(Reason.TOPOLOGY_TOO_SMALL, facts)


def _exceeds_every_domain(
    state: Standing, possible: Possible, topology: str, level: str
) -> Waiting | None:
    cells = possible.domains.cells(topology, level)
    nodes = np.flatnonzero(_allowed_somewhere(state, possible))
    sums = np.zeros((len(cells.names), len(possible.room.resources)), dtype=np.int64)
    np.add.at(sums, cells.of_node[nodes], possible.room.empty[nodes].clip(min=0))
    for column, name in enumerate(possible.room.resources):
        needs, largest = needed(state, name), int(sums[1:, column].max(initial=0))
        if needs > largest:
            facts: Facts = {"resource": name, "needs": needs, "largest": largest}
            return _too_small(possible, facts, topology, level)
    rows = _rooms_of_domains(state, possible, topology, level)
    for row in rows:
        if least_need(state, lambda _: 1, row.__getitem__) is not None:
            return None
    short = _pods_short(state, rows)
    return _too_small(possible, short.facts("largest"), topology, level)


def _rooms_of_domains(
    state: Standing, possible: Possible, topology: str, level: str
) -> list[list[int]]:
    """
    List the numbers of places per leaf in one domain, each combination once.
    """
    columns = [
        np.minimum(
            possible.per_domain(possible.shapes.of_leaf[state.key, i], topology, level),
            len(leaf.pending),
        )
        for i, leaf in enumerate(state.leaves)
    ]
    rows = np.unique(np.stack(columns, axis=1), axis=0)
    return [[int(number) for number in row] for row in rows[::-1]]


def _allowed_somewhere(state: Standing, possible: Possible) -> Bools:
    rows = [possible.shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]
    return np.asarray(possible.shapes.allowed[rows].any(axis=0))


def _exceeds_quota(
    state: Standing, queues: QueueTree, possible: Possible
) -> Waiting | None:
    living = possible.living(state)
    available = None if living is None else living.__getitem__
    for name in queues.path(state.gang.queue):
        for resource in queues.named:
            rule = queues.queues[name].rule(resource)
            limits = [(rule.limit, "")]
            if not state.gang.preemptible:
                limits.append((rule.quota, " of non-preemptible work"))
            if all(limit is None for limit, _ in limits):
                continue
            needs = needed(state, resource, available)
            own = sum(
                len(leaf.running) * leaf.pod_set.requests.get(resource, 0)
                for leaf in state.leaves
            )
            for limit, work in limits:
                if limit is not None and needs and needs + own > limit:
                    facts: Facts = {
                        "resource": resource,
                        "needs": needs + own,
                        "queue": name,
                        "limit": limit,
                    }
                    facts |= {"work": work} if work else {}
                    if team := queues.outside.get(name):
                        facts |= {"queue": state.gang.queue, **team.facts(resource)}
                    return Waiting(Reason.QUOTA_EXCEEDS_MAXIMUM, facts)
    return None
