"""
openb one by one: where a pod goes is where a round with it alone would put it.
"""

from random import Random

import numpy as np
import pytest

from benchmarks.openb_nodes import NodesTaken, OpenbPod, listing
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, with_shares
from models.gangs import Gang, Pod, PodPhase, PodSet
from models.nodes import Node
from models.resources import CPU, GPU, MEMORY, PODS
from models.snapshot import Snapshot
from solver.round import decide

NODES = [
    {"sn": f"n{at}", "cpu_milli": cpu, "memory_mib": 65536, "gpu": gpus, "model": "T4"}
    for at, (cpu, gpus) in enumerate([(16000, 2), (32000, 2), (8000, 1)])
]
PODS_OF = [
    OpenbPod(4000, 1024, 1, 300),
    OpenbPod(2000, 1024, 1, 600),
    OpenbPod(8000, 1024, 1, 1000),
    OpenbPod(6000, 1024, 2, 1000),
    OpenbPod(3000, 1024, 0, 0),
]


def _gang(name, pod, placed=None):
    requests = {CPU: pod.cpu, MEMORY: pod.memory * 2**20, PODS: 1}
    if 0 < pod.milli < WHOLE:
        requests[GpuPart(cores=pod.milli, share=pod.milli).resource] = 1
    elif pod.devices:
        requests[GPU] = pod.devices
    one = Pod(name)
    if placed is not None:
        node, devices = placed
        one = Pod(name, PodPhase.RUNNING, node, devices=devices)
    tree = PodSet(
        name="", minimum=1, replicas=1, requests=with_shares(requests, ()), pods=(one,)
    )
    return Gang(name=name, tree=tree)


def _nodes():
    for row in NODES:
        offer = {CPU: row["cpu_milli"], MEMORY: 2**36, GPU: row["gpu"], PODS: 110}
        yield Node(name=row["sn"], allocatable=with_shares(offer, ()), gpu_memory=16000)


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
def test_each_pod_adds_as_little_as_in_a_round_of_its_own(strategy):
    policy = listing(PODS_OF)
    fast = NodesTaken(NODES, PODS_OF, np.arange(3))
    chance, gangs = Random(1), ()
    for at in range(8):
        pod = chance.choice(PODS_OF)
        given = Snapshot(nodes=tuple(_nodes()), gangs=(*gangs, _gang(f"p{at}", pod)))
        plan = decide(given, policy, strategy=strategy)
        before = fast.total()
        placed = fast.place(pod)
        value = next(t.value for t in plan.tiers if t.name == "expected-fragments")

        assert placed == bool(plan.operations)
        assert value == fast.total(), (at, pod, before)
        if placed:
            node, devices = fast.last(pod)
            where = tuple(GpuDevice(device) for device in devices)
            gangs = (*gangs, _gang(f"p{at}", pod, (NODES[node]["sn"], where)))
    assert len(gangs) > 4
