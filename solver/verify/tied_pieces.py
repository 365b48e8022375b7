"""
Pieces of nodes that several pods have in common: what of them is free.
"""

from collections import Counter
from collections.abc import Collection

from models.gangs import ON_A_NODE, pod_sets
from models.resources import Resources, summed
from solver.verify.evidence import Evidence
from solver.verify.plan_steps import is_leaving


def free_pieces(
    evidence: Evidence, *, later: bool, staying: Collection[str] = ()
) -> dict[str, Resources]:
    """
    Give by node what its pieces hold to which nobody is tied, before or after the plan.

    Later, evicted and moved pods have left, and those that had begun to; but for some
    that count as ``staying``.
    """
    nodes = evidence.snapshot.nodes
    concerned = evidence.memo.of_nodes(
        "tied", nodes, lambda: {node.name: node.tied for node in nodes if node.tied}
    )
    if not concerned:
        return {}
    gone = {step.operation.pod for step in evidence.steps if later and step.takes}
    gone.difference_update(staying)
    there: Counter[tuple[str, int]] = Counter()
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                if not pod.tied or pod.phase not in ON_A_NODE:
                    continue
                leaves = f"{gang.namespace}/{pod.name}" in gone
                if not leaves and not (later and is_leaving(pod)):
                    there.update((pod.node or "", number) for number in pod.tied)
    return {
        name: summed(x for at, x in enumerate(pieces) if not there[name, at])
        for name, pieces in concerned.items()
    }


def left_by_others(evidence: Evidence) -> dict[str, Counter[str]]:
    """
    Give what each node has that others do not use, and nobody is tied to.
    """
    free = {
        name: Counter({r: n - node.used.get(r, 0) for r, n in node.allocatable.items()})
        for name, node in evidence.nodes.items()
    }
    for name, more in free_pieces(evidence, later=False).items():
        free[name].update(more)
    return free
