"""
The gangs of small cases: leaves, trees, roles, and what concerns several gangs.
"""

from dataclasses import replace
from random import Random

from benchmarks.cases.parts import GIB, LEVELS, Case, tree_nodes
from benchmarks.cases.running import in_file_order, run_some, with_leaves
from models.gangs import Gang, Group, MatchPolicy, Pod, PodPhase, PodSet, Tree, pod_sets
from models.nodes import ANYWHERE, LabelRule, NodeDemand, Toleration
from models.resources import CPU, GPU, MEMORY, PODS
from models.topology import TopologyDemand

AGES = (0, 60, 599, 600, 1200, 3600, 7200, 21600, 90000)


# --- gangs --------------------------------------------------------------------


def make_gangs(case: Case) -> list[Gang]:
    """
    Gangs until there are enough, or demand is clearly above what is free.
    """
    rnd = case.rnd
    unit = GPU if case.gpus else CPU
    target = rnd.uniform(1.3, 2.6) * sum(
        max(0, room.get(unit, 0)) for room in case.free.values()
    )
    least = rnd.randint(4, 7)
    gangs: list[Gang] = []
    demand = 0
    while len(gangs) < 10 and (len(gangs) < least or demand < target):
        gang = make_gang(case, f"g{len(gangs)}")
        gangs.append(gang)
        demand += sum(
            leaf.requests.get(unit, 0) * count(leaf, PodPhase.PENDING)
            for leaf in pod_sets(gang.tree)
        )
        if len(gangs) < 10 and case.chance(0.12):
            gangs.append(_twin(case, gang, f"g{len(gangs)}"))
    _set_required(case, gangs)
    _set_tree(case, gangs)
    return grouped(case, gangs)


def count(leaf: PodSet, phase: PodPhase) -> int:
    """
    Count a leaf's pods in a phase.
    """
    return sum(pod.phase is phase for pod in leaf.pods)


def make_gang(case: Case, name: str) -> Gang:
    """
    Make one gang; some have run before, or are below their minimum now.
    """
    rnd = case.rnd
    policy = MatchPolicy.WAITING_AND_RUNNING
    if case.chance(0.15):
        policy = rnd.choice(list(MatchPolicy))
    tree: Tree
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
        gang = run_some(case, gang)
    return gang


def _requests(case: Case) -> dict[str, int]:
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


def make_leaf(
    case: Case,
    name: str,
    prefix: str,
    *,
    history: MatchPolicy | None = None,
    minimum: int | None = None,
    most: int = 6,
) -> PodSet:
    """
    Make a leaf with pending pods; some pods may be gated, missing, or done already.
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
    pods = in_file_order(
        [Pod(f"{prefix}-{idx}", phase) for idx, phase in enumerate(phases)]
    )
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


def _demand(case: Case) -> NodeDemand:
    rnd = case.rnd
    tolerations = (Toleration(key="team", operator="Exists"),) * case.chance(0.5)
    selector = (("kind", rnd.choice("ab")),) if case.chance(0.12) else ()
    terms = None
    if case.chance(0.06):
        terms = ((LabelRule(key="size", operator="Gt", values=("3",)),),)
    if not tolerations and not selector and terms is None:
        return ANYWHERE
    return NodeDemand(selector=selector, terms=terms, tolerations=tolerations)


def _topology(case: Case, required: float, preferred: float) -> TopologyDemand | None:
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


def make_tree(case: Case, name: str) -> Group:
    """
    Make a tree with K of N, a minimum over unequal pods, or an inner node of its own.
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
    children: tuple[Tree, ...] = tuple(leaves)
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


def _loose_minimum(rnd: Random) -> int:
    return rnd.choice((0, 0, 0, 1))


def make_driver(case: Case, name: str) -> Group:
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


# --- what concerns several gangs ------------------------------------------------


def _twin(case: Case, gang: Gang, name: str) -> Gang:
    """
    Make the same gang again, pending as a whole, under another name and age.
    """
    leaves = {}
    for leaf in pod_sets(gang.tree):
        prefix = name if isinstance(gang.tree, PodSet) else f"{name}-{leaf.name}"
        pods = tuple(Pod(f"{prefix}-{idx}") for idx in range(leaf.replicas))
        leaves[leaf.name] = replace(leaf, pods=pods)
    tree = replace(with_leaves(gang.tree, leaves), name=name)
    return replace(gang, name=name, tree=tree, age=case.rnd.choice(AGES))


def _set_required(case: Case, gangs: list[Gang]) -> None:
    """
    Give the first whole gang a required domain, where the case has none yet.
    """
    if not case.required or any(
        node.topology is not None and node.topology.required
        for gang in gangs
        for node in tree_nodes(gang.tree)
    ):
        return
    demand = TopologyDemand(topology="default", required=case.rnd.choice(LEVELS))
    gangs[0] = replace(gangs[0], tree=replace(gangs[0].tree, topology=demand))


def _set_tree(case: Case, gangs: list[Gang]) -> None:
    if case.trees and not any(isinstance(gang.tree, Group) for gang in gangs):
        last = gangs[-1]
        gangs[-1] = replace(last, tree=make_tree(case, last.name))


def grouped(case: Case, gangs: list[Gang]) -> list[Gang]:
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
