"""
Full clusters, made from a seed: victims on every node, and gangs that want their place.

The same world gives the same snapshot.  Nothing here decides or measures.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from benchmarks.contract_evict import (
    FullWorld,
    Mixed,
    Scattered,
    Singles,
    Tenant,
    Wanted,
)
from benchmarks.contract_parts import Ratio, Weights
from benchmarks.waiting import requests_of
from benchmarks.world import make_nodes
from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.queues import Queue, QueueResource
from models.resources import GPU
from models.snapshot import Snapshot
from models.topology import Topology, TopologyDemand

Layout = Iterator[tuple[int, list[int]]]
"""
Gangs as GPUs of each pod and the node of each pod, by its index.
"""


def make_full_world(world: FullWorld) -> Snapshot:
    """
    Make the snapshot of a full cluster.
    """
    rnd = Random(f"full-{world.seed}")
    nodes = make_nodes(world.cluster)
    gpus = nodes[0].allocatable.get(GPU, 0)
    names = [node.name for node in nodes]
    layout = list(_layout(rnd, world.victims, len(nodes), gpus))
    gangs = [
        *_victims(rnd, world, names, layout),
        *_waiting(rnd, world.wanted, world.ratio),
    ]
    levels = tuple(world.cluster.domains)
    return Snapshot(
        nodes=tuple(nodes),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(sorted(_queues(world.queues, gangs), key=lambda q: q.name)),
        topologies=(Topology(name="default", levels=levels),) if levels else (),
    )


def asked_of(gangs: Iterable[Gang]) -> dict[str, int]:
    """
    Sum the GPUs that run or wait in each queue.
    """
    asked: dict[str, int] = defaultdict(int)
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            asked[gang.queue] += len(leaf.pods) * leaf.requests.get(GPU, 0)
    return asked


def _queues(tenants: Sequence[Tenant], gangs: Sequence[Gang]) -> list[Queue]:
    asked = asked_of(gangs)
    queues = []
    for tenant in tenants:
        quota = tenant.quota
        if tenant.part is not None:
            quota = int(tenant.part * asked.get(tenant.name, 0))
        rule = QueueResource(quota=quota, weight=tenant.weight)
        queues.append(Queue(name=tenant.name, resources={GPU: rule}))
    return queues


# --- who runs -------------------------------------------------------------------


def _layout(
    rnd: Random, spec: Singles | Mixed | Scattered, nodes: int, gpus: int
) -> Layout:
    match spec:
        case Singles():
            for node in range(nodes):
                for _ in range(spec.per_node):
                    yield spec.gpus, [node]
        case Mixed():
            yield from _mixed(rnd, spec, nodes, gpus)
        case Scattered():
            yield from _scattered(rnd, nodes * gpus // spec.members, nodes, spec)


def _mixed(rnd: Random, spec: Mixed, nodes: int, gpus: int) -> Layout:
    """
    Give gangs to some whole nodes in random order, and single pods to the others.
    """
    order = list(range(nodes))
    rnd.shuffle(order)
    left = round(spec.wide * nodes)
    while left >= spec.over[0]:
        most = min(left, spec.over[1])
        count = rnd.randint(spec.over[0], most)
        if left - count < spec.over[0]:
            count = most
        mine, order = order[:count], order[count:]
        left -= count
        size = _drawn(rnd, spec.sizes, gpus)
        yield size, [node for node in mine for _ in range(gpus // size)]
    for node in order:
        free = gpus
        while free:
            size = _drawn(rnd, spec.sizes, free)
            free -= size
            if rnd.random() >= spec.spare:
                yield size, [node]


def _drawn(rnd: Random, sizes: Weights, most: int) -> int:
    fitting = [size for size in sorted(sizes) if size <= most]
    return rnd.choices(fitting, [sizes[size] for size in fitting])[0]


def _scattered(rnd: Random, gangs: int, nodes: int, spec: Scattered) -> Layout:
    """
    Deal nodes to gangs, always from those with the most room, so that all get full.
    """
    room = [gangs * spec.members // nodes] * nodes
    for _ in range(gangs):
        order = sorted(range(nodes), key=lambda node: (-room[node], rnd.random()))
        most = order[: spec.members]
        for node in most:
            room[node] -= 1
        yield 1, most


def _victims(
    rnd: Random,
    world: FullWorld,
    nodes: Sequence[str],
    layout: Sequence[tuple[int, Sequence[int]]],
) -> Iterator[Gang]:
    tenants = [t for t in world.queues if t.name != world.wanted.queue]
    low, high = world.victims.minutes
    width = len(str(len(layout)))
    for idx, (size, places) in enumerate(layout):
        name = f"run-{idx:0{width}d}"
        pods = tuple(
            Pod(
                f"{name}-{i}",
                PodPhase.RUNNING,
                nodes[node],
                60 * rnd.randint(low, high),
            )
            for i, node in enumerate(places)
        )
        tenant = rnd.choice(tenants)
        yield Gang(
            name=name,
            tree=PodSet(
                name=name,
                minimum=len(pods),
                replicas=len(pods),
                requests=requests_of(size, world.ratio),
                pods=pods,
            ),
            queue=tenant.name,
            priority=50,
            preemptible=tenant.preemptible,
            age=max(pod.seconds for pod in pods),
        )


# --- who waits ------------------------------------------------------------------


def _waiting(rnd: Random, spec: Wanted, ratio: Ratio) -> Iterator[Gang]:
    width = len(str(spec.gangs))
    for idx in range(spec.gangs):
        name = f"want-{idx:0{width}d}"
        count = rnd.choices(list(spec.members), list(spec.members.values()))[0]
        size = rnd.choices(list(spec.sizes), list(spec.sizes.values()))[0]
        level = spec.required
        demand = TopologyDemand(topology="default", required=level) if level else None
        yield Gang(
            name=name,
            tree=PodSet(
                name=name,
                minimum=count,
                replicas=count,
                requests=requests_of(size, ratio),
                pods=tuple(Pod(f"{name}-{i}") for i in range(count)),
                exclusive=spec.exclusive,
                topology=demand,
            ),
            queue=spec.queue,
            priority=50,
            age=60 * rnd.randint(1, spec.minutes),
        )
