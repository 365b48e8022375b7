"""
Random small cases with parts of GPUs, MIG instances and whole GPUs, made from a seed.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from models.devices.gpu_parts import (
    GpuDevice,
    GpuPart,
    MigDevices,
    TakenDevice,
    part_of,
    with_shares,
    with_shares_of_others,
)
from models.devices.mig_profiles import MIG_MODELS
from models.gangs import ON_A_NODE, Gang, Group, Pod, PodPhase, PodSet, Tree, pod_sets
from models.nodes import Node
from models.queues import with_shared_gpus
from models.resources import CPU, GPU, PODS
from models.snapshot import Snapshot

_MEMORY = 80 * 1024
_MODEL = "H100-80GB"
_SIZES = (100, 200, 250, 300, 334, 400, 500, 500, 600, 700, 750)
_PROFILES = ("1g.10gb", "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb")


def with_parts(snapshot: Snapshot, seed: int, share: float = 0.6) -> Snapshot:
    """
    Let a share of the leaves without running pods ask for parts instead of GPUs.
    """
    rnd = Random(f"parts-{seed}")
    nodes = [_node(rnd, node) for node in snapshot.nodes]
    kinds = [_part(rnd) for _ in range(rnd.randint(2, 4))]
    gangs = [
        replace(gang, tree=_tree(rnd, gang.tree, kinds, share))
        for gang in snapshot.gangs
    ]
    gangs += _holders(rnd, nodes, gangs)
    nodes = _with_others(rnd, nodes, gangs)
    memories = {node.gpu_memory for node in nodes}
    return replace(
        snapshot,
        nodes=tuple(
            replace(
                node,
                allocatable=with_shares(node.allocatable, ()),
                used=with_shares_of_others(node.used, node.taken, node.gpu_memory),
            )
            for node in nodes
        ),
        gangs=tuple(
            sorted(
                (replace(x, tree=_counted(x.tree, memories)) for x in gangs),
                key=lambda gang: gang.key,
            )
        ),
        queues=tuple(map(with_shared_gpus, snapshot.queues)),
    )


def _node(rnd: Random, node: Node) -> Node:
    gpus = node.allocatable.get(GPU, 0)
    cut = sorted(rnd.sample(range(gpus), rnd.randint(1, gpus))) if gpus else []
    mig = MigDevices(_MODEL, tuple(cut)) if cut and rnd.random() < 0.5 else None
    memory = rnd.choice((_MEMORY, _MEMORY, _MEMORY // 2))
    return replace(node, gpu_memory=memory, mig=mig)


def _part(rnd: Random) -> GpuPart:
    contract = rnd.choice(("phalanx", "phalanx", "kai"))
    match rnd.randrange(5):
        case 0 | 1:
            size = rnd.choice(_SIZES)
            devices = rnd.choice((1, 1, 1, 2, 3))
            return GpuPart(contract, size, size, count=devices)
        case 2:
            memory = 1024 * rnd.choice((10, 16, 20, 30, 50))
            cores = rnd.choice((0, 0, 100, 300, 600))
            return GpuPart(contract, cores, memory=memory)
        case _:
            return GpuPart(profile=rnd.choice(_PROFILES), count=rnd.choice((1, 1, 2)))


def _tree(rnd: Random, tree: Tree, kinds: list[GpuPart], share: float) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_tree(rnd, child, kinds, share) for child in tree.children)
        return replace(tree, children=children)
    placed = any(pod.node is not None for pod in tree.pods)
    if placed or not tree.requests.get(GPU) or rnd.random() > share:
        return tree
    part = rnd.choice(kinds)
    others = {name: n for name, n in tree.requests.items() if name not in {GPU, CPU}}
    cpu = {CPU: tree.requests[CPU] // 4} if CPU in tree.requests else {}
    return replace(tree, requests={**others, **cpu, part.resource: 1})


def _counted(tree: Tree, memories: set[int]) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_counted(child, memories) for child in tree.children)
        return replace(tree, children=children)
    return replace(tree, requests=with_shares(tree.requests, memories))


def _holders(rnd: Random, nodes: list[Node], gangs: list[Gang]) -> list[Gang]:
    """
    Let parts run on some nodes that have a GPU free.
    """
    taken = _whole_on(gangs)
    found = []
    for at, node in enumerate(nodes):
        have = node.allocatable.get(GPU, 0)
        free = have - node.used.get(GPU, 0) - taken[node.name]
        if free < 1 or rnd.random() > 0.4:
            continue
        part = _part(rnd)
        if part.profile:
            if node.mig is None:
                continue
            profile = MIG_MODELS[_MODEL][part.profile]
            part = replace(part, count=1)
            place = GpuDevice(rnd.choice(node.mig.devices), rnd.choice(profile.starts))
        elif part.memory > node.gpu_memory:
            continue
        else:
            part, place = replace(part, count=1), GpuDevice(rnd.randrange(have))
        pod = Pod(f"h{at}-0", PodPhase.RUNNING, node.name, 60, devices=(place,))
        leaf = PodSet(
            name="",
            minimum=1,
            replicas=1,
            requests={PODS: 1, part.resource: 1},
            pods=(pod,),
        )
        queue = rnd.choice(gangs).queue if gangs else "default"
        found.append(Gang(name=f"h{at}", tree=leaf, queue=queue))
    return found


def _placed(gangs: list[Gang]) -> Iterator[tuple[PodSet, Pod]]:
    """
    Walk the pods that are on nodes.
    """
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                if pod.phase in ON_A_NODE and pod.node:
                    yield leaf, pod


def _whole_on(gangs: list[Gang]) -> Counter[str]:
    """
    Count the GPUs that pods have whole on each node.
    """
    taken: Counter[str] = Counter()
    for leaf, pod in _placed(gangs):
        taken[pod.node or ""] += leaf.requests.get(GPU, 0)
    return taken


def _with_others(rnd: Random, nodes: list[Node], gangs: list[Gang]) -> list[Node]:
    """
    Let work that is not ours have a GPU, or parts of one, on some nodes.
    """
    whole = _whole_on(gangs)
    opened: dict[str, set[int]] = {}
    for _, pod in _placed(gangs):
        devices = {one.device for one in pod.devices}
        opened[pod.node or ""] = opened.get(pod.node or "", set()) | devices
    found = []
    for node in nodes:
        have, used = node.allocatable.get(GPU, 0), node.used.get(GPU, 0)
        mine = opened.get(node.name, set())
        if have - used - whole[node.name] - len(mine) < 1 or rnd.random() > 0.4:
            found.append(node)
            continue
        number = rnd.choice([at for at in range(have) if at not in mine])
        one = TakenDevice(number)
        if rnd.random() < 0.7:
            cores, share = rnd.choice(_SIZES), rnd.choice((4, 8))
            contract = rnd.choice(("phalanx", "kai"))
            one = TakenDevice(number, contract, cores, node.gpu_memory // share)
        counted = {**node.used, GPU: used + 1}
        found.append(replace(node, taken=(one,), used=counted))
    return found


def sorts_of(snapshot: Snapshot) -> set[str]:
    """
    Name what pending pods ask for: shares, instances, whole GPUs.
    """
    found = set()
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            if not any(pod.phase is PodPhase.PENDING for pod in leaf.pods):
                continue
            part = part_of(leaf.requests)
            if part is not None:
                found.add("instances" if part.profile else "shares")
            elif leaf.requests.get(GPU):
                found.add("whole")
    return found
