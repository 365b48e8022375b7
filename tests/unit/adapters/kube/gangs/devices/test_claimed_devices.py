"""
Claims of devices in snapshots: what pods ask for, what nodes offer, and who waits why.
"""

import pytest

import solver
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from models.policy import Policy
from models.resources import CLAIMED_DEVICES
from tests.helpers.kube.manifests import (
    NOW,
    assembled,
    in_group,
    node,
    obj,
    objects,
    pod,
    pod_group,
)
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    MIG_CLASS,
    asks,
    attribute,
    claim,
    claiming,
    classes,
    cut_gpus,
    device_class,
    first_of,
    gpu,
    node_slice,
    profile,
)

PCIE = "resource.kubernetes.io/pcieRoot"


def allocated(raw, *devices, users=(), at="n", **results):
    """
    A claim that has devices.
    """
    found = [
        {
            "request": "r",
            "driver": "gpu.nvidia.com",
            "pool": at,
            "device": device,
            **results,
        }
        for device in devices
    ]
    rule = {"key": "metadata.name", "operator": "In", "values": [at]}
    status = {
        "allocation": {
            "devices": {"results": found},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [rule]}]},
        },
        "reservedFor": [{"resource": "pods", "name": u, "uid": u} for u in users],
    }
    return {**raw, "status": status}


def claims_of(name, *names, **fields):
    return pod(name, gpus=0, **claiming(*names), **fields)


def asking(name, *requests, **devices):
    """
    A pod with a claim of its own.
    """
    return [claim(name, *requests, **devices), claims_of(name, name)]


def starts(*raws, nodes=("n",)):
    """
    Name the pods that start, with the nodes of those that do.
    """
    there = [node(name, gpus=0) for name in nodes]
    snapshot = assembled(*there, *classes(), *raws).snapshot
    plan = solver.decide(snapshot, Policy())
    return {
        step.pod.partition("/")[2]: step.node
        for step in plan.operations
        if step.op == "Bind"
    }


def why(name, *raws):
    found = assembled(node(gpus=0), *classes(), *raws).snapshot.gangs
    return next(str(g.refused and g.refused.message) for g in found if g.name == name)


def offered(*raws):
    found = assembled(node(gpus=0), *classes(), *raws).snapshot.nodes[0].allocatable
    return {
        name.removeprefix(CLAIMED_DEVICES): amount
        for name, amount in found.items()
        if name.startswith(CLAIMED_DEVICES)
    }


FOUR = node_slice("n", [gpu(i) for i in range(4)])


def test_a_node_offers_what_is_free_of_what_is_asked_for():
    one = asking("p", asks("r", GPU_CLASS, 2))
    held = allocated(claim("other", asks("r", GPU_CLASS)), "gpu-3")

    assert {GPU_CLASS: 4} == offered(FOUR, *one)
    assert {GPU_CLASS: 3} == offered(FOUR, *one, held)


def test_a_claim_that_cannot_be_read_is_said_and_keeps_its_devices():
    odd = {"consumedCapacity": {"memory": "much"}}
    held = allocated(claim("q", asks("r", GPU_CLASS)), "gpu-0", "gpu-1", **odd)
    raws = [FOUR, held, claims_of("q", "q"), *asking("p", asks("r", GPU_CLASS))]

    assert {GPU_CLASS: 2} == offered(*raws)
    assert {"p": "n"} == starts(*raws)
    assert "claim q (q) cannot be read: status.allocation.devices" in why("q", *raws)


def test_a_pod_that_runs_is_in_what_its_node_offers():
    raws = [
        allocated(claim("q", asks("r", GPU_CLASS)), "gpu-0", users=["q"]),
        claims_of("q", "q", nodeName="n", meta={"uid": "q"}),
        *asking("p", asks("r", GPU_CLASS, 3)),
        *asking("more", asks("r", GPU_CLASS, 4)),
    ]

    assert {GPU_CLASS: 4} == offered(FOUR, *raws)
    assert {"p": "n"} == starts(FOUR, *raws)


def test_devices_that_are_given_twice_are_named_with_their_claims():
    held = [allocated(claim(x, asks("r", GPU_CLASS)), "gpu-1") for x in ("a", "b")]
    raws = [FOUR, *held, *asking("p", asks("r", GPU_CLASS))]
    warnings = assembled(node(gpus=0), *classes(), *raws).snapshot.warnings

    said = "device gpu-1 of n is given away more than there is"
    assert f"{said}, to claim default/a and claim default/b" in warnings


