"""
Who can never start in this cluster, with the numbers that say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.why.reasons import Facts, Reason, Waiting
from solver.problem.eligibility import spread_to_groups
from solver.problem.gang_state import Standing, TreeNode, least_need
from solver.problem.node_room import Bools
from solver.problem.unit_kind import gang_kind, names_of
from solver.problem.when_empty.possible_room import Possible
from solver.shares.queue_tree import QueueTree


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

    ``places`` are, for each choice of nodes, the number per leaf.
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
