"""
What leaves of a gang by one rule: in all, its largest unit, and what all units hold.

Units are cores of gangs and of tree nodes that are emptied, and single surplus pods.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from models.gangs import MatchPolicy, PodSet, Tree, pod_sets
from models.resources import Resources, add
from solver.verify.gang_changes import GangLoss
from solver.verify.gang_counts import (
    all_nodes,
    counted,
    is_live,
    is_ordinary,
    is_satisfied,
    num_below,
    tally,
)

Counts = Mapping[str, int]


class Taken(NamedTuple):
    """
    What some units ask for together, the largest of them, and what all of them hold.
    """

    pods: int
    total: Resources
    largest: Resources
    held: frozenset[str]


def taken(losses: Iterable[GangLoss], rule: str) -> Iterator[tuple[GangLoss, Taken]]:
    """
    List what leaves by a rule, gang by gang.
    """
    for loss in losses:
        gone = loss.rules.get(rule)
        if gone is not None:
            yield loss, _taken(loss, gone)


def _taken(loss: GangLoss, gone: Counts) -> Taken:
    total: dict[str, int] = {}
    largest: dict[str, int] = {}
    cores = list(_cores(loss, gone))
    held: frozenset[str] | None = None
    for leaf in pod_sets(loss.gang.tree):
        pods = gone.get(leaf.name, 0)
        if not pods:
            continue
        add(total, leaf.requests, pods)
        own = _names(leaf.requests)
        for names, core in cores:
            if leaf.name in names:
                own |= _names(core)
        held = own if held is None else held & own
        _widen(largest, leaf.requests)
    for _, core in cores:
        _widen(largest, core)
    pods = sum(gone.values())
    return Taken(pods, total, largest, held or frozenset())


def _names(amounts: Resources) -> frozenset[str]:
    return frozenset([name for name, amount in amounts.items() if amount > 0])


def _widen(largest: dict[str, int], amounts: Resources) -> None:
    for name, amount in amounts.items():
        if amount > largest.get(name, 0):
            largest[name] = amount


def _cores(loss: GangLoss, gone: Counts) -> Iterator[tuple[set[str], Resources]]:
    """
    List the cores of all tree nodes that are emptied, with the leaves below.
    """
    gang = loss.gang
    before = counted(gang, {leaf.name: tally(leaf) for leaf in pod_sets(gang.tree)})
    if is_ordinary(gang, before):
        return
    counts = gang.match_policy is not MatchPolicy.ONLY_WAITING
    stays = {
        name: have - (loss.running.get(name, 0) if counts else 0)
        for name, have in before.items()
    }
    for node in all_nodes(gang.tree):
        if num_below(node, loss.evicted) != num_below(node, loss.running):
            continue
        if node is gang.tree and not is_satisfied(node, before):
            core: Counts = loss.running
        elif is_live(node, before):
            core = _core(node, before, stays, loss.running, 0)
        else:
            continue
        held: dict[str, int] = {}
        for leaf in pod_sets(node):
            pods = min(core.get(leaf.name, 0), gone.get(leaf.name, 0))
            if pods:
                add(held, leaf.requests, pods)
        yield {leaf.name for leaf in pod_sets(node)}, held


def _core(
    tree: Tree, before: Counts, stays: Counts, running: Counts, least: int
) -> dict[str, int]:
    """
    Count the pods that a live node cannot do without, of equal ones the first.
    """
    if isinstance(tree, PodSet):
        short = max(tree.minimum, least) - stays[tree.name]
        return {tree.name: max(0, min(short, running[tree.name]))}
    core = {leaf.name: 0 for leaf in pod_sets(tree)}
    missing = tree.min_groups
    needed = []
    for child in tree.children:
        if is_live(child, before):
            below = _core(child, before, stays, running, 1)
            if any(below.values()):
                needed.append(below)
            else:
                missing -= 1
    for below in needed[: max(0, missing)]:
        core.update(below)
    short = max(tree.min_pods, least) - num_below(tree, stays)
    short -= sum(core.values())
    for leaf in pod_sets(tree):
        while short > 0 and core[leaf.name] < running[leaf.name]:
            core[leaf.name] += 1
            short -= 1
    return core