@pytest.mark.parametrize("whole", [True, False])
def test_a_whole_gpu_and_a_part_of_it_are_given_twice(whole):
    devices = cut_gpus("n", 1)
    every = [each["name"] for raw in devices for each in raw["spec"].get("devices", ())]
    small = [name for name in every if "1g" in name and "me" not in name][:2]
    given = ["gpu-0", small[0]] if whole else small
    held = [allocated(claim(f"c-{x}", asks("r", MIG_CLASS)), x) for x in given]
    raws = [*devices, *held, *asking("p", asks("r", MIG_CLASS))]
    warnings = assembled(node(gpus=0), *classes(), *raws).snapshot.warnings

    assert whole == any("more than there is" in each for each in warnings)


def test_taints_keep_devices_from_who_does_not_tolerate_them():
    taint = {"key": "broken", "effect": "NoSchedule"}
    slices = node_slice("n", [gpu(0), gpu(1, taints=[taint])])
    tolerations = [{"key": "broken", "operator": "Exists"}]
    raws = [
        *asking("a", asks("r", GPU_CLASS, 2)),
        *asking("b", asks("r", GPU_CLASS, 2, tolerations=tolerations)),
    ]

    assert {"b": "n"} == starts(slices, *raws)


def test_devices_of_one_root_and_of_different_ones():
    slices = node_slice("n", [gpu(i) for i in (0, 1, 2, 4)])
    same = {"constraints": [{"requests": ["r"], "matchAttribute": PCIE}]}
    other = {"constraints": [{"distinctAttribute": PCIE}]}

    assert {"p": "n"} == starts(slices, *asking("p", asks("r", GPU_CLASS, 3), **same))
    assert not starts(slices, *asking("p", asks("r", GPU_CLASS, 4), **same))
    assert {"p": "n"} == starts(slices, *asking("p", asks("r", GPU_CLASS, 2), **other))
    assert not starts(slices, *asking("p", asks("r", GPU_CLASS, 3), **other))
    two = [
        *asking("a", asks("r", GPU_CLASS, 2), **same),
        *asking("b", asks("r", GPU_CLASS, 2), **same),
    ]
    assert 1 == len(starts(slices, *two))


def test_all_that_match_are_had_only_while_nobody_has_one():
    everything = {"name": "r", "exactly": {"deviceClassName": GPU_CLASS}}
    everything["exactly"]["allocationMode"] = "All"
    raws = asking("p", everything)
    held = allocated(claim("other", asks("r", GPU_CLASS)), "gpu-3")

    assert {"p": "n"} == starts(FOUR, *raws)
    assert not starts(FOUR, *raws, held)
    missing = node_slice("n", [gpu(9)], of=2)
    missing["spec"]["pool"]["name"] = missing["metadata"]["name"] = "more"
    assert not starts(FOUR, missing, *raws)


def test_all_that_match_are_had_only_where_all_taints_are_tolerated():
    taint = {"key": "broken", "effect": "NoSchedule"}
    slices = node_slice("n", [gpu(0), gpu(1, taints=[taint])])
    everything = {"deviceClassName": GPU_CLASS, "allocationMode": "All"}
    plain = asking("a", {"name": "r", "exactly": everything})
    everything = {**everything, "tolerations": [{"operator": "Exists"}]}
    tolerant = asking("b", {"name": "r", "exactly": everything})

    assert not starts(slices, *plain)
    assert {"b": "n"} == starts(slices, *tolerant)


def test_shared_capacity_is_dealt_in_parts():
    policy = {"default": "80Gi", "validRange": {"min": "10Gi", "step": "10Gi"}}
    capacity = {"memory": {"value": "80Gi", "requestPolicy": policy}}
    slices = node_slice("n", [gpu(0, allowMultipleAllocations=True, capacity=capacity)])

    def of(amount):
        return asks("r", GPU_CLASS, capacity={"requests": {"memory": amount}})

    many = [raw for i in range(5) for raw in asking(f"p-{i}", of("15Gi"))]
    assert 4 == len(starts(slices, *many))
    whole = asking("w", asks("r", GPU_CLASS))
    assert {"w": "n"} == starts(slices, *whole)
    held = allocated(
        claim("other", of("30Gi")), "gpu-0", consumedCapacity={"memory": "30Gi"}
    )
    assert 2 == len(starts(slices, *many, held))
    assert not starts(slices, *whole, held)


def test_partitions_beside_whole_gpus():
    def mig(name, of):
        return asking(name, asks("r", MIG_CLASS, 1, profile(of)))

    slices = cut_gpus("n", 2)
    three = [raw for i in range(3) for raw in mig(f"t-{i}", "3g.40gb")]
    assert 3 == len(starts(*slices, *three))
    assert 3 == len(starts(*slices, *three, *asking("w", asks("r", GPU_CLASS))))
    small = [raw for i in range(5) for raw in mig(f"s-{i}", "1g.10gb")]
    assert 7 == len(starts(*slices, *three, *small))


