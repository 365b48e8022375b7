"""
Claims that pods of a gang share: who asks for them, and who is kept from nothing.
"""

import pytest

import solver
from models.policy import Policy
from tests.helpers.kube.manifests import assembled, in_group, node, pod, pod_group
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)

FOUR = node_slice("n", [gpu(i) for i in range(4)])


def starts(*raws, nodes=("n",)):
    """
    Name the pods that start, with their nodes.
    """
    there = [node(name, gpus=0) for name in nodes]
    snapshot = assembled(*there, *classes(), *raws).snapshot
    plan = solver.decide(snapshot, Policy())
    binds = (step for step in plan.operations if step.op == "Bind")
    return {step.pod.partition("/")[2]: step.node for step in binds}


def gang(name, least, pods, *claims):
    """
    A gang whose pods all name some claims.
    """
    labels = in_group(name)
    return [
        pod_group(name, least),
        *(
            pod(f"{name}-{i}", gpus=0, labels=labels, **claiming(*claims))
            for i in range(pods)
        ),
    ]


def of_gpus(name, number):
    return claim(name, asks("r", GPU_CLASS, number))


def test_pods_that_share_a_claim_start_on_one_node():
    slices = [node_slice(name, [gpu(0)]) for name in ("n", "m")]
    shared = [of_gpus("c", 1), *gang("g", 3, 3, "c")]
    found = starts(*slices, *shared, nodes=("n", "m"))

    assert 3 == len(found)
    assert 1 == len(set(found.values()))


def test_a_shared_claim_that_waits_keeps_its_devices_from_nobody():
    short = [of_gpus("all", 4), *gang("short", 3, 2, "all")]
    other = [of_gpus("two", 2), *gang("other", 1, 1, "two")]

    assert {"other-0": "n"} == starts(FOUR, *short, *other)


def test_gangs_that_share_claims_fill_many_nodes_in_one_round():
    nodes = ("n", "m", "o")
    slices = [node_slice(name, [gpu(i) for i in range(4)]) for name in nodes]
    gangs = [
        raw
        for g in range(6)
        for raw in (of_gpus(f"c{g}", 2), *gang(f"g{g}", 2, 2, f"c{g}"))
    ]

    assert 12 == len(starts(*slices, *gangs, nodes=nodes))


def test_who_shares_a_claim_with_a_gang_that_cannot_start_starts_alone():
    gangs = [*gang("short", 3, 2, "c"), *gang("whole", 2, 2, "c")]

    assert {"whole-0": "n", "whole-1": "n"} == starts(FOUR, of_gpus("c", 4), *gangs)


def with_devices(raw, *pods):
    """
    A claim that has all devices of the node, for some pods.
    """
    given = {"request": "r", "driver": "gpu.nvidia.com", "pool": "n"}
    rule = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    status = {
        "allocation": {
            "devices": {"results": [{**given, "device": f"gpu-{i}"} for i in range(4)]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [rule]}]},
        },
        "reservedFor": [{"resource": "pods", "name": p, "uid": p} for p in pods],
    }
    return {**raw, "status": status}


@pytest.mark.parametrize(
    ("least", "leave"), [(2, {"low-0", "low-1"}), (1, set())], ids=["all", "some"]
)
def test_a_claim_of_several_is_given_back_only_by_who_leave_together(least, leave):
    pods = [
        pod(
            f"low-{i}",
            gpus=0,
            nodeName="n",
            status={"phase": "Running"},
            meta={"uid": f"low-{i}", "labels": in_group("low")},
            **claiming("c"),
        )
        for i in range(2)
    ]
    low = [pod_group("low", least), *pods]
    high = pod("high", gpus=0, priority=100, **claiming("d"))
    held = with_devices(of_gpus("c", 4), "low-0", "low-1")
    raws = [FOUR, held, of_gpus("d", 4), *low, high]
    snapshot = assembled(node("n", gpus=0), *classes(), *raws).snapshot
    plan = solver.decide(snapshot, Policy())
    steps = (step for step in plan.operations if step.op == "Evict")
    gone = {step.pod.partition("/")[2] for step in steps}
    (waits,) = (x for x in plan.gangs if x.name == "default/high")

    assert leave == gone
    assert waits.waiting is None or "even an empty one" not in waits.waiting.message


def test_of_several_shared_claims_none_gets_too_much():
    claims = [of_gpus("c", 3), of_gpus("d", 1)]
    both = gang("g", 2, 2, "c", "d")

    assert 2 == len(starts(FOUR, *claims, *both))
    assert not starts(FOUR, of_gpus("c", 3), of_gpus("d", 2), *both)
