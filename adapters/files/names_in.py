"""
Every name in a snapshot: of gangs, nodes and queues, of label keys and their values.
"""

from collections.abc import Iterable, Iterator

from models.gangs import Gang, Group, RunKind, Tree, pod_sets
from models.neighbours import Neighbours, ReachedVolumes
from models.nodes import LabelRule, NodeDemand
from models.snapshot import Snapshot
from models.topology import TopologyDemand
from models.volume_slots import is_volume_slot, slot_parts

FIELD = "field:"
"""
How a key begins that stands for a field of a node and not for a label.
"""
_PUBLIC = ("kubernetes.io", "k8s.io", "x-k8s.io", "nvidia.com", "amd.com", "intel.com")


def _leaves(tree: Tree) -> Iterator[Tree]:
    """
    Walk all nodes of a tree below its root.
    """
    if isinstance(tree, Group):
        for child in tree.children:
            yield child
            yield from _leaves(child)


def leaf_names(gangs: Iterable[Gang]) -> Iterator[str]:
    """
    Walk the names of all leaves and inner nodes.
    """
    for gang in gangs:
        for part in _leaves(gang.tree):
            yield part.name
        for leaf in pod_sets(gang.tree):
            yield from leaf.after


def queues(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the queues that exist, and those that gangs name.
    """
    yield from (gang.queue for gang in snapshot.gangs)
    yield from (kind.queue for kind in _run_kinds(snapshot))
    for queue in snapshot.queues:
        yield queue.name
        if queue.parent:
            yield queue.parent


def namespaces(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the namespaces of gangs, and those whose run times are known.
    """
    yield from (gang.namespace for gang in snapshot.gangs)
    yield from (kind.owner for kind in _run_kinds(snapshot))


def _run_kinds(snapshot: Snapshot) -> Iterator[RunKind]:
    yield from snapshot.run_times.ended
    yield from (gang.runs_like for gang in snapshot.gangs if gang.runs_like)


def nodes(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the nodes that exist, and those that pods are on.
    """
    yield from (node.name for node in snapshot.nodes)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            yield from (pod.node for pod in leaf.pods if pod.node)


def neighbours(snapshot: Snapshot) -> set[Neighbours]:
    """
    Collect what pods, ours and those of others, say of pods around them.
    """
    leaves = (leaf for gang in snapshot.gangs for leaf in pod_sets(gang.tree))
    others = (said for node in snapshot.nodes for said, _ in node.others)
    return {*(leaf.neighbours for leaf in leaves), *others}


def selectors(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the selectors of pods that are named.
    """
    return (name for said in neighbours(snapshot) for name in said.selectors())


def kinds_of_claims(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the kinds of claims that need free volumes, or that these serve.
    """
    for said in neighbours(snapshot):
        yield from said.kinds_of_claims()
    for one in free_volumes(snapshot):
        yield from one.kinds


def free_volumes(snapshot: Snapshot) -> set[ReachedVolumes]:
    """
    Collect the free volumes that nodes reach.
    """
    return {one for node in snapshot.nodes for one in node.volumes}


def claims(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the claims of volumes that pods share.
    """
    offers = {id(node.allocatable): node.allocatable for node in snapshot.nodes}
    leaves = (leaf for gang in snapshot.gangs for leaf in pod_sets(gang.tree))
    asked = {id(leaf.requests): leaf.requests for leaf in leaves}
    for resources in (*offers.values(), *asked.values()):
        for name in filter(is_volume_slot, resources):
            if claim := slot_parts(name)[1]:
                yield claim
    for kind in filter(is_volume_slot, kinds_of_claims(snapshot)):
        if claim := slot_parts(kind)[1]:
            yield claim
    for said in neighbours(snapshot):
        yield from (claim for claim, _ in said.shared)


def _wanted(snapshot: Snapshot) -> Iterator[TopologyDemand]:
    for gang in snapshot.gangs:
        for part in (gang.tree, *_leaves(gang.tree)):
            if part.topology is not None:
                yield part.topology


def topologies(snapshot: Snapshot) -> Iterator[str]:
    """
    Walk the topologies that exist, and those that gangs name.
    """
    yield from (topology.name for topology in snapshot.topologies)
    yield from (demand.topology for demand in _wanted(snapshot))


def demands(snapshot: Snapshot) -> set[NodeDemand]:
    """
    Collect what pods demand of their nodes.
    """
    return {leaf.demand for gang in snapshot.gangs for leaf in pod_sets(gang.tree)}


def _rules(demands: Iterable[NodeDemand]) -> Iterator[LabelRule]:
    for demand in demands:
        yield from demand.rules()


def keys(snapshot: Snapshot, demands: Iterable[NodeDemand]) -> Iterator[str]:
    """
    Walk the label and taint keys that are nobody's standard.
    """
    found: set[str] = set()
    for node in snapshot.nodes:
        found.update(node.labels, (taint.key for taint in node.taints))
    for topology in snapshot.topologies:
        found.update(topology.levels)
    for wanted in _wanted(snapshot):
        found.update(filter(None, (wanted.required, wanted.preferred)))
    for said in neighbours(snapshot):
        found.update(said.topology_keys())
    for demand in demands:
        found.update(key for key, _ in demand.selector)
        found.update(t.key for t in demand.tolerations if t.key)
    found.update(rule.key for rule in _rules(demands))
    for key in found:
        domain = key.partition("/")[0]
        if key.startswith(FIELD) or any(
            domain == known or domain.endswith(f".{known}") for known in _PUBLIC
        ):
            continue
        yield key


def values(
    snapshot: Snapshot, demands: Iterable[NodeDemand]
) -> dict[str, tuple[set[str], bool]]:
    """
    Collect the values of each key, and say whether they are compared as numbers.
    """
    texts: dict[str, set[str]] = {}
    compared = {r.key for r in _rules(demands) if r.operator in {"Gt", "Lt"}}
    for node in snapshot.nodes:
        for key, value in node.labels.items():
            texts.setdefault(key, set()).add(value)
        for taint in node.taints:
            texts.setdefault(taint.key, set()).add(taint.value)
    for demand in demands:
        for key, value in demand.selector:
            texts.setdefault(key, set()).add(value)
        for toleration in demand.tolerations:
            texts.setdefault(toleration.key, set()).add(toleration.value)
    for rule in _rules(demands):
        texts.setdefault(rule.key, set()).update(rule.values)
    return {key: (values, key in compared) for key, values in texts.items()}


def strings(snapshot: Snapshot, demands: Iterable[NodeDemand]) -> Iterator[str]:
    """
    Walk every text that a new name must not begin like.
    """
    yield from queues(snapshot)
    yield from nodes(snapshot)
    yield from topologies(snapshot)
    yield from leaf_names(snapshot.gangs)
    yield from keys(snapshot, demands)
    for texts, _ in values(snapshot, demands).values():
        yield from texts
    for gang in snapshot.gangs:
        yield gang.name
        yield gang.namespace
    yield from (budget.name for budget in snapshot.budgets)
