"""
Random small instances in records: rich in rules, short of room, made from a seed.

A case is decided by its seed alone.  Two of three cases have at least two queues, a
tree and a required domain; the others leave something out, so that single rules are
seen alone too.  Demand is well above capacity: greedy is often not optimal.
"""

from dataclasses import dataclass, field, replace
from random import Random

from models.gangs import (
    Gang,
    Group,
    MatchPolicy,
    Pod,
    PodPhase,
    PodSet,
    Tree,
    pod_sets,
)
from models.nodes import ANYWHERE, LabelRule, Node, NodeDemand, Taint, Toleration
from models.queues import Queue, QueueResource
from models.resources import CPU, GPU, MEMORY, PODS
from models.snapshot import Snapshot
from models.topology import Topology, TopologyDemand

GIB = 2**30
LEVELS = ("zone", "rack")
AGES = (0, 60, 599, 600, 1200, 3600, 7200, 21600, 90000)


@dataclass
class Case:
    """
    A case under construction: its chance, its flavour, and what is still free.
    """

    rnd: Random
    queues: bool
    trees: bool
    required: bool
    gpus: bool
    nodes: list[Node] = field(default_factory=list)
    free: dict[str, dict[str, int]] = field(default_factory=dict)
    leaf_queues: list[str] = field(default_factory=list)

    def chance(self, part):
        return self.rnd.random() < part

    def total(self, resource):
        return sum(node.allocatable.get(resource, 0) for node in self.nodes)


def random_snapshot(seed: int) -> Snapshot:
    """
    Make one small case: 3 to 8 nodes and 4 to 10 gangs.
    """
    rnd = Random(f"case-{seed}")
    rich = seed % 3 != 0
    case = Case(
        rnd=rnd,
        queues=rich or rnd.random() < 0.5,
        trees=rich or rnd.random() < 0.5,
        required=rich or rnd.random() < 0.5,
        gpus=rnd.random() < 0.93,
    )
    add_nodes(case)
    queues = make_queues(case) if case.queues else []
    gangs = make_gangs(case)
    return Snapshot(
        nodes=tuple(sorted(case.nodes, key=lambda node: node.name)),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(Topology(name="default", levels=LEVELS),),
    )


def features(snapshot: Snapshot) -> set[str]:
    """
    Name what a case is rich in, as the performance contract counts it.
    """
    found = set()
    if sum(queue.parent is not None for queue in snapshot.queues) >= 2:
        found.add("queues")
    for gang in snapshot.gangs:
        if isinstance(gang.tree, Group):
            found.add("tree")
        for node in _tree_nodes(gang.tree):
            if node.topology is not None and node.topology.required:
                found.add("required")
    return found


def _tree_nodes(tree):
    yield tree
    if isinstance(tree, Group):
        for child in tree.children:
            yield from _tree_nodes(child)


# --- nodes --------------------------------------------------------------------


def add_nodes(case):
    rnd = case.rnd
    racks = rnd.randint(2, 4)
    odd = rnd.random() < 0.15
    for idx in range(rnd.randint(3, 8)):
        gpus = rnd.choice((2, 4, 8, 8))
        allocatable = {
            CPU: gpus * rnd.choice((8, 12, 16)) * 1000,
            MEMORY: gpus * 64 * GIB,
            PODS: rnd.choice((110, 110, 110, 5)),
        }
        used = {}
        if case.gpus:
            allocatable[GPU] = gpus
            if case.chance(0.2):
                used = {GPU: rnd.randint(1, gpus), CPU: gpus * 1000, PODS: 1}
        labels = {
            "kubernetes.io/hostname": f"n{idx}",
            "zone": f"z{idx % racks // 2}",
            "rack": f"r{idx % racks}",
            "kind": rnd.choice("ab"),
            "size": str(gpus),
        }
        if odd and case.chance(0.3):
            del labels["rack"]
        taint = Taint(key="team", value="red")
        node = Node(
            name=f"n{idx}",
            allocatable=allocatable,
            used=used,
            labels=labels,
            taints=(taint,) if case.chance(0.1) else (),
            unschedulable=case.chance(0.02),
        )
        case.nodes.append(node)
        case.free[node.name] = {
            name: amount - used.get(name, 0) for name, amount in allocatable.items()
        }


# --- queues -------------------------------------------------------------------


