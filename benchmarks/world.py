"""
Synthetic clusters, made from a seed: nodes, what runs, queues, and what waits.

The same world and seed give the same snapshot.  Nothing here decides or measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.cases.waiting_parts import with_waiting_parts
from benchmarks.contract import Queues, Running, World
from benchmarks.contract_parts import Cluster, Ratio, Weights
from benchmarks.waiting import GIB, pending_gangs, requests_of
from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.nodes import HOSTNAME, Node
from models.queues import Queue, QueueResource
from models.resources import CPU, DEFAULT_PODS, GPU, MEMORY, PODS, parse_quantity
from models.snapshot import Snapshot
from models.topology import Topology

_TOLERANCE = 0.002


@dataclass(slots=True)
class Room:
    """
    What is still free while running pods are placed.
    """

    free: list[dict[str, int]] = field(default_factory=list)

    def fits(self, node: int, requests: dict[str, int]) -> bool:
        """
        Tell whether a pod fits on a node.
        """
        room = self.free[node]
        return all(room[name] >= amount for name, amount in requests.items())

    def take(self, node: int, requests: dict[str, int]) -> None:
        """
        Book a pod on a node.
        """
        for name, amount in requests.items():
            self.free[node][name] -= amount


def make_world(world: World) -> Snapshot:
    """
    Make the snapshot of a world.
    """
    rnd = Random(f"world-{world.seed}")
    nodes = make_nodes(world.cluster)
    room = Room(free=[dict(node.allocatable) for node in nodes])
    leaves = _leaf_queues(world.queues)
    running = _running(rnd, world.running, nodes, room, leaves)
    free = sum(room.get(GPU, 0) for room in room.free)
    pending = pending_gangs(rnd, world.pending, leaves, free)
    gangs = [*running, *pending]
    queues = _queues(rnd, world.queues, nodes, gangs) if world.queues else []
    levels = tuple(world.cluster.domains)
    made = Snapshot(
        nodes=tuple(nodes),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(Topology(name="default", levels=levels),) if levels else (),
    )
    if world.parts is None:
        return made
    return with_waiting_parts(made, world.parts, world.seed)


def facts_of(snapshot: Snapshot) -> dict[str, float]:
    """
    Measure a snapshot as the contract describes it.
    """
    held = waiting = pods = gangs = 0
    for gang in snapshot.gangs:
        before = pods
        for leaf in pod_sets(gang.tree):
            gpus = leaf.requests.get(GPU, 0)
            now = sum(pod.phase is PodPhase.RUNNING for pod in leaf.pods)
            held += now * gpus
            pods += len(leaf.pods) - now
            waiting += (len(leaf.pods) - now) * gpus
        gangs += pods > before
    total = sum(node.allocatable.get(GPU, 0) for node in snapshot.nodes)
    every = sum(len(x.pods) for gang in snapshot.gangs for x in pod_sets(gang.tree))
    return {
        "nodes": len(snapshot.nodes),
        "runningPods": every - pods,
        "load": round(held / max(1, total), 4),
        "pendingGangs": gangs,
        "pendingPods": pods,
        "demandOverFree": round(waiting / max(1, total - held), 4),
    }


def make_nodes(cluster: Cluster) -> list[Node]:
    """
    Make equal nodes, with labels for the domains they lie in.
    """
    allocatable = {
        name: parse_quantity(name, amount)
        for name, amount in cluster.allocatable.items()
    }
    allocatable.setdefault(PODS, DEFAULT_PODS)
    width = len(str(cluster.nodes - 1))
    nodes = []
    for idx in range(cluster.nodes):
        name = f"n{idx:0{width}d}"
        labels = {HOSTNAME: name}
        for level, size in cluster.domains.items():
            labels[level] = f"{level}-{idx // size:04d}"
        nodes.append(Node(name=name, allocatable=allocatable, labels=labels))
    return nodes


# --- what runs ------------------------------------------------------------------


def _running(
    rnd: Random,
    spec: Running,
    nodes: Sequence[Node],
    room: Room,
    queues: Sequence[str],
) -> list[Gang]:
    """
    Place running pods, the largest first, each on the fullest of a few nodes.
    """
    total = sum(node.allocatable.get(GPU, 0) for node in nodes)
    sizes = _sizes(rnd, spec.sizes, spec.pods - spec.without_gpus, spec.load * total)
    shapes = _shapes(rnd, spec)
    chosen = [rnd.choice(shapes[size]) for size in sorted(sizes, reverse=True)]
    chosen += [rnd.choice(shapes[0]) for _ in range(spec.without_gpus)]
    width = len(str(spec.pods))
    gangs = []
    for idx, requests in enumerate(chosen):
        node = _find(rnd, room, requests, spec.choices)
        if node is None:
            continue
        room.take(node, requests)
        name = f"run-{idx:0{width}d}"
        pod = Pod(f"{name}-0", PodPhase.RUNNING, nodes[node].name, 3600)
        tree = PodSet(name=name, minimum=1, replicas=1, requests=requests, pods=(pod,))
        queue = rnd.choice(queues) if queues else "default"
        gangs.append(
            Gang(name=name, tree=tree, queue=queue, priority=spec.priority, age=7200)
        )
    return gangs


def _sizes(rnd: Random, weights: Weights, count: int, gpus: float) -> list[int]:
    """
    Draw GPUs per pod, then change single pods until they add up to the load.
    """
    steps = sorted(weights)
    sizes = rnd.choices(steps, [weights[step] for step in steps], k=count)
    have = sum(sizes)
    for _ in range(20 * count):
        if abs(have - gpus) <= _TOLERANCE * gpus:
            break
        idx = rnd.randrange(count)
        at = steps.index(sizes[idx]) + (1 if have < gpus else -1)
        if 0 <= at < len(steps):
            have += steps[at] - sizes[idx]
            sizes[idx] = steps[at]
    return sizes


def _shapes(rnd: Random, spec: Running) -> dict[int, list[dict[str, int]]]:
    """
    List the shapes per number of GPUs; the odd ones are drawn, the others regular.
    """
    sizes = sorted(spec.sizes)
    if spec.shapes is None:
        return {
            size: [requests_of(size, ratio) for ratio in spec.ratios] for size in sizes
        }
    kinds = [0, *sizes] if spec.without_gpus else sizes
    shapes: dict[int, list[dict[str, int]]] = {kind: [] for kind in kinds}
    for idx in range(spec.shapes):
        kind = kinds[idx % len(kinds)]
        shapes[kind].append(_odd(rnd, kind, rnd.choice(spec.ratios)))
    return shapes


def _odd(rnd: Random, gpus: int, ratio: Ratio) -> dict[str, int]:
    cpu, memory = ratio
    part = rnd.uniform(0.3, 1.0) * (gpus or 0.15)
    requests = {
        CPU: max(1, int(cpu * part * 100)) * 10,
        MEMORY: max(1, int(memory * part * 32)) * (GIB // 32),
        PODS: 1,
    }
    return {**requests, GPU: gpus} if gpus else requests


def _find(
    rnd: Random, room: Room, requests: dict[str, int], choices: int
) -> int | None:
    count = len(room.free)
    some = [rnd.randrange(count) for _ in range(choices)]
    fitting = [node for node in some if room.fits(node, requests)]
    if not fitting:
        start = rnd.randrange(count)
        every = ((start + step) % count for step in range(count))
        return next((node for node in every if room.fits(node, requests)), None)
    return min(fitting, key=lambda node: (room.free[node].get(GPU, 0), node))


# --- queues ---------------------------------------------------------------------


def _leaf_queues(spec: Queues | None) -> list[str]:
    return [f"q{idx}" for idx in range(spec.leaves)] if spec else []


def _queues(
    rnd: Random, spec: Queues, nodes: Sequence[Node], gangs: Sequence[Gang]
) -> list[Queue]:
    """
    Divide the cluster among departments and leaves; some leaves' limits bind.
    """
    total = sum(node.allocatable.get(GPU, 0) for node in nodes)
    queues = [
        _queue(f"d{idx}", None, total // spec.departments, None, 1)
        for idx in range(spec.departments)
    ]
    for idx, name in enumerate(_leaf_queues(spec)):
        limit = None
        if idx < spec.binding:
            running, waiting = _asked(gangs, name)
            limit = running + int(spec.part * waiting)
        weight = rnd.choice(spec.weights)
        parent = f"d{idx % spec.departments}"
        queues.append(_queue(name, parent, total // spec.leaves, limit, weight))
    return queues


def _queue(
    name: str, parent: str | None, quota: int, limit: int | None, weight: int
) -> Queue:
    rule = QueueResource(quota=quota, limit=limit, weight=weight)
    return Queue(name=name, parent=parent, resources={GPU: rule})


def _asked(gangs: Sequence[Gang], queue: str) -> tuple[int, int]:
    running = waiting = 0
    for gang in gangs:
        if gang.queue == queue:
            for leaf in pod_sets(gang.tree):
                gpus = leaf.requests.get(GPU, 0)
                now = sum(pod.phase is PodPhase.RUNNING for pod in leaf.pods)
                running += now * gpus
                waiting += (len(leaf.pods) - now) * gpus
    return running, waiting
