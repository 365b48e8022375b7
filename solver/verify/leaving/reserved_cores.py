"""
The rule about what is reserved: what a gang needs, since others may leave for it.
"""

from collections.abc import Iterator

from models.gangs import Group, Tree, pod_sets
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.gang_counts import Counts, all_nodes, is_satisfied, num_below
from solver.verify.leaving.kept_promises import is_as_promised
from solver.verify.violation import Violation


def reserved_cores(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang that starts has nothing reserved without which it would start.

    No pod, and none of the pods below a tree node; but what it was promised before.
    Where nodes ask for pods of several leaves, or roles come after those of other
    nodes, planners may leave open which are needed.
    """
    for case in evidence.placing():
        if not case.starts or not case.deeds.reserved or _is_open(case.gang.tree):
            continue
        for pods, rest in _less(case):
            if _may_start(case, rest) and not is_as_promised(case):
                message = f"{case.told}, and it would start with {pods} fewer"
                yield Violation("reserved-surplus", case.gang.key, message)
                break


def _is_open(tree: Tree) -> bool:
    inner = [node for node in all_nodes(tree) if isinstance(node, Group)]
    leaves = [leaf for leaf in pod_sets(tree) if leaf.after]
    return any(node.min_pods for node in inner) or any(
        not {leaf.name, *leaf.after} <= {child.name for child in node.children}
        for leaf in leaves
        for node in inner
        if leaf in node.children
    )


def _less(case: Case) -> Iterator[tuple[int, Counts]]:
    """
    List what is left without a pod, or without all below a tree node.
    """
    for node in all_nodes(case.gang.tree):
        here = {leaf.name: case.placed.get(leaf.name, 0) for leaf in pod_sets(node)}
        pods = sum(here.values())
        if len(here) == 1 and pods:
            (name,) = here
            yield 1, {**case.placed, name: pods - 1}
        if pods and node is not case.gang.tree:
            yield pods, {**case.placed, **dict.fromkeys(here, 0)}


def _may_start(case: Case, placed: Counts) -> bool:
    after = {
        name: have - case.placed.get(name, 0) + placed.get(name, 0)
        for name, have in case.after.items()
    }
    leaves = {leaf.name: leaf for leaf in pod_sets(case.gang.tree)}
    used = [node for node in all_nodes(case.gang.tree) if num_below(node, placed)]
    names = {name for key, x in leaves.items() if placed.get(key) for name in x.after}
    earlier = [leaves[name] for name in names & leaves.keys()]
    return all(is_satisfied(x, after) for x in (case.gang.tree, *used, *earlier))
