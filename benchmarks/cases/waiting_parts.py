"""
Gangs of parts of GPUs that wait, made from a seed.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from benchmarks.contract_devices import BulkParts, WaitingParts
from models.devices.gpu_parts import WHOLE, GpuPart, with_shares
from models.gangs import Gang, Group, Pod, PodSet, Tree
from models.nodes import Node
from models.queues import with_shared_gpus
from models.resources import CPU, GPU, MEMORY, PODS, Resources
from models.snapshot import Snapshot

_GIB = 2**30
_MEMORY = 80 * 1024
_EIGHTH = 125
_OLDEST = 7200


def with_waiting_parts(snapshot: Snapshot, spec: WaitingParts, seed: int) -> Snapshot:
    """
    Let gangs of parts wait beside the others.
    """
    rnd = Random(f"parts-{seed}")
    queues = sorted({gang.queue for gang in snapshot.gangs})
    gangs = [*snapshot.gangs]
    for size, number in sorted(spec.pods.items()):
        left = number
        while left:
            pods = min(left, rnd.choices([*spec.members], [*spec.members.values()])[0])
            left -= pods
            gang = _gang(f"part-{size}-{left:06d}", size, pods)
            priority = rnd.choices([*spec.priorities], [*spec.priorities.values()])[0]
            gangs.append(
                replace(
                    gang,
                    queue=rnd.choice(queues),
                    priority=priority,
                    age=rnd.randrange(_OLDEST),
                )
            )
    return _counted(snapshot, snapshot.nodes, gangs)


def bulk(contract: BulkParts) -> Snapshot:
    """
    Make nodes of 8 GPUs, and gangs of one pod that ask for some eighths of a GPU.
    """
    rnd = Random(contract.seed)
    width = len(str(contract.nodes))
    offer = {CPU: 96_000, MEMORY: 768 * _GIB, GPU: 8, PODS: 110}
    nodes = [
        Node(name=f"n{at:0{width}d}", allocatable=offer) for at in range(contract.nodes)
    ]
    gangs = [
        _gang(f"g{at:06d}", _EIGHTH * rnd.choice(contract.eighths), 1)
        for at in range(contract.pods)
    ]
    return _counted(Snapshot(), nodes, gangs)


def _gang(name: str, size: int, pods: int) -> Gang:
    requests = {
        CPU: 1000 + 4000 * size // WHOLE,
        MEMORY: 8 * _GIB,
        PODS: 1,
        GpuPart(cores=size, share=size).resource: 1,
    }
    tree = PodSet(
        name="",
        minimum=pods,
        replicas=pods,
        requests=requests,
        pods=tuple(Pod(f"{name}-{at}") for at in range(pods)),
    )
    return Gang(name=name, tree=tree)


def _counted(
    snapshot: Snapshot, nodes: Sequence[Node], gangs: Sequence[Gang]
) -> Snapshot:
    """
    Count parts beside GPUs in nodes, queues and what gangs ask for.
    """
    known: dict[int, tuple[Resources, Resources]] = {}
    return replace(
        snapshot,
        nodes=tuple(
            replace(
                node,
                gpu_memory=_MEMORY,
                allocatable=with_shares(node.allocatable, ()),
            )
            for node in nodes
        ),
        gangs=tuple(
            sorted(
                (replace(gang, tree=_with_shares(gang.tree, known)) for gang in gangs),
                key=lambda gang: gang.key,
            )
        ),
        queues=tuple(map(with_shared_gpus, snapshot.queues)),
    )


def _with_shares(tree: Tree, known: dict[int, tuple[Resources, Resources]]) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_with_shares(child, known) for child in tree.children)
        return replace(tree, children=children)
    key = id(tree.requests)
    if key not in known:
        known[key] = tree.requests, with_shares(tree.requests, {_MEMORY})
    return replace(tree, requests=known[key][1])
