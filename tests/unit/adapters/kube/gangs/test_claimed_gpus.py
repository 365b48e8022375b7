"""
What claimed devices count as GPUs: against limits of queues, and in what is counted.
"""

import pytest

import solver
from adapters.kube.dialects.protocol import Part
from models.gangs import pod_sets
from models.policy import Evict, Policy
from models.resources import GPU_SHARE
from tests.helpers.kube.manifests import Words, assembled, node, obj, pod
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    MIG_CLASS,
    asks,
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

MOVES = Policy(evict=Evict(consolidate=True))


def queue(limit):
    gpus = {"quota": limit, "limit": limit, "overQuotaWeight": 1}
    return obj("scheduling.run.ai/v2", "Queue", "q", spec={"resources": {"gpu": gpus}})


def asking(name, *requests):
    own = claim(name, *requests)
    return [
        own,
        pod(name, gpus=0, labels={"kai.scheduler/queue": "q"}, **claiming(name)),
    ]


def snapshot_of(*raws):
    return assembled(node("n", gpus=0), *classes(), *raws).snapshot


def counts(*raws):
    """
    Say what the only gang counts, and what the only node has.
    """
    found = snapshot_of(*raws)
    (gang,) = found.gangs
    (there,) = found.nodes
    return gang.tree.requests.get(GPU_SHARE, 0), there.allocatable.get(GPU_SHARE, 0)


def starts(*raws):
    plan = solver.decide(snapshot_of(*raws), Policy())
    return sorted(step.pod.partition("/")[2] for step in plan.operations)


def test_whole_gpus_count_in_full_and_a_limit_holds_for_claims():
    there = node_slice("n", [gpu(i) for i in range(4)])
    wants = [each for i in range(3) for each in asking(f"p{i}", asks("g", GPU_CLASS))]

    assert (7000, 28000) == counts(there, *asking("p", asks("g", GPU_CLASS)))
    assert ["p0", "p1"] == starts(queue(2), there, *wants)
    assert ["p0", "p1", "p2"] == starts(queue(3), there, *wants)


def test_claimed_and_whole_gpus_count_together():
    there = node_slice("n", [gpu(i) for i in range(4)])
    other = node("plugin", gpus=4)
    plain = pod("whole", gpus=1, labels={"kai.scheduler/queue": "q"})
    raws = [queue(2), there, other, plain, *asking("p", asks("g", GPU_CLASS, 2))]

    assert 1 == len(starts(*raws))


@pytest.mark.parametrize(
    ("requests", "shares"),
    [
        ([asks("g", MIG_CLASS, 1, profile("1g.10gb"))], 1000),
        ([asks("g", MIG_CLASS, 2, profile("3g.40gb"))], 6000),
        ([asks("g", MIG_CLASS, 1, profile("7g.80gb"))], 7000),
        ([first_of("g", (GPU_CLASS, ()), (MIG_CLASS, (profile("3g.40gb"),)))], 7000),
        ([asks("a", GPU_CLASS), asks("b", MIG_CLASS, 1, profile("2g.20gb"))], 9000),
    ],
)
def test_slices_count_sevenths_and_alternatives_as_the_largest(requests, shares):
    assert (shares, 14000) == counts(*cut_gpus("n", 2), *asking("p", *requests))


def many_or_one(number, name="p", at=None, *devices):
    """
    A pod whose claim is for several GPUs or for one, and has some where it runs.
    """
    wants = first_of("r", (GPU_CLASS, ()), (GPU_CLASS, ()))
    wants["firstAvailable"][0]["count"] = number
    own, waits = asking(name, wants)
    waits["metadata"]["uid"] = name
    if at is None:
        return [own, waits]
    place = {"driver": "gpu.nvidia.com", "pool": at, "request": "r/a1"}
    results = [{**place, "device": device} for device in devices]
    own["status"] = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    waits["spec"]["nodeName"], waits["status"] = at, {"phase": "Running"}
    return [own, waits]