def make_queues(case):
    """
    Two or three levels; GPUs always named, CPU sometimes.
    """
    rnd = case.rnd
    tops = rnd.randint(1, 2)
    named = [GPU] if case.gpus else [CPU]
    if case.gpus and case.chance(0.25):
        named.append(CPU)
    queues = []
    for top in range(tops):
        queues.append(_queue(case, f"d{top}", None, named, 1.0))
        for idx in range(rnd.randint(2, 3) if tops == 1 else rnd.randint(1, 2)):
            name = f"q{top}{idx}"
            queues.append(_queue(case, name, f"d{top}", named, 0.5))
            case.leaf_queues.append(name)
    if len(case.leaf_queues) < 2:
        queues.append(_queue(case, "q09", "d0", named, 0.5))
        case.leaf_queues.append("q09")
    if case.chance(0.15):
        parent = case.leaf_queues.pop()
        for idx in range(2):
            name = f"{parent}x{idx}"
            queues.append(_queue(case, name, parent, named, 0.3))
            case.leaf_queues.append(name)
    if case.chance(0.06):
        shut = rnd.randrange(len(queues))
        queues[shut] = replace(queues[shut], open=False)
    return queues


def _queue(case, name, parent, named, part):
    rnd = case.rnd
    resources = {}
    for resource in named:
        if parent is not None and case.chance(0.08):
            continue
        total = case.total(resource)
        unit = 1000 if resource == CPU else 1
        limit = None
        if case.chance(0.5):
            limit = int(total // unit * rnd.uniform(0.5, 1.1) * max(0.7, part)) * unit
        quota = int(total // unit * rnd.uniform(0, 0.7 * part)) * unit
        if case.chance(0.07):
            quota = None
        resources[resource] = QueueResource(
            quota=quota, limit=limit, weight=rnd.choice((0, 0, 1, 1, 2, 3))
        )
    return Queue(
        name=name,
        parent=parent,
        priority=rnd.choice((100, 100, 100, 200)),
        resources=resources,
    )


# --- gangs --------------------------------------------------------------------


def make_gangs(case):
    """
    Gangs until there are enough, or demand is clearly above what is free.
    """
    rnd = case.rnd
    unit = GPU if case.gpus else CPU
    target = rnd.uniform(1.3, 2.6) * sum(
        max(0, room.get(unit, 0)) for room in case.free.values()
    )
    least = rnd.randint(4, 7)
    gangs, demand = [], 0
    while len(gangs) < 10 and (len(gangs) < least or demand < target):
        gang = make_gang(case, f"g{len(gangs)}")
        gangs.append(gang)
        demand += sum(
            leaf.requests.get(unit, 0) * _num(leaf, PodPhase.PENDING)
            for leaf in pod_sets(gang.tree)
        )
        if len(gangs) < 10 and case.chance(0.12):
            gangs.append(_twin(case, gang, f"g{len(gangs)}"))
    _set_required(case, gangs)
    _set_tree(case, gangs)
    return _grouped(case, gangs)


def _num(leaf, phase):
    return sum(pod.phase is phase for pod in leaf.pods)


def make_gang(case, name):
    rnd = case.rnd
    policy = MatchPolicy.WAITING_AND_RUNNING
    if case.chance(0.15):
        policy = rnd.choice(list(MatchPolicy))
    tree = None
    if case.trees and case.chance(0.4):
        tree = make_tree(case, name)
    elif case.chance(0.12):
        tree = make_driver(case, name)
    else:
        tree = make_leaf(case, name, name, history=policy)
    once = policy is MatchPolicy.ONCE_SATISFIED and case.chance(0.3)
    gang = Gang(
        name=name,
        tree=tree,
        queue=rnd.choice(case.leaf_queues) if case.leaf_queues else "default",
        priority=rnd.choice((50, 50, 75, 100)),
        preemptible=not case.chance(0.12),
        age=rnd.choice(AGES),
        match_policy=policy,
        once_satisfied=once,
        timed_out=case.chance(0.02),
        backoff=30 if case.chance(0.02) else 0,
    )
    if case.chance(0.35 if isinstance(tree, PodSet) else 0.25):
        gang = _run(case, gang)
    return gang


def _requests(case):
    rnd = case.rnd
    largest = max(int(node.labels["size"]) for node in case.nodes)
    size = min(largest, rnd.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 8)))
    requests = {
        CPU: max(1, size) * rnd.choice((2, 6, 6, 8, 10)) * 1000,
        MEMORY: max(1, size) * rnd.choice((16, 32, 48)) * GIB,
        PODS: 1,
    }
    if case.gpus and size:
        requests[GPU] = size
    return requests


