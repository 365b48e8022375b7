"""
What is left of a gang when some of its running pods go, and whether it may be left so.
"""

from collections.abc import Iterator

from models.gangs import Group, MatchPolicy, Tree, pod_sets
from solver.verify.gang_changes import GangLoss
from solver.verify.gang_counts import (
    Counts,
    counted,
    is_live,
    is_ordinary,
    is_satisfied,
    state_of,
    tally,
)


def broken_by(loss: GangLoss, gone: Counts) -> Iterator[str]:
    """
    Describe what a gang is left with that it may not be left with.

    Of a satisfied gang every tree node that was live is satisfied or without running
    pods, and no pod stays in a leaf that loses an earlier role; a gang that was not
    satisfied goes whole; ordinary pods leave one by one.
    """
    if sum(gone.values()) == sum(loss.running.values()):
        return
    gang = loss.gang
    before = counted(gang, {leaf.name: tally(leaf) for leaf in pod_sets(gang.tree)})
    if is_ordinary(gang, before):
        return
    if not is_satisfied(gang.tree, before):
        if loss.stays:
            have = state_of(gang.tree, before)
            yield f"{loss.stays} pods stay, and before the plan it had only {have}"
        return
    after = dict(before)
    if gang.match_policy is not MatchPolicy.ONLY_WAITING:
        after = {name: have - gone.get(name, 0) for name, have in before.items()}
    left = {name: pods - gone.get(name, 0) for name, pods in loss.running.items()}
    yield from _broken_nodes(gang.tree, left, before, after)
    yield from _broken_roles(loss, left, before, after)


def _broken_nodes(
    tree: Tree, left: Counts, before: Counts, after: Counts
) -> Iterator[str]:
    pods = sum(left[leaf.name] for leaf in pod_sets(tree))
    if not pods:
        return
    if is_live(tree, before) and not is_satisfied(tree, after):
        where = f" in {tree.name}" if tree.name else ""
        yield f"{pods} pods stay{where} with only {state_of(tree, after)}"
    if isinstance(tree, Group):
        for child in tree.children:
            yield from _broken_nodes(child, left, before, after)


def _broken_roles(
    loss: GangLoss, left: Counts, before: Counts, after: Counts
) -> Iterator[str]:
    leaves = {leaf.name: leaf for leaf in pod_sets(loss.gang.tree)}
    for name, leaf in leaves.items():
        for earlier in leaf.after if left[name] else ():
            first = leaves.get(earlier)
            if first is None or not is_satisfied(first, before):
                continue
            if not is_satisfied(first, after):
                have = state_of(first, after)
                pods = left[name]
                yield f"{pods} pods stay in {name} while {earlier} has only {have}"
