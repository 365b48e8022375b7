"""
Free volumes of classes without a provisioner, each for one claim.
"""

from itertools import product
from random import Random

import pytest

from adapters.kube.acting.volume_choice import each_its_own
from adapters.kube.gangs.storage.free_volumes import (
    WantedVolume,
    free_for,
    suiting,
)
from adapters.kube.gangs.storage.volume_reach import (
    VolumeReach,
    volumes_offered,
    volumes_reached,
)
from adapters.kube.objects.volume_records import ClaimRecord, VolumeRecord
from models.nodes import LabelRule, Node
from models.policy import Policy
from models.resources import summed
from solver.round import decide
from tests.helpers.kube.manifests import assembled, node, obj, pod

HOST = "kubernetes.io/hostname"
CLASS = obj(
    "storage.k8s.io/v1",
    "StorageClass",
    "local",
    provisioner="kubernetes.io/no-provisioner",
    volumeBindingMode="WaitForFirstConsumer",
)
NODES = [node(name, labels={HOST: name}) for name in ("a", "b")]


def volume(name, *hosts, **spec):
    rule = {"key": HOST, "operator": "In", "values": list(hosts)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return obj(
        "v1",
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            **({"nodeAffinity": {"required": terms}} if hosts else {}),
            **spec,
        },
        status={"phase": "Available"},
    )


def claim(name, size="10Gi", **spec):
    fields = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    kind = "PersistentVolumeClaim"
    said = {"spec": {**fields, **spec}, "status": {"phase": "Pending"}}
    return obj("v1", kind, name, "default", **said)


def using(name, *claims, **fields):
    volumes = [
        {"name": f"v{at}", "persistentVolumeClaim": {"claimName": each}}
        for at, each in enumerate(claims)
    ]
    return pod(name, volumes=volumes, **fields)


def outcome(*raws):
    """
    Give the nodes of the pods that start, by name, and why the others wait.
    """
    plan = decide(assembled(CLASS, *NODES, *raws).snapshot, Policy())
    binds = (step for step in plan.operations if step.op == "Bind")
    starts = {step.pod.partition("/")[2]: step.node for step in binds}
    waits = {
        x.name.partition("/")[2]: x.waiting.message for x in plan.gangs if x.waiting
    }
    return starts, waits


def test_a_volume_is_for_one_claim():
    pods = [using("p", "c"), using("q", "d")]
    starts, waits = outcome(volume("v", "b"), claim("c"), claim("d"), *pods)

    assert ["b"] == list(starts.values())
    assert 1 == len(waits)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"size": "20Gi"}, "the largest of 10Gi"),
        ({"accessModes": ["ReadWriteMany"]}, "no free volume of it suits"),
        ({"volumeMode": "Block"}, "no free volume of it suits"),
        ({"selector": {"matchLabels": {"disk": "ssd"}}}, "no free volume of it suits"),
        ({"volumeAttributesClassName": "gold"}, "no free volume of it suits"),
    ],
)
def test_a_volume_that_does_not_suit_is_none(said, why):
    _, waits = outcome(volume("v", "a"), claim("c", **said), using("p", "c"))

    assert why in waits["p"]


