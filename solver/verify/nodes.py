"""
Rules about nodes: room, demands, hosts that may not be shared, and domains.
"""

from collections import Counter
from collections.abc import Iterator

from models.devices.gpu_parts import is_reckoned, part_of
from models.gangs import ON_A_NODE, Tree, pod_sets
from models.resources import GPU, Resources, format_quantity
from models.topology import Domain
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.gang_counts import all_nodes
from solver.verify.plan_steps import is_leaving
from solver.verify.tied_pieces import free_pieces
from solver.verify.violation import Violation


def node_capacities(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every node has room, now for what is bound and later for everything.

    Devices of which somebody has a part are counted apart.
    For every node and every resource that a pod with a place there asks for: used +
    running + terminating + bound ≤ allocatable; and after the plan used + running -
    departed + old terminating + bound + reserved + moved there ≤ allocatable.  Of what
    is used, pieces to which nobody is tied are free.
    """
    bound, all_ = _asked(evidence, now=True), _asked(evidence, now=False)
    free, freed = (free_pieces(evidence, later=later) for later in (False, True))
    for name, asked in sorted(all_.items()):
        node = evidence.nodes.get(name)
        if node is None:
            continue
        for resource, more in sorted(asked.items()):
            now = bound[name].get(resource, 0)
            room = node.allocatable.get(resource, 0)
            load = node.used.get(resource, 0) + _total(evidence.loads[name], resource)
            before = load - free.get(name, {}).get(resource, 0)
            stays = load - freed.get(name, {}).get(resource, 0)
            stays -= _total(evidence.leaving[name], resource)
            if now and before + now > room:
                has, gets, most = (
                    format_quantity(resource, x) for x in (before, now, room)
                )
                message = f"{resource}: {has} in use and {gets} bound exceed {most}"
            elif stays + more > room:
                has, gets, most = (
                    format_quantity(resource, x) for x in (stays, more, room)
                )
                message = f"{resource}: {has} that stay and {gets} more exceed {most}"
            else:
                continue
            yield Violation("node-capacity", name, message)


def _total(loads: list[Resources], resource: str) -> int:
    return sum([requests.get(resource, 0) for requests in loads])


def _asked(evidence: Evidence, *, now: bool) -> dict[str, dict[str, int]]:
    asked: dict[str, dict[str, int]] = {name: {} for name in evidence.loads}
    for case in evidence.gaining():
        places = case.deeds.bound if now else case.got
        for leaf in pod_sets(case.gang.tree):
            wanted = [
                (resource, amount)
                for resource, amount in leaf.requests.items()
                if amount > 0 and not is_reckoned(resource)
            ]
            for name, pods in places.get(leaf.name, {}).items():
                row = asked[name]
                for resource, amount in wanted:
                    row[resource] = row.get(resource, 0) + amount * pods
    return asked


def node_demands(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that selectors, affinity, taints and cordons allow every pod with a place.
    """
    for case in evidence.gaining():
        for leaf in pod_sets(case.gang.tree):
            for name, pods in sorted(case.got.get(leaf.name, {}).items()):
                node = evidence.nodes.get(name)
                if node is not None and not leaf.demand.allows(node):
                    why = (
                        "it is unschedulable" if node.unschedulable else "it is refused"
                    )
                    message = f"{pods} pods of leaf {leaf.name} put on {name}: {why}"
                    yield Violation("node-demand", case.gang.key, message)


def exclusive_hosts(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that an exclusive pod shares its host with no other pod of its gang.

    Pods that leave in this plan share nothing any more.
    """
    for case in evidence.gaining():
        leaves = list(pod_sets(case.gang.tree))
        if not any(leaf.exclusive for leaf in leaves):
            continue
        pods: Counter[str] = Counter()
        alone: set[str] = set()
        fresh: set[str] = set()
        for leaf in leaves:
            got = case.got.get(leaf.name, {})
            here = Counter(got) + case.hosts(leaf)
            pods += here
            fresh.update(got)
            if leaf.exclusive:
                alone.update(here)
        for name in sorted(alone & fresh & evidence.nodes.keys()):
            if pods[name] > 1:
                message = f"{pods[name]} of its pods share {name}, one is exclusive"
                yield Violation("exclusive", case.gang.key, message)


def required_domains(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that all pods below a node with a required level are in one domain of it.

    Pods that run and stay count as those that get a place; members on nodes that are
    gone pin nothing, and a node without the labels is outside every domain.
    """
    topologies = {topology.name: topology for topology in evidence.snapshot.topologies}
    for case in evidence.gaining():
        for tree in all_nodes(case.gang.tree):
            demand = tree.topology
            if demand is None or demand.required is None:
                continue
            if not any(case.got.get(leaf.name) for leaf in pod_sets(tree)):
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
        yield from case.got.get(leaf.name, {})
        yield from case.hosts(leaf)


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


def free_total(evidence: Evidence, resource: str, *, later: bool = False) -> int:
    """
    Add up what schedulable nodes have left of a resource, before or after the plan.

    Later, evicted and moved pods have left, and those that had begun to.  A GPU of
    which somebody has a part is none that is left.
    """
    nodes = [node for node in evidence.nodes.values() if not node.unschedulable]
    shared = {node.name: {one.device for one in node.taken} for node in nodes}
    pieces = free_pieces(evidence, later=later)
    free = {
        node.name: node.allocatable.get(resource, 0)
        - node.used.get(resource, 0)
        + pieces.get(node.name, {}).get(resource, 0)
        for node in nodes
    }
    gone = {step.operation.pod for step in evidence.steps if later and step.takes}
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            amount = leaf.requests.get(resource, 0)
            has_part = resource == GPU and part_of(leaf.requests) is not None
            for pod in leaf.pods if amount or has_part else ():
                if pod.node not in free or pod.phase not in ON_A_NODE:
                    continue
                if later and (
                    is_leaving(pod) or f"{gang.namespace}/{pod.name}" in gone
                ):
                    continue
                devices = {one.device for one in pod.devices if has_part}
                free[pod.node] -= amount + len(devices - shared[pod.node])
                shared[pod.node] |= devices
    return sum(max(0, amount) for amount in free.values())
