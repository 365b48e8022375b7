"""
Claims that pods of a gang share: who asks for them, and who is kept from nothing.
"""

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


def test_of_several_shared_claims_none_gets_too_much():
    claims = [of_gpus("c", 3), of_gpus("d", 1)]
    both = gang("g", 2, 2, "c", "d")

    assert 2 == len(starts(FOUR, *claims, *both))
    assert not starts(FOUR, of_gpus("c", 3), of_gpus("d", 2), *both)
