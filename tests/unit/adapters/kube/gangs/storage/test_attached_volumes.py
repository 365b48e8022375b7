"""
How many volumes nodes take of a driver, as Kubernetes counts them.
"""

from itertools import product
from random import Random

import pytest

from adapters.kube.gangs.storage.attached_volumes import SlotsOfNodes
from adapters.kube.gangs.storage.shared_slots import SharedSlots
from models.policy import Policy
from solver.fallback import NOBODY_LEAVES
from solver.round import decide
from tests.helpers.kube.manifests import assembled, node, obj, pod

DRIVER = "csi.example.com"
SLOTS = f"attachable-volumes-csi-{DRIVER}"


def csi_node(name, count=None, driver=DRIVER):
    limit = {} if count is None else {"allocatable": {"count": count}}
    spec = {"drivers": [{"name": driver, "nodeID": name, **limit}]}
    return obj("storage.k8s.io/v1", "CSINode", name, spec=spec)


def bound(*claims, driver=DRIVER):
    for name in claims:
        csi = {"csi": {"driver": driver, "volumeHandle": f"v-{name}"}}
        yield obj("v1", "PersistentVolume", f"v-{name}", spec=csi)
        said = {"volumeName": f"v-{name}", "accessModes": ["ReadWriteMany"]}
        yield obj("v1", "PersistentVolumeClaim", name, "default", spec=said)


def unbound(name):
    mode = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": DRIVER}
    yield obj("storage.k8s.io/v1", "StorageClass", "fast", **mode)
    spec = {"storageClassName": "fast"}
    yield obj("v1", "PersistentVolumeClaim", name, "default", spec=spec)


def mounting(name, *claims, on=None, scheduler="phalanx", **fields):
    volumes = [
        {"name": f"v{at}", "persistentVolumeClaim": {"claimName": claim}}
        for at, claim in enumerate(claims)
    ]
    there = {"nodeName": on} if on else {}
    if on:
        fields["status"] = {"phase": "Running"}
    return pod(name, volumes=volumes, schedulerName=scheduler, **there, **fields)


def binds(*raws):
    """
    Give the nodes of the pods that start, by name.
    """
    snapshot = assembled(*raws).snapshot
    plan = decide(snapshot, Policy(evict=NOBODY_LEAVES))
    return {
        step.pod.partition("/")[2]: step.node
        for step in plan.operations
        if step.op == "Bind"
    }


def test_what_is_attached_is_not_asked_for_where_no_slot_matters():
    slots = SharedSlots()
    walked = []

    def there(shared):
        walked.append(shared)
        return ()

    slots.look((), there, {"n": {DRIVER: 2}}, ())
    unasked = slots.room.of_nodes(()), slots.room.beside({}, ["n"]), [*walked]
    slots.room.of_nodes([SLOTS])

    assert (SlotsOfNodes(), {}, []) == unasked
    assert [frozenset()] == walked


def test_a_node_takes_so_many_volumes_of_a_driver():
    pods = [mounting(f"p-{name}", name) for name in "abc"]

    assert 2 == len(binds(node(), csi_node("n", 2), *bound(*"abc"), *pods))


@pytest.mark.parametrize("scheduler", ["phalanx", "other"])
def test_what_runs_has_its_volumes(scheduler):
    runs = mounting("runs", "a", "b", on="n", scheduler=scheduler)
    given = [node(), csi_node("n", 3), *bound(*"abcd"), runs]

    assert 1 == len(binds(*given, mounting("p", "c"), mounting("q", "d")))


def test_a_claim_without_a_volume_takes_a_slot_too():
    runs = mounting("runs", "a", on="n")
    given = [node(), csi_node("n", 1), *bound("a"), *unbound("c"), runs]

    assert not binds(*given, mounting("p", "c"))