def make_leaf(case, name, prefix, *, history=None, minimum=None, most=6):
    """
    A leaf with pending pods; some pods may be gated, missing, or done already.
    """
    rnd = case.rnd
    replicas = rnd.randint(1, most)
    requests = _requests(case)
    if requests.get(GPU, 0) * replicas > case.total(GPU) // 2:
        replicas = max(1, replicas // 2)
    if minimum is None:
        minimum = rnd.randint(max(1, replicas // 2), replicas)
    phases = [PodPhase.PENDING] * replicas
    counts_done = history in {
        MatchPolicy.WAITING_RUNNING_SUCCEED,
        MatchPolicy.ONCE_SATISFIED,
    }
    if counts_done and case.chance(0.6):
        for idx in range(rnd.randint(1, replicas)):
            phases[idx] = PodPhase.SUCCEEDED
    if case.chance(0.04):
        phases[-1] = PodPhase.GATED
    if case.chance(0.03):
        phases.pop()
    pods = tuple(Pod(f"{prefix}-{idx}", phase) for idx, phase in enumerate(phases))
    return PodSet(
        name=name,
        minimum=min(minimum, replicas),
        replicas=replicas,
        requests=requests,
        pods=pods,
        demand=_demand(case),
        exclusive=replicas > 1 and case.chance(0.1),
        topology=_topology(case, 0.12, 0.3),
    )


def _demand(case):
    rnd = case.rnd
    tolerations = (Toleration(key="team", operator="Exists"),) * case.chance(0.5)
    selector = (("kind", rnd.choice("ab")),) if case.chance(0.12) else ()
    terms = None
    if case.chance(0.06):
        terms = ((LabelRule(key="size", operator="Gt", values=("3",)),),)
    if not tolerations and not selector and terms is None:
        return ANYWHERE
    return NodeDemand(selector=selector, terms=terms, tolerations=tolerations)


def _topology(case, required, preferred):
    rnd = case.rnd
    chance = rnd.random()
    level = rnd.choice(LEVELS)
    if case.required and chance < required:
        return TopologyDemand(topology="default", required=level)
    if required <= chance < required + preferred:
        both = case.required and level == "rack" and case.chance(0.3)
        return TopologyDemand(
            topology="default", required="zone" if both else None, preferred=level
        )
    return None


def make_tree(case, name):
    """
    A tree with K of N, a minimum over unequal pods, or an inner node of its own.
    """
    rnd = case.rnd
    loose = case.chance(0.25)
    leaves = [
        make_leaf(
            case,
            f"s{idx}",
            f"{name}-s{idx}",
            minimum=_loose_minimum(rnd) if loose else None,
            most=3,
        )
        for idx in range(rnd.randint(2, 4))
    ]
    if case.chance(0.2):
        leaves[-1] = replace(leaves[-1], after=(leaves[0].name,))
    if loose:
        replicas = sum(leaf.replicas for leaf in leaves)
        return Group(
            name=name,
            min_groups=rnd.randint(0, 1),
            min_pods=rnd.randint(1, replicas),
            children=tuple(leaves),
            topology=_topology(case, 0.12, 0.3),
        )
    children = tuple(leaves)
    if len(leaves) > 2 and case.chance(0.4):
        inner = Group(
            name="inner",
            min_groups=rnd.randint(1, len(leaves) - 1),
            min_pods=0,
            children=children[1:],
            topology=_topology(case, 0.2, 0.15),
        )
        children = (children[0], inner)
    return Group(
        name=name,
        min_groups=rnd.randint(1, len(children)),
        min_pods=0,
        children=children,
        topology=_topology(case, 0.12, 0.3),
    )


def _loose_minimum(rnd):
    return rnd.choice((0, 0, 0, 1))


def make_driver(case, name):
    """
    One minimum over a driver and its executors, which come after it.
    """
    rnd = case.rnd
    driver = make_leaf(case, "driver", f"{name}-driver", minimum=1, most=1)
    executor = make_leaf(case, "executor", f"{name}-executor", minimum=0, most=5)
    executor = replace(executor, after=("driver",))
    return Group(
        name=name,
        min_groups=0,
        min_pods=rnd.randint(1, 1 + executor.replicas),
        children=(driver, executor),
    )


# --- what runs already ----------------------------------------------------------


def _run(case, gang):
    """
    Let some pods run, where they fit: satisfied, elastic, or below the minimum.
    """
    leaves = {}
    for leaf in pod_sets(gang.tree):
        wanted = case.rnd.randint(0, leaf.replicas)
        pods = list(leaf.pods)
        for idx in range(min(wanted, len(pods))):
            where = _place(case, leaf, pods[idx])
            if where is None:
                break
            pods[idx] = replace(pods[idx], phase=PodPhase.RUNNING, node=where)
        leaves[leaf.name] = replace(leaf, pods=_indexed(pods))
    return replace(gang, tree=_with_leaves(gang.tree, leaves))


def _place(case, leaf, pod):
    if pod.phase is not PodPhase.PENDING:
        return None
    used = [n for n in case.nodes if leaf.demand.allows(n)]
    if leaf.exclusive or not case.chance(0.5):
        case.rnd.shuffle(used)
    for node in used:
        room = case.free[node.name]
        if all(room.get(name, 0) >= n for name, n in leaf.requests.items()):
            if leaf.exclusive and room.get(f"taken-{pod.name[:2]}", 0):
                continue
            room[f"taken-{pod.name[:2]}"] = 1
            for name, amount in leaf.requests.items():
                room[name] -= amount
            return node.name
    return None


def _indexed(pods):
    """
    Keep the file's order: running, then done, then gated, then pending.
    """
    order = (
        PodPhase.RUNNING,
        PodPhase.SUCCEEDED,
        PodPhase.FAILED,
        PodPhase.GATED,
        PodPhase.PENDING,
    )
    names = [pod.name for pod in pods]
    found = sorted(pods, key=lambda pod: order.index(pod.phase))
    return tuple(
        replace(pod, name=name) for name, pod in zip(names, found, strict=True)
    )


def _with_leaves(tree: Tree, leaves) -> Tree:
    if isinstance(tree, PodSet):
        return leaves[tree.name]
    children = tuple(_with_leaves(child, leaves) for child in tree.children)
    return replace(tree, children=children)


# --- what concerns several gangs ------------------------------------------------


def _twin(case, gang, name):
    """
    Make the same gang again, pending as a whole, under another name and age.
    """
    leaves = {}
    for leaf in pod_sets(gang.tree):
        prefix = name if isinstance(gang.tree, PodSet) else f"{name}-{leaf.name}"
        pods = tuple(Pod(f"{prefix}-{idx}") for idx in range(leaf.replicas))
        leaves[leaf.name] = replace(leaf, pods=pods)
    tree = replace(_with_leaves(gang.tree, leaves), name=name)
    return replace(gang, name=name, tree=tree, age=case.rnd.choice(AGES))


def _set_required(case, gangs):
    """
    Give the first whole gang a required domain, where the case has none yet.
    """
    if not case.required or any(
        node.topology is not None and node.topology.required
        for gang in gangs
        for node in _tree_nodes(gang.tree)
    ):
        return
    demand = TopologyDemand(topology="default", required=case.rnd.choice(LEVELS))
    gangs[0] = replace(gangs[0], tree=replace(gangs[0].tree, topology=demand))


def _set_tree(case, gangs):
    if case.trees and not any(isinstance(gang.tree, Group) for gang in gangs):
        last = gangs[-1]
        gangs[-1] = replace(last, tree=make_tree(case, last.name))


def _grouped(case, gangs):
    """
    Join two or three pending gangs; rarely one of them holds another list.
    """
    whole = [
        idx
        for idx, gang in enumerate(gangs)
        if not any(
            pod.phase is PodPhase.RUNNING
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        )
    ]
    if len(whole) < 3 or not case.chance(0.35):
        return gangs
    chosen = case.rnd.sample(whole, case.rnd.choice((2, 2, 3)))
    other = "elsewhere" if case.chance(0.5) else "default"
    gangs[chosen[-1]] = replace(gangs[chosen[-1]], namespace=other)
    names = tuple(sorted(gangs[idx].key for idx in chosen))
    alone = case.chance(0.06)
    for idx in chosen[1:] if alone else chosen:
        gangs[idx] = replace(gangs[idx], mates=names)
    return gangs


# --- tiny ones, for brute force -------------------------------------------------


def tiny_snapshot(seed: int) -> Snapshot:
    """
    Make a case that can be enumerated: two nodes, three gangs, about six pods.
    """
    rnd = Random(f"tiny-{seed}")
    case = Case(
        rnd=rnd,
        queues=rnd.random() < 0.7,
        trees=True,
        required=True,
        gpus=rnd.random() < 0.9,
    )
    add_nodes(case)
    case.nodes = case.nodes[:2]
    queues = make_queues(case) if case.queues else []
    gangs = []
    left = 6
    while len(gangs) < 3 and left > 0:
        gang = make_gang(case, f"g{len(gangs)}")
        num = sum(_num(leaf, PodPhase.PENDING) for leaf in pod_sets(gang.tree))
        if num <= left:
            gangs.append(gang)
            left -= num
    return Snapshot(
        nodes=tuple(case.nodes),
        gangs=tuple(_grouped(case, gangs)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(Topology(name="default", levels=LEVELS),),
    )