@pytest.mark.parametrize(
    "said",
    [
        {"status": {"phase": "Released"}},
        {"metadata": {"name": "v", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    ],
)
def test_a_volume_that_is_not_there_for_anybody_is_none(said):
    _, waits = outcome({**volume("v", "a"), **said}, claim("c"), using("p", "c"))

    assert "there is none" in waits["p"]


def test_a_volume_that_a_claim_names_is_not_free():
    named = claim("d", volumeName="v")
    _, waits = outcome(volume("v", "a"), named, claim("c"), using("p", "c"))

    assert "there is none" in waits["p"]


def test_a_claim_for_which_a_volume_is_kept_goes_where_that_is():
    kept = volume("v", "b", claimRef={"namespace": "default", "name": "c"})
    starts, _ = outcome(kept, volume("w", "a"), claim("c"), using("p", "c"))

    assert {"p": "b"} == starts


def test_a_volume_kept_for_an_older_claim_of_that_name_is_not_its_own():
    said = {"namespace": "default", "name": "c", "uid": "old"}
    kept = volume("v", "b", claimRef=said)
    starts, _ = outcome(kept, volume("w", "a"), claim("c"), using("p", "c"))

    assert {"p": "a"} == starts


@pytest.mark.parametrize(
    "said",
    [
        {"capacity": {"storage": "5Gi"}},
        {"volumeMode": "Block"},
        {"volumeAttributesClassName": "fast"},
    ],
)
def test_a_volume_kept_for_a_claim_that_it_is_none_for_keeps_no_other_from_it(said):
    kept = volume("v", "b", claimRef={"namespace": "default", "name": "c"}, **said)
    starts, _ = outcome(kept, volume("w", "a"), claim("c"), using("p", "c"))

    assert {"p": "a"} == starts


def test_a_volume_kept_for_a_claim_that_is_being_deleted_keeps_no_other_from_it():
    kept = volume("v", "b", claimRef={"namespace": "default", "name": "c"})
    kept["metadata"]["deletionTimestamp"] = "2026-11-23T09:00:00Z"
    starts, _ = outcome(kept, volume("w", "a"), claim("c"), using("p", "c"))

    assert {"p": "a"} == starts


def test_pods_that_share_a_claim_go_where_its_volume_is():
    pods = [using("p", "c"), using("q", "c")]
    starts, _ = outcome(volume("v", "b"), volume("w", "b"), claim("c"), *pods)

    assert {"p": "b", "q": "b"} == starts


def test_pods_that_share_a_claim_get_a_volume_that_all_their_nodes_reach():
    pods = [using(name, "c", nodeSelector={HOST: at}) for name, at in ("pa", "qb")]
    starts, _ = outcome(volume("v", "b"), volume("w"), claim("c"), *pods)

    assert {"p": "a", "q": "b"} == starts


def test_a_shared_claim_leaves_the_volume_that_another_needs():
    pods = [using(name, "c", nodeSelector={HOST: "a"}) for name in ("pa", "qa")]
    other = using("r", "d", nodeSelector={HOST: "b"})
    given = [volume("v"), volume("w", "a"), claim("c"), claim("d")]
    starts, _ = outcome(*given, *pods, other)

    assert {"pa": "a", "qa": "a", "r": "b"} == starts


def test_one_volume_is_not_for_two_shared_claims():
    pods = [using(name, name[0]) for name in ("ca", "cb", "da", "db")]
    starts, waits = outcome(volume("v"), claim("c"), claim("d"), *pods)

    assert (2, 2) == (len(starts), len(waits))


def test_a_volume_that_all_nodes_reach_is_for_one_claim_too():
    pods = [using("p", "c"), using("q", "d")]
    starts, waits = outcome(volume("v"), claim("c"), claim("d"), *pods)

    assert 1 == len(starts)
    assert 1 == len(waits)


def test_enough_volumes_that_all_nodes_reach_keep_no_pods_apart():
    given = [volume("v"), volume("w"), claim("c"), claim("d")]
    there = {"nodeSelector": {HOST: "b"}}
    starts, _ = outcome(*given, using("p", "c", **there), using("q", "d", **there))

    assert {"p": "b", "q": "b"} == starts


def test_scarce_volumes_that_several_nodes_reach_go_where_pods_can_be():
    given = [volume("v", "a", "b"), volume("w", "b", "c"), claim("c"), claim("d")]
    more = [claim("e"), using("q", "e"), node("c", labels={HOST: "c"})]
    starts, waits = outcome(
        *given, *more, using("p", "c", "d", nodeSelector={HOST: "b"})
    )

    assert 1 == len(starts)
    assert 1 == len(waits)


@pytest.mark.parametrize("host", ["a", "b"])
def test_a_scarce_volume_serves_whoever_reaches_it(host):
    pods = [using("p", "c", nodeSelector={HOST: host})]
    unable = using("q", "d", nodeSelector={HOST: "nowhere"})
    given = [volume("v", "a", "b"), claim("c"), claim("d")]
    starts, _ = outcome(*given, *pods, unable)

    assert {"p": host} == starts


def test_who_chooses_labels_that_nobody_knows_waits_alone():
    odd = {"matchExpressions": [{"key": "x", "operator": "Near"}]}
    given = [volume("v", "a"), claim("c", selector=odd), claim("d")]
    starts, waits = outcome(*given, using("p", "c"), using("q", "d"))

    assert {"q": "a"} == starts
    assert "'Near' is not known" in waits["p"]


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(400))
def test_resources_allow_exactly_what_can_be_assigned(seed):
    random = Random(seed)
    volumes = [
        VolumeRecord(
            name=f"v{at}",
            storage_class=random.choice(["one", "two"]),
            size=random.choice([1, 2, 3]),
            modes=tuple(random.sample(["R", "W"], random.randint(1, 2))),
            labels={"kind": random.choice("ab")},
            is_free=True,
            demands=_only_on(["a"]),
        )
        for at in range(random.randint(0, 5))
    ]
    claims = [
        ClaimRecord(
            namespace="s",
            name=f"c{at}",
            storage_class=random.choice(["one", "two"]),
            size=random.choice([1, 2, 3]),
            modes=tuple(random.choice(["R", "W"])),
            selector=random.choice([None, {"matchLabels": {"kind": "a"}}]),
        )
        for at in range(random.randint(1, 4))
    ]
    wanted = [WantedVolume(each, 0.0, share=False) for each in claims]
    found = free_for(wanted, volumes, (), {})
    for which in product((0, 1), repeat=len(claims)):
        some = [each for each, chosen in zip(claims, which, strict=True) if chosen]
        edges = {x.name: [v.name for v in volumes if suiting(x)(v)] for x in some}
        can = len(each_its_own(edges)) == len(some)

        assert can == _can_by_hand(list(edges.values()), set())
        assert can == _fits(found, [("s", each.name) for each in some])


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(200))
def test_claims_fit_nodes_exactly_where_each_can_have_a_volume(seed):
    random = Random(f"reach-{seed}")
    hosts = ["a", "b", "c"]
    reaches = [random.sample(hosts, random.randint(1, 3)) for _ in range(2)]
    volumes = [
        VolumeRecord(
            name=f"v{at}",
            storage_class="one",
            size=random.choice([1, 2]),
            modes=("R",),
            is_free=True,
            demands=_only_on(random.choice(reaches)),
        )
        for at in range(random.randint(1, 5))
    ]
    claims = [
        ClaimRecord(
            namespace="s",
            name=f"c{at}",
            storage_class="one",
            size=random.choice([1, 2]),
            modes=("R",),
        )
        for at in range(random.randint(1, 4))
    ]
    found = free_for(
        [WantedVolume(x, 0.0, share=False) for x in claims], volumes, (), {}
    )
    nodes = [Node(name=name, labels={HOST: name}, allocatable={}) for name in hosts]
    offered = volumes_offered(found, nodes)
    reached = volumes_reached(found, nodes)
    reach = VolumeReach(nodes)
    for places in product(("", *hosts), repeat=len(claims)):
        pairs = [(x, at) for x, at in zip(claims, places, strict=True) if at]
        here = {name: [x for x, at in pairs if at == name] for name in hosts}
        edges = {
            x.name: [v.name for v in volumes if suiting(x)(v) and at in reach.of(v)]
            for x, at in pairs
        }
        planned = (
            not any(("s", x.name) in found.lacking for x, _ in pairs)
            and all(_node_fits(found, offered.get(n, {}), x) for n, x in here.items())
            and _reached_fit(found, reached, pairs)
        )
        assert planned == (len(each_its_own(edges)) == len(pairs))


def _reached_fit(found, reached, pairs):
    told = {x.name: (found.reached.of.get(("s", x.name)), at) for x, at in pairs}
    edges = {
        name: [
            (one, each)
            for one in reached.get(at, ())
            if kind in one.kinds
            for each in range(one.number)
        ]
        for name, (kind, at) in told.items()
        if kind is not None
    }
    return len(each_its_own(edges)) == len(edges)


def _only_on(hosts):
    return (((LabelRule(key=HOST, operator="In", values=tuple(hosts)),),),)


def _node_fits(found, offered, claims):
    asked = summed(found.asked.get(("s", each.name), {}) for each in claims)
    return all(n <= offered.get(name, 0) for name, n in asked.items())


def _can_by_hand(wanted, used):
    if not wanted:
        return True
    first, *rest = wanted
    return any(_can_by_hand(rest, used | {x}) for x in first if x not in used)


def _fits(found, claims):
    offered = summed(dict.fromkeys(names, 1) for _, names in found.volumes)
    asked = summed(found.asked.get(each, {}) for each in claims)
    enough = all(n <= offered.get(name, 0) for name, n in asked.items())
    return enough and not any(each in found.lacking for each in claims)
