"""
The instances of "Priority Matters" (arXiv 2511.08373), made from their seeds.

The generator follows the published one step by step, and its chance is Python's: with
the same seed it gives the same pods and nodes, priorities included.
"""

import hashlib
from dataclasses import dataclass
from random import Random

from models.gangs import Gang, Pod, PodSet
from models.nodes import Node
from models.resources import CPU, DEFAULT_PODS, MEMORY, PODS
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """
    One instance: pods, milli-CPU and bytes per set, and the size of every node.
    """

    sizes: tuple[int, ...]
    cpu: tuple[int, ...]
    memory: tuple[int, ...]
    priorities: tuple[int, ...]
    num_nodes: int
    node_cpu: int
    node_memory: int


def make_instance(
    seed: int,
    num_nodes: int,
    pods_per_node: int,
    *,
    usage: int = 100,
    num_priorities: int = 1,
) -> Instance:
    """
    Make one instance.

    Parameters
    ----------
    seed
        One of the published base seeds.
    num_nodes
        Identical nodes.
    pods_per_node
        Pods in all, as a multiple of the nodes.
    usage
        Demand in percent of the cluster.
    num_priorities
        Priorities are drawn from 1 to this number.
    """
    sizes = _sizes(_stream(seed, "rs-sizes"), num_nodes * pods_per_node)
    of_cpu, of_memory = _stream(seed, "rs-cpu"), _stream(seed, "rs-mem")
    base = _stream(seed, "base")
    cpu = tuple(of_cpu.randint(100, 1000) for _ in sizes)
    memory = tuple(of_memory.randint(10**8, 10**9) for _ in sizes)
    return Instance(
        sizes=sizes,
        cpu=cpu,
        memory=memory,
        priorities=tuple(base.randint(1, num_priorities) for _ in sizes),
        num_nodes=num_nodes,
        node_cpu=_node_size(sizes, cpu, num_nodes, usage),
        node_memory=_node_size(sizes, memory, num_nodes, usage),
    )


def snapshot_of(instance: Instance) -> Snapshot:
    """
    Give the empty cluster with every pod pending, each a gang of its own.
    """
    allocatable = {
        CPU: instance.node_cpu,
        MEMORY: instance.node_memory,
        PODS: DEFAULT_PODS,
    }
    nodes = [
        Node(name=f"n{idx:03d}", allocatable=allocatable)
        for idx in range(instance.num_nodes)
    ]
    gangs: list[Gang] = []
    for idx, size in enumerate(instance.sizes):
        requests = {CPU: instance.cpu[idx], MEMORY: instance.memory[idx], PODS: 1}
        gangs += [
            _single(f"rs{idx:03d}-{pod}", requests, instance.priorities[idx])
            for pod in range(size)
        ]
    return Snapshot(nodes=tuple(nodes), gangs=tuple(gangs))


def _single(name: str, requests: dict[str, int], priority: int) -> Gang:
    tree = PodSet(
        name=name, minimum=1, replicas=1, requests=requests, pods=(Pod(f"{name}-0"),)
    )
    return Gang(name=name, tree=tree, priority=priority)


def _stream(seed: int, label: str) -> Random:
    """
    Give the published child stream of a base seed.
    """
    digest = hashlib.blake2b(seed.to_bytes(16, "big"), digest_size=16)
    digest.update(b"\0" + label.encode())
    child = int.from_bytes(digest.digest(), "big")
    return Random(child)


def _sizes(rnd: Random, total: int) -> tuple[int, ...]:
    sizes: list[int] = []
    left = total
    while left > 0:
        size = min(left, rnd.randint(1, 4))
        sizes.append(size)
        left -= size
    return tuple(sizes)


def _node_size(
    sizes: tuple[int, ...], each: tuple[int, ...], num_nodes: int, usage: int
) -> int:
    total = sum(size * amount for size, amount in zip(sizes, each, strict=True))
    whole = -(-total * 100 // usage)
    return max(*each, -(-whole // num_nodes))
