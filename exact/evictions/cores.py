"""
The core of a tree node in the small model: what leaves as one unit if all below goes.
"""

from collections.abc import Mapping

from exact.facts import COUNTED, GangFacts
from exact.trees import satisfied
from models.gangs import PodPhase, PodSet, Tree, pod_sets

Numbers = Mapping[str, int]


def core(fact: GangFacts, tree: Tree) -> Numbers:
    """
    Count the running pods per leaf that a tree node of a gang cannot do without.

    A gang in need goes with all its pods; nobody needs a node that is not satisfied, or
    pods that are ordinary.
    """
    running = {
        leaf.name: sum(pod.phase is PodPhase.RUNNING for pod in leaf.pods)
        for leaf in pod_sets(tree)
    }
    if fact.needy and tree is fact.gang.tree:
        return running
    if fact.ordinary or fact.needy or not _counts(fact, tree):
        return {}
    return _needed(fact, tree, running, at_least_one=False)


def _counts(fact: GangFacts, tree: Tree) -> bool:
    some = any(fact.counted[leaf.name] for leaf in pod_sets(tree))
    return some and satisfied(tree, fact.counted)


def _needed(
    fact: GangFacts, tree: Tree, running: Numbers, *, at_least_one: bool
) -> dict[str, int]:
    """
    Take the first children that are needed with their cores, then the next pods.
    """
    if isinstance(tree, PodSet):
        chosen = {tree.name: 0}
        pods = tree.minimum
    else:
        chosen = {leaf.name: 0 for leaf in pod_sets(tree)}
        pods = tree.min_pods
        parts = [
            _needed(fact, child, running, at_least_one=True)
            for child in tree.children
            if _counts(fact, child)
        ]
        idle = sum(not any(part.values()) for part in parts)
        busy = [part for part in parts if any(part.values())]
        for part in busy[: max(0, tree.min_groups - idle)]:
            chosen |= part
    if at_least_one:
        pods = max(1, pods)
    for leaf in pod_sets(tree):
        pods -= chosen[leaf.name] + _others(fact, leaf, running)
    for leaf in pod_sets(tree):
        more = max(0, min(pods, running[leaf.name] - chosen[leaf.name]))
        chosen[leaf.name] += more
        pods -= more
    return chosen


def _others(fact: GangFacts, leaf: PodSet, running: Numbers) -> int:
    """
    Count the pods of a leaf that count and do not run.
    """
    counts = PodPhase.RUNNING in COUNTED[fact.gang.match_policy]
    return fact.counted[leaf.name] - (running[leaf.name] if counts else 0)
