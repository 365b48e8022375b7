"""
What leaves as one: whole gangs, emptied tree nodes, and single surplus pods.
"""

from collections.abc import Iterable, Iterator, Mapping

from models.gangs import PodSet, Tree, pod_sets
from models.resources import Resources, add
from solver.verify.gang_changes import Loss
from solver.verify.gang_counts import num_below


def units(losses: Iterable[Loss], rule: str) -> Iterator[tuple[Loss, Resources]]:
    """
    List what leaves by a rule as units, by what they ask for.

    All pods of a gang that is evicted whole are one, all below a topmost tree node
    that is emptied, and every other pod by itself.
    """
    for loss in losses:
        taken = loss.rules.get(rule)
        if taken is not None:
            for unit in _units(loss.gang.tree, loss, taken):
                yield loss, unit


def _units(tree: Tree, loss: Loss, taken: Mapping[str, int]) -> Iterator[Resources]:
    if not num_below(tree, taken):
        return
    if num_below(tree, loss.evicted) == num_below(tree, loss.running):
        unit: dict[str, int] = {}
        for leaf in pod_sets(tree):
            add(unit, leaf.requests, taken.get(leaf.name, 0))
        yield unit
    elif isinstance(tree, PodSet):
        for _ in range(taken[tree.name]):
            yield tree.requests
    else:
        for child in tree.children:
            yield from _units(child, loss, taken)
