"""
What a gang needs: every set of pods that is enough and holds nothing that is not.

Sets are enumerated, so a tree must be small.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

from exact.facts import GangFacts
from exact.solved import UndecidedError
from exact.trees import Counts, satisfied, tree_nodes
from models.gangs import PodSet, pod_sets

_MOST_SETS = 50_000


def needs_of(fact: GangFacts) -> list[tuple[int, ...]]:
    """
    List the smallest sets of pending pods that start a gang, as counts per leaf.

    A set is smallest when no other one is within it; K of N children have several.
    """
    names = [leaf.name for leaf in pod_sets(fact.gang.tree)]
    if prod(fact.pending[name] + 1 for name in names) > _MOST_SETS:
        raise UndecidedError(f"the tree of {fact.gang.key} has too many sets of pods")
    found: list[tuple[int, ...]] = []
    for counts in _rising(fact, names):
        within = any(
            all(a <= b for a, b in zip(less, counts, strict=True)) for less in found
        )
        if not within and _starts(fact, dict(zip(names, counts, strict=True))):
            found.append(counts)
    return found


def _rising(fact: GangFacts, names: list[str]) -> Iterator[tuple[int, ...]]:
    """
    Walk all counts per leaf, every set after those within it.
    """
    ranges = [range(fact.pending[name] + 1) for name in names]
    return iter(sorted(product(*ranges), key=sum))


def _starts(fact: GangFacts, new: Counts) -> bool:
    """
    Tell whether new pods satisfy the root, and every node they are below.
    """
    tree = fact.gang.tree
    after = {name: fact.counted[name] + new[name] for name in fact.counted}
    minimum = {leaf.name: leaf.minimum for leaf in pod_sets(tree)}
    if not satisfied(tree, after):
        return False
    for node in tree_nodes(tree):
        grows = any(new[leaf.name] for leaf in pod_sets(node))
        if grows and not satisfied(node, after):
            return False
        firsts = node.after if grows and isinstance(node, PodSet) else ()
        if any(after[first] < minimum[first] for first in firsts):
            return False
    return True