def test_whole_or_halves_start_where_they_can():
    either = first_of("r", (GPU_CLASS, ()), (MIG_CLASS, (profile("3g.40gb"),)))
    gang = [
        pod_group("g", 4),
        *(claim(f"p-{i}", either) for i in range(4)),
        *(claims_of(f"p-{i}", f"p-{i}", labels=in_group("g")) for i in range(4)),
    ]

    assert 4 == len(starts(*cut_gpus("n", 2), *gang))
    assert not starts(*cut_gpus("n", 1), *gang)


def test_a_claim_that_has_devices_leads_its_pod_there():
    slices = [node_slice(name, [gpu(0)]) for name in ("n", "m")]
    held = allocated(claim("p", asks("r", GPU_CLASS)), "gpu-0", at="m", users=["p"])

    assert {"p": "m"} == starts(*slices, held, claims_of("p", "p"), nodes=("n", "m"))


def test_what_a_pod_of_a_template_asks_for_is_planned_before_it_has_a_claim():
    template = obj("resource.k8s.io/v1", "ResourceClaimTemplate", "t", "default")
    template["spec"] = {"spec": {"devices": {"requests": [asks("r", GPU_CLASS)]}}}
    named = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    early, late = (
        pod(name, gpus=0, resourceClaims=named, meta=meta)
        for name, meta in (("early", {}), ("late", {"uid": "u"}))
    )

    assert {"early": "n"} == starts(FOUR, template, early, late)
    assert "claim gpu is not made yet" in why("late", FOUR, template, late)
    assert "claim gpu is not made: template " in why("late", FOUR, late)


@pytest.mark.parametrize("number", [33, 10**15, 2**63 - 1])
def test_an_alternative_that_no_claim_may_have_is_none(number):
    either = first_of("r", (GPU_CLASS, ()), (GPU_CLASS, ()))
    either["firstAvailable"][1]["count"] = number

    assert {"p": "n"} == starts(FOUR, *asking("p", either))


def test_what_is_wrong_with_a_claim_is_said_with_its_field():
    def said(*requests, **devices):
        return why("p", FOUR, *asking("p", *requests, **devices))

    assert "there is no device class gone" in said(asks("r", "gone"))
    assert "count: 0 is not at least 1" in said(asks("r", GPU_CLASS, 0))
    assert "and 32 is the most" in said(asks("r", GPU_CLASS, 33))
    many = first_of("r", (GPU_CLASS, ()), (MIG_CLASS, ()))
    for alternative, number in zip(many["firstAvailable"], (33, 34), strict=True):
        alternative["count"] = number
    assert "asks for 33 devices, and 32 is the most" in said(many)
    bad = asks("r", GPU_CLASS, 1, "device.driver ==")
    assert "requests[0].exactly.selectors[0].cel.expression: its end" in said(bad)
    throws = asks("r", GPU_CLASS, 1, f"{attribute('profile')} == 'x'")
    assert "has no such key: profile (device gpu-0" in said(throws)
    class_ = device_class("broken", "1 +")
    one = asking("p", asks("r", "broken"))
    assert "its end is not expected" in why("p", FOUR, class_, *one)


ONE = asks("r", GPU_CLASS)
ALL = {"deviceClassName": GPU_CLASS, "allocationMode": "All", "count": 2}
BOTH = {"matchAttribute": PCIE, "distinctAttribute": PCIE}
CONTRADICTIONS = {
    "requests[0]: has both exactly and firstAvailable": (
        [ONE | first_of("r", (GPU_CLASS, ()))],
        None,
    ),
    "exactly.count: is said beside allocationMode All": (
        [{"name": "r", "exactly": ALL}],
        None,
    ),
    "requests: 'r' is there twice": ([ONE, ONE], None),
    "constraints[0].requests: there is no request 'gone'": (
        [ONE],
        {"matchAttribute": PCIE, "requests": ["gone"]},
    ),
    "constraints[0]: has both matchAttribute and distinctAttribute": ([ONE], BOTH),
    "constraints[0]: has neither matchAttribute nor": ([ONE], {"requests": ["r"]}),
}


@pytest.mark.parametrize("said", CONTRADICTIONS)
def test_a_claim_that_contradicts_itself_is_refused_with_the_field(said):
    requests, constraint = CONTRADICTIONS[said]
    more = {"constraints": [constraint]} if constraint else {}
    ours = asking("p", *requests, **more)

    assert said in why("p", FOUR, *ours)
    assert {"q": "n"} == starts(FOUR, *ours, *asking("q", asks("r", GPU_CLASS)))


