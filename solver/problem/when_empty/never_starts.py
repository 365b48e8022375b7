"""
Who can never start in this cluster, with the numbers that say so.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.why.reasons import Facts, Reason, Waiting
from solver.problem.eligibility import spread_to_groups
from solver.problem.gang_state import Standing, TreeNode, least_need
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
    shapes = possible.alike(state)
    places = [possible.total(shape) for shape in shapes]
    whole = [len(x.pending) if places[i] else 0 for i, x in enumerate(state.leaves)]
    if least_need(state, lambda _: 1, whole.__getitem__) is not None:
        return None
    for at, leaf in enumerate(state.leaves):
        if leaf.pending and not places[at]:
            facts: Facts = {"leaf": at, **possible.why_nowhere(shapes[at])}
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


def _exceeds_cluster(state: Standing, possible: Possible) -> Waiting | None:
    totals = possible.sums(state)
    for column, name in enumerate(possible.room.resources):
        needs, total = needed(state, name), int(totals[column])
        if needs > total:
            facts: Facts = {"resource": name, "needs": needs, "total": total}
            return Waiting(Reason.DEMAND_EXCEEDS_CLUSTER, facts)
    alike = possible.alike(state)
    places = [possible.total(shape) for shape in alike]
    if _is_enough(state, alike, places):
        return None
    short = _pods_short(state, alike, [places])
    return Waiting(Reason.DEMAND_EXCEEDS_CLUSTER, short.facts("total"))


def _pending(state: Standing, alike: Sequence[int]) -> Counter[int]:
    pairs = zip(alike, state.leaves, strict=True)
    return Counter(shape for shape, leaf in pairs for _ in leaf.pending)


def _is_enough(state: Standing, alike: Sequence[int], places: Sequence[int]) -> bool:
    """
    Tell whether so many places per leaf let a gang start; leaves alike share theirs.
    """
    have = [min(len(x.pending), n) for x, n in zip(state.leaves, places, strict=True)]
    if least_need(state, lambda _: 1, have.__getitem__) is None:
        return False
    most = dict(zip(alike, places, strict=True))
    short = [x for x, pods in _pending(state, alike).items() if pods > most[x]]
    needs = [
        least_need(state, [y == x for y in alike].__getitem__, have.__getitem__) or 0
        for x in short
    ]
    return all(n <= most[x] for x, n in zip(short, needs, strict=True))


def needed(
    state: Standing,
    resource: str,
    available: Callable[[int], int] | None = None,
) -> int:
    """
    Give the least amount of one resource that the gang's missing pods ask for.
    """
    if len(state.leaves) == 1:
        price = state.leaves[0].pod_set.requests.get(resource, 0)
        return price and (least_need(state, lambda _: price, available) or 0)
    prices = [leaf.pod_set.requests.get(resource, 0) for leaf in state.leaves]
    if not any(prices):
        return 0
    return least_need(state, prices.__getitem__, available) or 0


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


def _pods_short(
    state: Standing, alike: Sequence[int], places: Sequence[Sequence[int]]
) -> _Short:
    """
    Say of which leaf there are too few places everywhere, or of all of them together.

    ``places`` are the number per leaf for each choice of nodes; those ``alike`` share.
    """
    best = [max((row[i] for row in places), default=0) for i in range(len(alike))]
    choice = least_need(state, lambda _: 1) or 0
    short = [i for i, leaf in enumerate(state.leaves) if leaf.need > best[i]]
    if len(short) == 1:
        leaf = state.leaves[short[0]]
        of_leaf = f" of {leaf.path}" if leaf.path else ""
        alone = " with a host each" if leaf.pod_set.exclusive else ""
        return _Short(leaf.need, best[short[0]], short[0], f"{of_leaf}{alone}")
    needs: Counter[int] = Counter()
    for shape, leaf in zip(alike, state.leaves, strict=True):
        needs[shape] += leaf.need or len(leaf.pending)
    shared = [dict(zip(alike, row, strict=True)) for row in places]
    most = max((sum((needs & Counter(x)).values()) for x in shared), default=0)
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
    short = _pods_short(state, range(len(offers)), [offers])
    found = [
        (possible.best(state, i, *demand), demand, i)
        for node, demand in zip(state.nodes, demands, strict=True)
        if demand is not None
        for i in node.leaves
    ]
    mine = [one for one in found if one[2] == short.leaf]
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
    nodes = np.flatnonzero(possible.shapes.allowed[possible.alike(state)].any(axis=0))
    sums = np.zeros((len(cells.names), len(possible.room.resources)), dtype=np.int64)
    np.add.at(sums, cells.of_node[nodes], possible.room.empty[nodes].clip(min=0))
    for column, name in enumerate(possible.room.resources):
        needs, largest = needed(state, name), int(sums[1:, column].max(initial=0))
        if needs > largest:
            facts: Facts = {"resource": name, "needs": needs, "largest": largest}
            return _too_small(possible, facts, topology, level)
    alike = possible.alike(state)
    rows = _rooms_of_domains(state, possible, topology, level)
    if any(_is_enough(state, alike, row) for row in rows):
        return None
    short = _pods_short(state, alike, rows)
    return _too_small(possible, short.facts("largest"), topology, level)


def _rooms_of_domains(
    state: Standing, possible: Possible, topology: str, level: str
) -> list[list[int]]:
    """
    List the numbers of places per leaf in one domain, each combination once.
    """
    alike = possible.alike(state)
    pods = _pending(state, alike)
    columns = [
        np.minimum(possible.per_domain(shape, topology, level), pods[shape])
        for shape in alike
    ]
    rows = np.unique(np.stack(columns, axis=1), axis=0)
    return [[int(number) for number in row] for row in rows[::-1]]


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
