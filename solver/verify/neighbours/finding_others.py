"""
Whether pods surely find those they must be near to, as far as the judge can tell.
"""

from models.gangs import ON_A_NODE, Gang, PodSet, pod_sets
from models.neighbours import Neighbours
from models.nodes import Node
from solver.verify.evidence import Evidence


def is_surely_beside(evidence: Evidence, gang: Gang) -> bool:
    """
    Tell whether nobody can keep a gang's pods away, and each finds others that run.

    Who may only come in this round may come or not, and who is apart from others may
    find a place or not: that is a planner's affair.
    """
    leaves = [leaf for leaf in pod_sets(gang.tree) if leaf.neighbours]
    if not leaves:
        return True
    there = list(_there(evidence))
    holds = {rule.pods for said, _ in there for rule in said.apart}
    return not any(
        leaf.neighbours.apart
        or leaf.neighbours.spread
        or leaf.neighbours.takes_volumes
        or holds.intersection(leaf.neighbours.selected)
        or not _finds(evidence, leaf, there)
        for leaf in leaves
    )


def _there(evidence: Evidence) -> list[tuple[Neighbours, Node]]:
    found = [
        (said, node)
        for node in evidence.snapshot.nodes
        for said, count in node.others
        if count
    ]
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods if leaf.neighbours else ():
                node = evidence.nodes.get(pod.node or "")
                if node is not None and pod.phase in ON_A_NODE:
                    found.append((leaf.neighbours, node))
    return found


def _finds(
    evidence: Evidence, leaf: PodSet, there: list[tuple[Neighbours, Node]]
) -> bool:
    near = leaf.neighbours.near
    if near is None:
        return True
    found = {
        key
        for said, node in there
        if near.pods in said.selected
        for key in near.keys
        if key in node.labels
    }
    first = not found and near.pods in leaf.neighbours.selected
    return (first or found == set(near.keys)) and any(
        leaf.demand.allows(node) and set(near.keys) <= node.labels.keys()
        for node in evidence.snapshot.nodes
    )
