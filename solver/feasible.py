"""
What could never start, however empty the cluster: arithmetic on empty nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.reasons import Facts, Reason, Waiting
from solver.domains import Domains
from solver.eligibility import spread_to_groups
from solver.quotas import Amounts, QueueTree
from solver.room import Bools, Ints, Room
from solver.shapes import Shapes
from solver.standing import Standing, least_need

_MANY = 2**40


def num_fitting(free: Ints, request: Ints) -> Ints:
    """
    Count for each node how many pods of one request fit.
    """
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.full(len(free), _MANY, dtype=np.int64)
    counts = (free[:, asked].clip(min=0) // request[asked]).min(axis=1)
    return np.asarray(counts)


@dataclass(frozen=True, kw_only=True)
class Possible:
    """
    How many pods of each shape empty nodes can hold, in all or in one domain.
    """

    room: Room
    shapes: Shapes
    domains: Domains
    _counts: dict[int, Ints] = field(default_factory=dict)

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

    def parts(self, topology: str, level: str) -> list[Ints]:
        """
        List the nodes of every domain of a level.
        """
        cells = self.domains.cells(topology, level)
        return [
            np.flatnonzero(cells.of_node == cell) for cell in range(1, len(cells.names))
        ]

    def available(
        self, state: Standing, nodes: Ints | None = None
    ) -> Callable[[int], int]:
        """
        Give per leaf how many of its pending pods empty nodes hold.
        """

        def count(leaf: int) -> int:
            shape = self.shapes.of_leaf[state.key, leaf]
            counts = self.per_node(shape)
            places = int((counts if nodes is None else counts[nodes]).sum())
            return min(len(state.leaves[leaf].pending), places)

        return count

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
        places = self.available(state)
        if len(state.nodes) == 1:
            return [0] if places(0) else []
        alive = [False] * len(state.nodes)
        for at in reversed(range(len(state.nodes))):
            node = state.nodes[at]
            if node.leaf >= 0:
                leaf = state.leaves[node.leaf]
                least = max(leaf.need, 0 if leaf.counted else 1)
                alive[at] = node.live or places(node.leaf) >= least
            else:
                below = sum(state.leaves[i].counted + places(i) for i in node.leaves)
                groups = sum(alive[c] for c in node.children)
                alive[at] = groups >= node.min_groups and below >= node.min_pods
        for at, node in enumerate(state.nodes):
            if node.parent >= 0 and not alive[node.parent]:
                alive[at] = False
        return [
            node.leaf
            for at, node in enumerate(state.nodes)
            if node.leaf >= 0 and alive[at] and places(node.leaf)
        ]


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
        kind = _kind(state, possible)
        if kind not in known:
            known[kind] = (
                _no_fitting_node(state, possible)
                or _exceeds_cluster(state, possible)
                or _exceeds_domains(state, possible)
                or _exceeds_quota(state, queues)
            )
        waiting = known[kind]
        if waiting is not None:
            found[key] = waiting
    return spread_to_groups(states, found)


def _kind(state: Standing, possible: Possible) -> object:
    if len(state.leaves) > 1 or state.leaves[0].running:
        return state.key
    leaf = state.leaves[0]
    return (
        possible.shapes.of_leaf[state.key, 0],
        leaf.minimum,
        leaf.counted,
        len(leaf.pending),
        leaf.pod_set.topology,
        state.gang.queue,
        state.gang.preemptible,
    )


def _no_fitting_node(state: Standing, possible: Possible) -> Waiting | None:
    places = possible.available(state)
    if (
        least_need(state, lambda _: 1, lambda i: _all_or_none(state, i, places))
        is not None
    ):
        return None
    for at, leaf in enumerate(state.leaves):
        if leaf.pending and not places(at):
            name = f"{state.gang.namespace}/{leaf.pending[0].name}"
            return Waiting(
                Reason.NO_FITTING_NODE,
                {"pod": name, "detail": _why_nowhere(state, at, possible)},
            )
    return None


def _all_or_none(state: Standing, leaf: int, places: Callable[[int], int]) -> int:
    return len(state.leaves[leaf].pending) if places(leaf) else 0


def _why_nowhere(state: Standing, at: int, possible: Possible) -> str:
    shape = possible.shapes.of_leaf[state.key, at]
    allowed = possible.shapes.allowed[shape]
    total = len(allowed)
    if not allowed.any():
        return f"selectors, affinity, taints or cordons rule out all {total} nodes"
    requests = state.leaves[at].pod_set.requests
    parts = []
    for column, name in enumerate(possible.room.resources):
        if requests.get(name, 0):
            best = int(possible.room.empty[allowed, column].max())
            if best < requests[name]:
                parts.append(f"{name}: asks for {requests[name]}, most is {best}")
    return "; ".join(parts) or "no node has enough of all resources at once"


def _exceeds_cluster(state: Standing, possible: Possible) -> Waiting | None:
    places = possible.available(state)
    shapes = {possible.shapes.of_leaf[state.key, i] for i in range(len(state.leaves))}
    matching = np.zeros(len(possible.room.nodes), dtype=bool)
    for shape in shapes:
        matching |= possible.shapes.allowed[shape]
    for column, name in enumerate(possible.room.resources):
        needs = needed(state, name)
        total = int(possible.room.empty[matching, column].clip(min=0).sum())
        if needs > total:
            facts: Facts = {"resource": name, "needs": needs, "total": total}
            return Waiting(Reason.DEMAND_EXCEEDS_CLUSTER, facts)
    if least_need(state, lambda _: 1, places) is None:
        needs = least_need(state, lambda _: 1) or 0
        total = sum(places(i) for i in range(len(state.leaves)))
        return Waiting(
            Reason.DEMAND_EXCEEDS_CLUSTER,
            {"resource": "pods", "needs": needs, "total": total},
        )
    return None


def needed(state: Standing, resource: str) -> int:
    """
    Give the least amount of one resource that the gang's missing pods ask for.
    """
    leaves = state.leaves
    return least_need(state, lambda i: leaves[i].pod_set.requests.get(resource, 0)) or 0


def _exceeds_domains(state: Standing, possible: Possible) -> Waiting | None:
    limits = [_MANY] * len(state.leaves)
    level = ""
    for node in state.nodes:
        demand = node.topology
        if demand is None or demand.required is None:
            continue
        level = demand.required
        domains = possible.parts(demand.topology, level)
        for i in node.leaves:
            best = max(
                (possible.available(state, nodes)(i) for nodes in domains),
                default=0,
            )
            limits[i] = min(limits[i], best)
        if node.parent < 0:
            waiting = _exceeds_every_domain(state, possible, level, domains)
            if waiting is not None:
                return waiting
    if level and least_need(state, lambda _: 1, lambda i: limits[i]) is None:
        needs = least_need(state, lambda _: 1) or 0
        facts: Facts = {
            "resource": "pods",
            "needs": needs,
            "level": level,
            "largest": max(limits),
        }
        return Waiting(Reason.TOPOLOGY_TOO_SMALL, facts)
    return None


def _exceeds_every_domain(
    state: Standing,
    possible: Possible,
    level: str,
    domains: Sequence[Ints],
) -> Waiting | None:
    allowed = _allowed_somewhere(state, possible)
    best: dict[str, int] = {}
    for nodes in domains:
        usable = nodes[allowed[nodes]]
        sums = possible.room.empty[usable].clip(min=0).sum(axis=0)
        for column, name in enumerate(possible.room.resources):
            best[name] = max(best.get(name, 0), int(sums[column]))
    for name in possible.room.resources:
        needs = needed(state, name)
        if needs > best.get(name, 0):
            facts: Facts = {
                "resource": name,
                "needs": needs,
                "level": level,
                "largest": best.get(name, 0),
            }
            return Waiting(Reason.TOPOLOGY_TOO_SMALL, facts)
    fits = any(
        least_need(state, lambda _: 1, possible.available(state, nodes)) is not None
        for nodes in domains
    )
    if fits:
        return None
    places = [
        sum(possible.available(state, nodes)(i) for i in range(len(state.leaves)))
        for nodes in domains
    ]
    return Waiting(
        Reason.TOPOLOGY_TOO_SMALL,
        {
            "resource": "pods",
            "needs": least_need(state, lambda _: 1) or 0,
            "level": level,
            "largest": max(places, default=0),
        },
    )


def _allowed_somewhere(state: Standing, possible: Possible) -> Bools:
    rows = [possible.shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]
    return np.asarray(possible.shapes.allowed[rows].any(axis=0))


def _exceeds_quota(state: Standing, queues: QueueTree) -> Waiting | None:
    for name in queues.path(state.gang.queue):
        for resource in queues.named:
            rule = queues.queues[name].rule(resource)
            needs = needed(state, resource)
            own = sum(
                len(leaf.running) * leaf.pod_set.requests.get(resource, 0)
                for leaf in state.leaves
            )
            limits = (
                [rule.limit] if state.gang.preemptible else [rule.limit, rule.quota]
            )
            for limit in limits:
                if limit is not None and needs and needs + own > limit:
                    facts: Facts = {
                        "resource": resource,
                        "needs": needs + own,
                        "queue": name,
                        "limit": limit,
                    }
                    return Waiting(Reason.QUOTA_EXCEEDS_MAXIMUM, facts)
    return None
