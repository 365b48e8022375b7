"""
Claims that pods of a gang share: who asks for them, and who is kept from nothing.
"""

import pytest

import solver
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from models.policy import Policy
from tests.helpers.kube.manifests import (
    NOW,
    assembled,
    in_group,
    node,
    objects,
    pod,
    pod_group,
)
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


@pytest.mark.parametrize("least", [2, 1], ids=["all", "some"])
def test_a_claim_of_several_is_given_back_by_all_of_them_together(least):
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

    assert {"low-0", "low-1"} == gone
    assert waits.waiting is None or "even an empty one" not in waits.waiting.message


def test_of_several_shared_claims_none_gets_too_much():
    claims = [of_gpus("c", 3), of_gpus("d", 1)]
    both = gang("g", 2, 2, "c", "d")

    assert 2 == len(starts(FOUR, *claims, *both))
    assert not starts(FOUR, of_gpus("c", 3), of_gpus("d", 2), *both)


def near(label, key):
    """
    What a pod says that must be where pods with a label are.
    """
    term = {"labelSelector": {"matchLabels": {"app": label}}, "topologyKey": key}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAffinity": required}}


BY = near("db", "rack")
TRIO = near("trio", "rack")
DB = pod("db", gpus=0, nodeName="m", meta={"uid": "db", "labels": {"app": "db"}})
RACKS = {"n": "r1", "m": "r1", "o": "r2"}


def planned(number, *raws):
    """
    Plan on three nodes, two of which are in one rack.
    """
    there = [node(name, gpus=0, labels={"rack": rack}) for name, rack in RACKS.items()]
    slices = [node_slice(name, [gpu(i) for i in range(number)]) for name in RACKS]
    found = assembled(*there, *classes(), *slices, *raws)
    return solver.decide(found.snapshot, Policy())


def each(*pods):
    """
    A gang of pods, each with its claims, what it says of others, and its label.
    """
    raws = [pod_group("g", len(pods))]
    for at, (claims, said, label) in enumerate(pods):
        meta = {"uid": f"g-{at}", "labels": {**in_group("g"), "app": label}}
        spec = {**claiming(*claims), **said}
        raws.append(pod(f"g-{at}", gpus=0, meta=meta, **spec))
    return raws


@pytest.mark.parametrize(
    "pods",
    [
        [("c", BY, ""), ("c", {}, "")],
        [("c", {}, ""), ("c", BY, "")],
        [("c", BY, ""), ("c", BY, "")],
        [("c", TRIO, "trio")] * 3,
        [("c", {}, "trio"), ("c", TRIO, ""), ("c", TRIO, "")],
        [("ce", {}, ""), ("cd", {}, ""), ("de", {}, "")],
    ],
    ids=["first", "second", "both", "their own kind", "their leader", "in a circle"],
)
def test_pods_that_share_claims_start_together_whatever_else_they_are_near(pods):
    names = sorted({name for claims, _, _ in pods for name in claims})
    raws = [of_gpus(name, 1) for name in names]
    plan = planned(len(names), DB, *raws, *each(*pods))
    places = {step.node for step in plan.operations if step.op == "Bind"}

    assert len(pods) == len(plan.operations)
    assert 1 == len(places)
    assert "o" not in places or BY not in [said for _, said, _ in pods]


def test_pods_that_share_a_claim_and_must_be_near_different_others_are_named():
    pods = each(("c", BY, ""), ("c", near("x", "rack"), ""))
    gangs = planned(1, DB, of_gpus("c", 1), *pods).gangs
    (found,) = (gang.waiting for gang in gangs if gang.name == "default/g")

    assert "UnsupportedConstraint" == found.reason
    assert "pod g-1, spec.affinity.podAffinity" in found.message


def mate(name, number):
    """
    A gang of Koordinator that starts with others, all pods of which use one claim.
    """
    said = {
        "name": name,
        "min-available": str(number),
        "groups": '["default/a", "default/b"]',
    }
    notes = {f"gang.scheduling.koordinator.sh/{key}": x for key, x in said.items()}
    return [
        pod(
            f"{name}-{at}",
            gpus=0,
            meta={"uid": f"{name}-{at}", "annotations": notes},
            **claiming("c"),
        )
        for at in range(number)
    ]


def test_gangs_that_start_together_ask_once_for_the_claim_that_they_share():
    found = starts(FOUR, of_gpus("c", 3), *mate("a", 2), *mate("b", 2))
    none = starts(FOUR, of_gpus("c", 5), *mate("a", 2), *mate("b", 2))

    assert {"n"} == set(found.values())
    assert 4 == len(found)
    assert not none


def test_who_comes_later_and_shares_a_claim_goes_nowhere_else():
    nodes = [node_record(node(name, gpus=0)) for name in "nm"]
    slices = [node_slice(name, [gpu(0)]) for name in "nm"]
    groups = [gang(name, 2, 2, "c") for name in ("early", "late")]
    assembler = Assembler(dialects())
    for group, *pods in (groups[0], [*groups[1], *groups[0][1:]]):
        read = [pod_record(raw) for raw in pods], nodes
        raws = [*classes(), *slices, of_gpus("c", 1), group, groups[0][0]]
        snapshot = assembler.assembled(*read, objects(*raws), NOW).snapshot
    plan = solver.decide(snapshot, Policy())

    assert 2 == len(plan.operations)


def test_who_is_bound_keeps_the_devices_of_a_claim_that_is_being_written():
    on = {"nodeName": "n", "status": {"phase": "Running"}, **claiming("c")}
    labels = in_group("g")
    bound = [
        pod(f"g-{i}", gpus=0, meta={"uid": f"g-{i}", "labels": labels}, **on)
        for i in range(2)
    ]
    more = [of_gpus("c", 3), pod_group("g", 2), *bound]
    found = {
        number: starts(FOUR, *more, of_gpus("d", number), *gang("h", 1, 1, "d"))
        for number in (1, 2)
    }

    assert {1: {"h-0": "n"}, 2: {}} == found