def test_a_claim_that_has_its_devices_counts_as_these_and_not_as_it_could_have_more():
    there = node_slice("n", [gpu(i) for i in range(4)])
    runs, other = (
        many_or_one(3, "p", "n", "gpu-0"),
        asking("q", asks("g", GPU_CLASS, 2)),
    )

    assert (7000, 28000) == counts(there, *runs)
    assert (21000, 28000) == counts(there, *many_or_one(3))
    assert ["q"] == starts(queue(3), there, *runs, *other)
    assert not starts(queue(2), there, *runs, *other)


def test_a_claim_that_has_devices_already_counts_before_its_pod_runs():
    there = node_slice("n", [gpu(i) for i in range(4)])
    own, waits = many_or_one(3, "p", "n", "gpu-0", "gpu-1")
    del waits["spec"]["nodeName"], waits["status"]

    assert (14000, 28000) == counts(there, own, waits)
    assert ["p"] == starts(queue(2), there, own, waits)
    assert not starts(queue(1), there, own, waits)


def test_a_device_that_is_gone_counts_as_what_was_asked_for():
    there = node_slice("n", [gpu(i) for i in range(4)])

    assert (21000, 28000) == counts(there, *many_or_one(3, "p", "n", "gpu-9"))


def test_who_could_get_more_elsewhere_is_not_moved():
    def moved(number):
        there = [node_slice(at, [gpu(0), gpu(1)]) for at in ("n", "m")]
        runs = [many_or_one(number, f"on-{at}", at, "gpu-0") for at in ("n", "m")]
        wants = [many_or_one(number, name)[0] for name in ("a", "b")]
        wide = pod("wide", gpus=0, **claiming("a", "b"))
        raws = [node("m", gpus=0), *there, *wants, wide, *runs[0], *runs[1]]
        plan = solver.decide(snapshot_of(*raws), MOVES)
        return [step.op for step in plan.operations]

    assert "Move" in moved(1)
    assert "Move" not in moved(2)


def test_pods_that_others_come_after_count_as_the_most_they_could_get():
    parts = (Part(name="first", minimum=1), Part(name="then", after=("first",)))
    words = [Words("one", "x", tree=Part(parts=parts))]
    runs, waits = many_or_one(3, "p", "n", "gpu-0"), many_or_one(3, "q")
    last = pod("last", gpus=0, labels={"x": "g.then"})
    for each in (runs[1], waits[1]):
        each["metadata"]["labels"] = {"x": "g.first"}
    there = node_slice("n", [gpu(i) for i in range(4)])
    raws = [node("n", gpus=0), *classes(), there, *runs, *waits, last]
    (gang,) = assembled(*raws, words=words).snapshot.gangs

    assert gang.refused is None
    assert [21000, 0] == [
        leaf.requests.get(GPU_SHARE, 0) for leaf in pod_sets(gang.tree)
    ]


def holding(name, device, request, priority=0):
    """
    A pod with a claim, which has a device of the node n where one is said.
    """
    own, runs = asking(name, request)
    runs["metadata"].update(uid=name, labels={})
    runs["spec"]["priority"] = priority
    if device:
        result = {
            "driver": "gpu.nvidia.com",
            "pool": "n",
            "request": "g",
            "device": device,
        }
        own["status"] = {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
        }
        runs["spec"]["nodeName"], runs["status"] = "n", {"phase": "Running"}
    return [own, runs]