def test_a_constraint_may_name_a_request_or_an_alternative():
    either = first_of("r", (GPU_CLASS, ()), (MIG_CLASS, ()))
    names = ["r", *(f"r/{each['name']}" for each in either["firstAvailable"])]
    same = {"matchAttribute": PCIE, "requests": names}

    assert {"p": "n"} == starts(FOUR, *asking("p", either, constraints=[same]))


def test_what_alternatives_count_in_queues_is_told_where_they_differ():
    either = first_of("r", (GPU_CLASS, ()), (GPU_CLASS, ()))
    one = assembled(node(gpus=0), *classes(), FOUR, *asking("p", either)).snapshot
    either["firstAvailable"][0]["count"] = 3
    three = assembled(node(gpus=0), *classes(), FOUR, *asking("p", either)).snapshot

    assert not one.warnings
    (told,) = three.warnings
    assert told.endswith(
        "queues count them as 3 GPUs, not as 1, until they have devices"
    )


def test_devices_that_nobody_asks_for_change_no_snapshot():
    with_ = assembled(node(gpus=0), *classes(), FOUR, pod()).snapshot
    without = assembled(node(gpus=0), pod()).snapshot

    assert with_ == without


EXTENDED_GPU = "example.com/gpu"


def by_class(name="gpus.example.com"):
    return device_class(
        name, f"{attribute('type')} == 'gpu'", extendedResourceName=EXTENDED_GPU
    )


def extended(name, number, resource=EXTENDED_GPU, **fields):
    """
    A pod that asks for an extended resource and names no claim.
    """
    raw = pod(name, gpus=0, meta={"uid": f"uid-{name}"}, **fields)
    raw["spec"]["containers"][0]["resources"] = {"requests": {resource: str(number)}}
    return raw


def offering(name, number):
    raw = node(name, gpus=0)
    raw["status"]["allocatable"][EXTENDED_GPU] = str(number)
    return raw


def test_extended_resources_are_had_as_devices_of_their_class():
    slices = [node_slice("n", [gpu(i) for i in range(3)])]
    pods = [extended("a", 2), extended("b", 2), *asking("c", asks("r", GPU_CLASS, 1))]

    assert {"a": "n", "c": "n"} == starts(by_class(), *slices, *pods)


def test_the_implicit_resource_of_a_class_is_had_as_its_devices():
    slices = [node_slice("n", [gpu(i) for i in range(2)])]
    implicit = f"deviceclass.resource.kubernetes.io/{GPU_CLASS}"

    assert {"a": "n"} == starts(*slices, extended("a", 2, implicit))


def test_extended_resources_that_nodes_offer_are_had_there():
    slices = [node_slice("n", [gpu(i) for i in range(2)])]
    found = starts(by_class(), *slices, offering("m", 1), extended("a", 1))

    assert {"a": "m"} == found


def test_a_pod_whose_claim_was_made_goes_where_its_devices_are():
    slices = [node_slice(n, [gpu(i) for i in range(2)]) for n in ("m", "n")]
    made = claim("made")
    made["metadata"] |= {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"kind": "Pod", "uid": "uid-a", "controller": True}],
    }
    raw = allocated(made, "gpu-0", users=["uid-a"], at="n")

    assert {"a": "n"} == starts(
        by_class(), *slices, raw, extended("a", 1), nodes=("m", "n")
    )


def test_a_running_pod_has_the_devices_of_its_claim():
    slices = [node_slice("n", [gpu(i) for i in range(2)])]
    made = claim("made")
    made["metadata"] |= {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"kind": "Pod", "uid": "uid-a", "controller": True}],
    }
    raw = allocated(made, "gpu-0", users=["uid-a"], at="n")
    runs = extended("a", 1, nodeName="n")
    snapshot = assembled(
        node(gpus=0), *classes(), by_class(), *slices, raw, runs, extended("b", 2)
    ).snapshot

    plan = solver.decide(snapshot, Policy())
    assert [] == list(plan.operations)


def test_a_gang_asks_anew_when_its_class_comes_or_goes():
    read = [pod_record(extended("a", 2))], [node_record(node(gpus=0))]
    slices = node_slice("n", [gpu(i) for i in range(2)])
    assembler = Assembler(dialects())
    found = []
    for raws in ([slices], [slices, by_class()], [slices]):
        made = assembler.assembled(*read, objects(*raws), NOW).snapshot
        found.append([str(x.op) for x in solver.decide(made, Policy()).operations])

    assert [[], ["Bind"], []] == found
