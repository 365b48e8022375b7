"""
Random nearly full clusters: gangs run almost everywhere, and others are entitled.

A case is decided by its seed alone.  Four queues under two departments hold the
cluster; most of what waits belongs to a fifth that runs nothing.
"""

from random import Random

from benchmarks.contract_parts import Cluster
from benchmarks.waiting import requests_of
from benchmarks.world import make_nodes
from models.gangs import Gang, Pod, PodPhase, PodSet
from models.queues import Queue, QueueResource
from models.resources import GPU
from models.snapshot import Snapshot
from models.topology import Topology

_RATIO = (8, 64)
_FULL = 0.95
_WIDE = 0.3
_RACK = 8
_LEAVES = ("q0", "q1", "q2", "q3")
_FORMS = ((1, 1), (4, 1), (8, 1), (4, 2), (2, 4), (1, 8), (2, 8), (4, 8))
_PRIORITIES = (50, 75)


def full_case(seed: int, nodes: tuple[int, int]) -> Snapshot:
    """
    Make one cluster of so many nodes, with as many gangs waiting.
    """
    rnd = Random(f"nearly-full-{seed}")
    count = rnd.randint(*nodes)
    cluster = Cluster(
        nodes=count,
        allocatable={"cpu": 96, "memory": "768Gi", GPU: 8},
        domains={"rack": _RACK},
    )
    made = make_nodes(cluster)
    names = [node.name for node in made]
    gangs = [*_running(rnd, names), *(_waiting(rnd, idx) for idx in range(count))]
    return Snapshot(
        nodes=tuple(made),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(_queues(8 * count)),
        topologies=(Topology(name="default", levels=("rack",)),),
    )


def _queues(gpus: int) -> list[Queue]:
    """
    Give half the GPUs to each department and a fifth to each leaf.
    """
    tops = [_queue(name, None, gpus // 2) for name in ("d0", "d1")]
    leaves = [_queue(q, f"d{i % 2}", gpus // 5) for i, q in enumerate(_LEAVES)]
    return [*tops, *leaves, _queue("vip", "d0", gpus // 5)]


def _queue(name: str, parent: str | None, quota: int) -> Queue:
    return Queue(name=name, parent=parent, resources={GPU: QueueResource(quota=quota)})


def _running(rnd: Random, nodes: list[str]) -> list[Gang]:
    """
    Place gangs at random until few GPUs are left.
    """
    free = dict.fromkeys(nodes, 8)
    least = (1 - _FULL) * 8 * len(nodes)
    gangs: list[Gang] = []
    while sum(free.values()) > least:
        open_nodes = [node for node, room in free.items() if room]
        rnd.shuffle(open_nodes)
        wide = rnd.random() < _WIDE
        chosen = open_nodes[: rnd.choice((2, 2, 4)) if wide else 1]
        size = rnd.choice((1, 2, 4, 8) if wide else (1, 1, 2, 4, 8))
        places = []
        for node in chosen:
            count = free[node] // size if wide else min(1, free[node] // size)
            places += [node] * count
            free[node] -= count * size
        if places:
            gangs.append(_run(rnd, f"run-{len(gangs):04d}", size, places))
    return gangs


def _run(rnd: Random, name: str, size: int, places: list[str]) -> Gang:
    seconds = 60 * rnd.randint(10, 50)
    elastic = len(places) > 1 and rnd.random() < 0.3
    return Gang(
        name=name,
        tree=PodSet(
            name=name,
            minimum=len(places) // 2 if elastic else len(places),
            replicas=len(places),
            requests=requests_of(size, _RATIO),
            pods=tuple(
                Pod(f"{name}-{idx}", PodPhase.RUNNING, node, seconds)
                for idx, node in enumerate(places)
            ),
        ),
        queue=rnd.choices(_LEAVES, (4, 3, 2, 1))[0],
        priority=rnd.choice(_PRIORITIES),
        age=3600 + seconds,
    )


def _waiting(rnd: Random, idx: int) -> Gang:
    name = f"want-{idx:04d}"
    count, size = rnd.choice(_FORMS)
    return Gang(
        name=name,
        tree=PodSet(
            name=name,
            minimum=count,
            replicas=count,
            requests=requests_of(size, _RATIO),
            pods=tuple(Pod(f"{name}-{i}") for i in range(count)),
        ),
        queue=rnd.choices(("vip", *_LEAVES), (6, 1, 1, 1, 1))[0],
        priority=rnd.choice(_PRIORITIES),
        age=60 * rnd.randint(1, 50),
    )