WHOLE = asks("g", GPU_CLASS)
HOPPER = asks("g", GPU_CLASS, 1, "device.attributes['gpu.nvidia.com'].type == 'gpu'")
HALF = asks("g", MIG_CLASS, 1, profile("3g.40gb"))
LEAVES = {
    "a GPU for one by another selector": (["gpu-0"], WHOLE, HOPPER, 1),
    "a GPU for a slice": (["gpu-0"], WHOLE, HALF, 1),
    "a slice for a GPU": (["gpu-0-mig-3g-40gb-0"], HALF, WHOLE, 1),
    "two slices for a GPU": (
        [f"gpu-0-mig-3g-40gb-{x}" for x in (0, 4)],
        HALF,
        WHOLE,
        1,
    ),
    "a GPU that is gone for a GPU": (["gpu-7"], WHOLE, WHOLE, 0),
}


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("case", LEAVES)
def test_who_has_devices_leaves_for_claims_of_other_kinds(case, strategy):
    devices, held, wanted, number = LEAVES[case]
    runs = [x for at, d in enumerate(devices) for x in holding(f"r{at}", d, held)]
    raws = [*cut_gpus("n", 1), *runs, *holding("w", None, wanted, 50)]
    if "gone" in case:
        raws += holding("r", "gpu-0", held, 60)
    plan = solver.decide(snapshot_of(*raws), Policy(), strategy=strategy)
    found = [(step.op, step.pod) for step in plan.operations]

    leaves = [("Evict", f"default/r{at}") for at in range(len(devices))]
    assert [*leaves, ("Reserve", "default/w")] * number == found


def test_a_gpu_that_several_have_slices_of_is_free_once_all_have_left():
    slices = [f"gpu-0-mig-3g-40gb-{x}" for x in (0, 4)]
    runs = [x for at, d in enumerate(slices) for x in holding(f"r{at}", d, HALF)]
    snapshot = snapshot_of(*cut_gpus("n", 1), *runs, *holding("w", None, WHOLE))
    plan = solver.decide(snapshot, Policy())

    (piece,) = [piece for node in snapshot.nodes for piece in node.tied]
    tied = {
        gang.name: pod.tied
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }
    assert 1 == piece["claimed-devices.gpu.nvidia.com"]
    assert {"r0": (0,), "r1": (0,), "w": ()} == tied
    waits = [line.waiting.reason for line in plan.gangs if line.waiting]
    assert ["InsufficientCapacity"] == [str(reason) for reason in waits]


def test_a_tainted_gpu_is_no_room_for_others_once_it_is_given_back():
    taint = {"key": "broken", "effect": "NoSchedule"}
    there = node_slice("n", [gpu(0, taints=[taint]), gpu(1)])
    runs = [*holding("r0", "gpu-0", WHOLE), *holding("r1", "gpu-1", WHOLE)]
    raws = [there, *runs, *holding("w", None, HOPPER, 50)]
    plan = solver.decide(snapshot_of(*raws), Policy())

    assert ["default/r1", "default/w"] == [step.pod for step in plan.operations]


def test_devices_of_other_drivers_count_nothing():
    nic = node_slice("n", [{"name": "nic-0"}])
    nic["spec"]["driver"] = "nics.example.com"
    of = device_class("nic", "device.driver == 'nics.example.com'")

    assert (0, 0) == counts(nic, of, *asking("p", asks("n", "nic")))


def test_a_part_of_a_shared_device_counts_its_part():
    shared = gpu(0, allowMultipleAllocations=True)
    policy = {"default": "10Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}
    shared["capacity"]["memory"]["requestPolicy"] = policy
    own = asks("g", GPU_CLASS, capacity={"requests": {"memory": "20Gi"}})

    assert (1750, 7000) == counts(node_slice("n", [shared]), *asking("p", own))


def test_a_claim_of_several_pods_counts_once():
    both = claim("c", asks("g", GPU_CLASS))
    labels = {"kai.scheduler/queue": "q"}
    pods = [pod(f"p{i}", gpus=0, labels=labels, **claiming("c")) for i in (0, 1)]
    found = snapshot_of(node_slice("n", [gpu(0)]), both, *pods)

    assert 7000 == sum(g.tree.requests.get(GPU_SHARE, 0) for g in found.gangs)


def test_all_that_match_count_as_one():
    every = {"name": "g", "exactly": {"deviceClassName": GPU_CLASS}}
    every["exactly"]["allocationMode"] = "All"

    assert (7000, 14000) == counts(
        node_slice("n", [gpu(0), gpu(1)]), *asking("p", every)
    )
