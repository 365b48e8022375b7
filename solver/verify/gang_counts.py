"""
Which pods of a gang count, and whether its minimums hold.

Written from the rules alone; the planner counts for itself, elsewhere.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from models.gangs import Gang, Group, MatchPolicy, PodPhase, PodSet, Tree, pod_sets

Counts = Mapping[str, int]
WAITING = frozenset({PodPhase.PENDING, PodPhase.RESERVED})
_MOST_ROLES = 8


class Tally(NamedTuple):
    """
    How many pods of a leaf run, have succeeded, and could get a place.
    """

    running: int
    succeeded: int
    pending: int


def tally(leaf: PodSet) -> Tally:
    """
    Count the pods of a leaf in the phases that matter; reserved ones are pending.
    """
    running = succeeded = pending = 0
    for pod in leaf.pods:
        phase = pod.phase
        if phase is PodPhase.RUNNING:
            running += 1
        elif phase in WAITING:
            pending += 1
        elif phase is PodPhase.SUCCEEDED:
            succeeded += 1
    return Tally(running, succeeded, pending)


def counted(gang: Gang, tallies: Mapping[str, Tally]) -> dict[str, int]:
    """
    Count per leaf the pods that count towards minimums before the plan.
    """
    match gang.match_policy:
        case MatchPolicy.ONLY_WAITING:
            return dict.fromkeys(tallies, 0)
        case MatchPolicy.WAITING_AND_RUNNING:
            return {name: t.running for name, t in tallies.items()}
        case MatchPolicy.WAITING_RUNNING_SUCCEED | MatchPolicy.ONCE_SATISFIED:
            return {name: t.running + t.succeeded for name, t in tallies.items()}


def is_ordinary(gang: Gang, before: Counts) -> bool:
    """
    Tell whether a gang had its first success, after which no minimum applies.
    """
    return gang.match_policy is MatchPolicy.ONCE_SATISFIED and (
        gang.once_satisfied or is_live(gang.tree, before)
    )


def num_below(tree: Tree, counts: Counts) -> int:
    """
    Count the pods in and below a tree node.
    """
    if isinstance(tree, PodSet):
        return counts.get(tree.name, 0)
    return sum(num_below(child, counts) for child in tree.children)


def is_satisfied(tree: Tree, counts: Counts) -> bool:
    """
    Tell whether a tree node's minimums hold.
    """
    if isinstance(tree, PodSet):
        return counts.get(tree.name, 0) >= tree.minimum
    return (
        num_below(tree, counts) >= tree.min_pods
        and sum(is_live(child, counts) for child in tree.children) >= tree.min_groups
    )


def is_live(tree: Tree, counts: Counts) -> bool:
    """
    Tell whether a tree node is satisfied and holds a counted pod.
    """
    return is_satisfied(tree, counts) and num_below(tree, counts) > 0


def inner_nodes(tree: Tree) -> Iterator[Group]:
    """
    Walk the nodes between the root and the leaves.
    """
    if isinstance(tree, Group):
        for child in tree.children:
            if isinstance(child, Group):
                yield child
                yield from inner_nodes(child)


def all_nodes(tree: Tree) -> Iterator[Tree]:
    """
    Walk every tree node, the root first.
    """
    yield tree
    if isinstance(tree, Group):
        for child in tree.children:
            yield from all_nodes(child)


def state_of(tree: Tree, counts: Counts) -> str:
    """
    Say how far a tree node is: "1 of 2 groups, 3 of 4 pods".
    """
    have = num_below(tree, counts)
    if isinstance(tree, PodSet):
        return f"{have} of {tree.minimum} pods"
    live = sum(is_live(child, counts) for child in tree.children)
    parts = [f"{live} of {tree.min_groups} groups"] if tree.min_groups else []
    if tree.min_pods:
        parts.append(f"{have} of {tree.min_pods} pods")
    return ", ".join(parts)


def least_core(gang: Gang, before: Counts, bound: Counts, resource: str) -> int:
    """
    Give a lower bound of what the least core inside the bound pods asks for.

    Whichever of the bound pods the planner calls the core, it asks for at least this
    much of the resource: minimums over groups and over pods are bounded apart and the
    larger one is taken, and very many roles are taken without their order.
    """
    if is_satisfied(gang.tree, before):
        return 0
    leaves = {leaf.name: leaf for leaf in pod_sets(gang.tree)}
    firsts = {
        name
        for leaf in leaves.values()
        for name in leaf.after
        if name in leaves and before.get(name, 0) < leaves[name].minimum
    }
    if len(firsts) > _MOST_ROLES:
        firsts = set()
    found = [
        _least_with(gang, before, bound, resource, firsts, set(reached))
        for number in range(len(firsts) + 1)
        for reached in combinations(sorted(firsts), number)
    ]
    return min((cost for cost in found if cost is not None), default=0)


def _least_with(
    gang: Gang,
    before: Counts,
    bound: Counts,
    resource: str,
    firsts: set[str],
    reached: set[str],
) -> int | None:
    """
    Bound the cost of cores that reach the minimums of just these earlier roles.
    """
    have, left, cost = dict(before), dict(bound), 0
    for leaf in pod_sets(gang.tree):
        need = 0
        if leaf.name in reached:
            need = leaf.minimum - have.get(leaf.name, 0)
        if firsts.intersection(leaf.after) - reached:
            left[leaf.name] = 0
        left[leaf.name] = left.get(leaf.name, 0) - need
        if left[leaf.name] < 0:
            return None
        have[leaf.name] = have.get(leaf.name, 0) + need
        cost += need * leaf.requests.get(resource, 0)
    if is_satisfied(gang.tree, have):
        return cost
    rest = _least(gang.tree, have, left, resource)
    return None if rest is None else cost + rest


def _least(tree: Tree, before: Counts, bound: Counts, resource: str) -> int | None:
    """
    Bound the cost of a satisfied node that holds a pod; none when it cannot be.
    """
    have = num_below(tree, before)
    missing = tree.minimum if isinstance(tree, PodSet) else tree.min_pods
    missing = max(missing - have, 0 if have else 1)
    prices = sorted(
        (leaf.requests.get(resource, 0), bound.get(leaf.name, 0))
        for leaf in pod_sets(tree)
    )
    by_pods = 0
    for price, number in prices:
        taken = min(number, missing)
        by_pods += taken * price
        missing -= taken
    if missing:
        return None
    if isinstance(tree, PodSet):
        return by_pods
    costs = [
        0 if is_live(child, before) else _least(child, before, bound, resource)
        for child in tree.children
    ]
    known = sorted(cost for cost in costs if cost is not None)
    groups = max(tree.min_groups, 0 if have else 1)
    if len(known) < groups:
        return None
    return max(by_pods, sum(known[:groups]))


def usable(gang: Gang, before: Counts, offers: Counts) -> dict[str, int] | None:
    """
    Cut offered pods to those that could be bound; none if the root stays unsatisfied.

    A leaf or group that cannot be satisfied gets no pods, nor does a leaf whose
    earlier role cannot reach its minimum; what that takes away may matter to others.
    """
    cut = {leaf.name: offers.get(leaf.name, 0) for leaf in pod_sets(gang.tree)}
    while True:
        known = sum(cut.values())
        if not _prune(gang.tree, before, cut):
            return None
        leaves = {leaf.name: leaf for leaf in pod_sets(gang.tree)}
        for name, leaf in leaves.items():
            if any(
                before.get(first, 0) + cut.get(first, 0) < leaves[first].minimum
                for first in leaf.after
                if first in leaves
            ):
                cut[name] = 0
        if sum(cut.values()) == known:
            return cut


def _prune(tree: Tree, before: Counts, cut: dict[str, int]) -> bool:
    """
    Take all pods from nodes that cannot be satisfied; tell whether this one can.
    """
    if isinstance(tree, Group):
        for child in tree.children:
            _prune(child, before, cut)
    after = {
        leaf.name: before.get(leaf.name, 0) + cut[leaf.name] for leaf in pod_sets(tree)
    }
    if is_satisfied(tree, after):
        return True
    cut.update(dict.fromkeys(after, 0))
    return False