def test_a_node_whose_driver_says_no_limit_takes_any_number():
    pods = [mounting(f"p-{name}", name) for name in "abc"]
    given = [node("n"), node("m"), csi_node("n", 0), csi_node("m"), *bound(*"abc")]

    assert {"m"} == set(binds(*given, *pods).values())


def test_volumes_of_another_driver_take_no_slot():
    given = [node(), csi_node("n", 0), *bound("a", driver="other.example.com")]

    assert {"p": "n"} == binds(*given, mounting("p", "a"))


def test_who_has_ended_has_no_volume():
    done = mounting("done", "a", on="n")
    done["status"] = {"phase": "Succeeded"}

    assert binds(node(), csi_node("n", 1), *bound("a", "b"), done, mounting("p", "b"))


def test_pods_that_share_a_claim_take_one_slot_of_a_node():
    pods = [mounting(name, "a") for name in "pqr"]

    assert 3 == len(binds(node(), csi_node("n", 1), *bound("a"), *pods))


@pytest.mark.parametrize("scheduler", ["phalanx", "other"])
def test_where_a_shared_volume_is_it_takes_no_more_slots(scheduler):
    runs = mounting("runs", "a", on="n", scheduler=scheduler)
    given = [node("m"), node("n"), csi_node("m", 0), csi_node("n", 1)]

    assert {"p": "n"} == binds(*given, *bound("a"), runs, mounting("p", "a"))


def test_a_shared_volume_leaves_its_slot_to_nobody():
    sharing = [mounting(name, "a", on="n") for name in "pq"]
    given = [node(), csi_node("n", 2), *bound(*"abc"), *sharing]

    assert 1 == len(binds(*given, mounting("r", "b"), mounting("s", "c")))


def test_a_shared_volume_goes_where_a_slot_is_left():
    runs = mounting("runs", "b", on="n", scheduler="other")
    given = [node("m"), node("n"), csi_node("m", 1), csi_node("n", 1), runs]
    pods = [mounting(name, "a") for name in "pq"]

    assert {"p": "m", "q": "m"} == binds(*given, *bound("a", "b"), *pods)


def test_no_slot_is_kept_for_a_shared_volume_of_who_cannot_start():
    pods = [mounting(name, "a", "gone") for name in ("p", "q")]
    given = [node(), csi_node("n", 1), *bound("a", "b"), *pods]

    assert {"r": "n", "s": "n"} == binds(*given, mounting("r", "b"), mounting("s", "b"))


def test_no_slot_is_kept_for_a_shared_volume_where_its_pods_may_not_be():
    there = {"nodeSelector": {"kubernetes.io/hostname": "m"}}
    given = [node("m"), node("n"), csi_node("m", 1), csi_node("n", 1), *bound("a", "b")]
    pods = [mounting(name, "a", **there) for name in "pq"]

    assert {"p": "m", "q": "m", "r": "n"} == binds(*given, *pods, mounting("r", "b"))


def test_a_slot_is_kept_first_for_a_volume_whose_pods_have_no_other_node():
    there = {"nodeSelector": {"kubernetes.io/hostname": "n"}}
    given = [node("m"), node("n"), csi_node("n", 1), *bound("a", "b")]
    pods = [
        *(mounting(x, "a") for x in "pq"),
        *(mounting(x, "b", **there) for x in "rs"),
    ]

    assert {"r": "n", "s": "n"}.items() <= binds(*given, *pods).items()
    assert 4 == len(binds(*given, *pods))


def test_a_count_that_is_no_number_is_no_limit():
    assert binds(node(), csi_node("n", "many"), *bound("a"), mounting("p", "a"))


def test_slots_are_a_resource_only_where_some_node_has_a_limit():
    snapshot = assembled(node(), csi_node("n"), *bound("a"), mounting("p", "a"))

    assert not any(SLOTS in n.allocatable for n in snapshot.snapshot.nodes)


def first(name, *claims, **fields):
    return mounting(name, *claims, priority=9, **fields)


