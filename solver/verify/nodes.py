"""
Rules about nodes: room, demands, hosts that may not be shared, and domains.
"""

from collections import Counter
from collections.abc import Iterator

from models.gangs import PodPhase, PodSet, Tree, pod_sets
from models.resources import format_quantity
from models.topology import Domain
from solver.verify.counting import all_nodes, num_below
from solver.verify.evidence import OCCUPYING, Case, Evidence
from solver.verify.violation import Violation


def node_capacities(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that what runs, terminates, belongs to others and is bound fits the node.

    For every node and every resource that a bound pod asks for: used + running +
    terminating + bound ≤ allocatable.
    """
    for name, asked in sorted(_asked(evidence).items()):
        node = evidence.nodes.get(name)
        if node is None:
            continue
        for resource, bound in sorted(asked.items()):
            before = node.used.get(resource, 0) + sum(
                requests.get(resource, 0) for requests in evidence.loads[name]
            )
            room = node.allocatable.get(resource, 0)
            if before + bound > room:
                has, gets, most = (
                    format_quantity(resource, x) for x in (before, bound, room)
                )
                message = f"{resource}: {has} in use and {gets} bound exceed {most}"
                yield Violation("node-capacity", name, message)


def _asked(evidence: Evidence) -> dict[str, dict[str, int]]:
    asked: dict[str, dict[str, int]] = {name: {} for name in evidence.loads}
    for case in evidence.binding():
        for leaf in pod_sets(case.gang.tree):
            for name, pods in case.bound.get(leaf.name, {}).items():
                row = asked[name]
                for resource, amount in leaf.requests.items():
                    if amount > 0:
                        row[resource] = row.get(resource, 0) + amount * pods
    return asked


def node_demands(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that selectors, affinity, taints and cordons allow every bound pod.
    """
    for case in evidence.binding():
        for leaf in pod_sets(case.gang.tree):
            for name, pods in sorted(case.bound.get(leaf.name, {}).items()):
                node = evidence.nodes.get(name)
                if node is not None and not leaf.demand.allows(node):
                    why = (
                        "it is unschedulable" if node.unschedulable else "it is refused"
                    )
                    message = f"{pods} pods of leaf {leaf.name} bound to {name}: {why}"
                    yield Violation("node-demand", case.gang.key, message)


def exclusive_hosts(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that an exclusive pod shares its host with no other pod of its gang.
    """
    for case in evidence.binding():
        leaves = list(pod_sets(case.gang.tree))
        if not any(leaf.exclusive for leaf in leaves):
            continue
        pods: Counter[str] = Counter()
        alone: set[str] = set()
        fresh: set[str] = set()
        for leaf in leaves:
            bound = Counter(case.bound.get(leaf.name, {}))
            here = bound + Counter(_hosts(leaf))
            pods += here
            fresh.update(bound)
            if leaf.exclusive:
                alone.update(here)
        for name in sorted(alone & fresh & evidence.nodes.keys()):
            if pods[name] > 1:
                message = f"{pods[name]} of its pods share {name}, one is exclusive"
                yield Violation("exclusive", case.gang.key, message)


def required_domains(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that all pods below a node with a required level are in one domain of it.

    Pods that run count as those that are bound; members on nodes that are gone pin
    nothing, and a node without the labels is outside every domain.
    """
    topologies = {topology.name: topology for topology in evidence.snapshot.topologies}
    for case in evidence.binding():
        for tree in all_nodes(case.gang.tree):
            demand = tree.topology
            if demand is None or demand.required is None:
                continue
            if not num_below(tree, case.placed):
                continue
            topology, level = topologies.get(demand.topology), demand.required
            domains: set[Domain | None] = set()
            for name in _places(case, tree):
                node = evidence.nodes.get(name)
                if node is not None:
                    found = topology and topology.domain(node.labels, level)
                    domains.add(found or None)
            if len(domains) > 1 or None in domains:
                yield _spread(case, tree, level, domains)


def _places(case: Case, tree: Tree) -> Iterator[str]:
    for leaf in pod_sets(tree):
        yield from case.bound.get(leaf.name, {})
        yield from _hosts(leaf)


def _hosts(leaf: PodSet) -> Iterator[str]:
    """
    List the nodes of running pods, once per pod.
    """
    for pod in leaf.pods:
        if pod.phase is PodPhase.RUNNING and pod.node is not None:
            yield pod.node


def _spread(
    case: Case, tree: Tree, level: str, domains: set[Domain | None]
) -> Violation:
    key = case.gang.key
    subject = key if tree is case.gang.tree else f"{key}/{tree.name}"
    inside = sorted("/".join(domain) for domain in domains if domain is not None)
    where = ", ".join([*inside[:3], *(["…"] if len(inside) > 3 else [])])
    outside = " and on nodes outside every domain" if None in domains else ""
    message = f"its pods are in {len(inside)} domains of {level} ({where}){outside}"
    return Violation("topology-required", subject, message)


def free_total(evidence: Evidence, resource: str) -> int:
    """
    Add up what schedulable nodes have left of a resource before the plan.
    """
    free = {
        name: node.allocatable.get(resource, 0) - node.used.get(resource, 0)
        for name, node in evidence.nodes.items()
        if not node.unschedulable
    }
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            amount = leaf.requests.get(resource, 0)
            for pod in leaf.pods if amount else ():
                if pod.node in free and pod.phase in OCCUPYING:
                    free[pod.node] -= amount
    return sum(max(0, amount) for amount in free.values())
