"""
What is free of the GPUs of nodes, shared ones as well.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from models.devices.gpu_counts import shares_asked, shares_held
from models.devices.gpu_parts import GpuPart, TakenDevice, counts_as, part_of
from models.gangs import ON_A_NODE, Gang, pod_sets
from models.nodes import Node
from models.resources import SHARES_PER_GPU


def free_shares(nodes: Sequence[Node], gangs: Iterable[Gang]) -> list[int]:
    """
    Count what is free of the GPUs of each node, in 1/7000 of one.

    What counts on a device beyond all of it takes nothing of the others.  Parts of
    which nobody knows the devices are in the load of their node.
    """
    memories = {node.name: node.gpu_memory for node in nodes}
    held, on = Counter[str](), Counter[tuple[str, int]]()
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            part, known = part_of(leaf.requests), dict[int, int]()
            there = [pod for pod in leaf.pods if pod.phase in ON_A_NODE]
            placed = there if part is None else [x for x in there if x.devices]
            for pod in placed:
                if pod.node not in memories:
                    continue
                memory = memories[pod.node]
                if memory not in known:
                    known[memory] = shares_held(leaf.requests, memory)
                held[pod.node] += known[memory]
                whole = min(known[memory], SHARES_PER_GPU)
                each = known[memory] // part.count if part else whole
                for place in pod.devices:
                    on[pod.node, place.device] += each
    for node in nodes:
        for one in node.taken:
            on[node.name, one.device] += _of_others(one, node.gpu_memory)
    for (name, _), shares in on.items():
        held[name] -= max(0, shares - SHARES_PER_GPU)
    return [
        max(0, shares_asked(x.allocatable) - shares_asked(x.used) - held[x.name])
        for x in nodes
    ]


def _of_others(one: TakenDevice, memory: int) -> int:
    part = GpuPart(one.contract, one.cores, memory=one.memory)
    return counts_as(part, (memory,)) if one.contract else SHARES_PER_GPU