def test_no_slot_is_kept_from_who_can_have_it_for_who_shares_a_volume():
    pods = [mounting(x, "a") for x in "pq"]
    given = [node(), csi_node("n", 2), *bound(*"abc"), *pods, first("r", "b", "c")]

    assert {"r": "n"} == binds(*given)


def test_who_shares_a_volume_and_finds_no_room_keeps_no_slot_from_others():
    pods = [mounting(x, "a", gpus=99) for x in "pq"]
    given = [node(), csi_node("n", 1), *bound("a", "b"), *pods, mounting("r", "b")]

    assert {"r": "n"} == binds(*given)


def test_each_shared_volume_takes_one_slot_of_every_node_that_gets_it():
    pods = [mounting(x, "a") for x in "pq"] + [mounting(x, "b") for x in "rs"]
    given = [node("m"), node("n"), csi_node("m", 1), csi_node("n", 1)]
    found = binds(*given, *bound("a", "b"), *pods)

    assert 4 == len(found)
    assert found["p"] == found["q"] != found["r"] == found["s"]


def test_where_others_have_a_shared_volume_it_takes_no_slot_that_is_scarce():
    runs = mounting("runs", "a", on="n", scheduler="other")
    pods = [mounting(x, "a") for x in "pq"] + [mounting("r", "b"), mounting("s", "c")]
    given = [node(), csi_node("n", 2), *bound(*"abc"), runs, *pods]

    assert 3 == len(binds(*given))


def test_who_has_a_shared_volume_of_a_scarce_node_takes_one_slot_with_others():
    runs = [mounting("x", "a", on="n"), mounting("y", "d", on="n")]
    pods = [mounting("p", "a"), mounting("r", "b"), mounting("s", "c")]
    given = [node(), csi_node("n", 3), *bound(*"abcd"), *runs, *pods]

    assert 2 == len(binds(*given))


def distinct(pods, node):
    return {claim for claims, at in pods if at == node for claim in claims}


def most_that_start(limits, running, waiting):
    """
    Count by trying all places how many pods can start, as kube-scheduler counts.
    """
    best = 0
    for places in product((None, *limits), repeat=len(waiting)):
        pods = [*running, *zip(waiting, places, strict=True)]
        if all(
            len(distinct(pods, node)) <= max(most, len(distinct(running, node)))
            for node, most in limits.items()
        ):
            best = max(best, sum(place is not None for place in places))
    return best


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(160))
def test_as_many_pods_start_as_can_have_slots(seed):
    rnd = Random(f"slots-{seed}")
    names = "abcde"[: rnd.randint(2, 5)]
    limits = {node: rnd.randint(0, 3) for node in "mn"}

    def some():
        return rnd.sample(names, rnd.choice((1, 1, 2)))

    there = [(some(), rnd.choice("mn"), rnd.choice(("phalanx", "other")))]
    there = there * rnd.randint(0, 1)
    waiting = [some() for _ in range(rnd.randint(2, 5))]
    running = [(claims, at) for claims, at, _ in there]
    raws = [
        *(node(name) for name in limits),
        *(csi_node(name, most) for name, most in limits.items()),
        *bound(*names),
        *(mounting("runs", *c, on=at, scheduler=by) for c, at, by in there),
        *(mounting(f"p-{at}", *claims) for at, claims in enumerate(waiting)),
    ]

    assert most_that_start(limits, running, waiting) == len(binds(*raws))


@pytest.mark.parametrize("limit", [8, 9])
def test_slots_are_planned_only_where_all_who_fit_at_once_could_lack_one(limit):
    alone = [mounting(f"p-{at}", f"c{at}") for at in range(20)]
    claims = bound("a", *(f"c{at}" for at in range(20)))
    pods = [*alone, mounting("q", "a"), mounting("r", "a")]
    raws = [node(gpus=8), csi_node("n", limit), *claims, *pods]
    found = assembled(*raws).snapshot

    assert (limit == 8) == any(one.volumes for one in found.nodes)
    assert 8 == len(binds(*raws))
