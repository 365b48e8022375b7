"""
Where volumes are made for claims that wait for their first pod, as Kubernetes has it.
"""

import pytest

from models.gangs import pod_sets
from tests.helpers.kube.manifests import assembled, node, obj, pod

ZONE = "topology.kubernetes.io/zone"
MOUNTED = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
NODES = [node(f"n-{zone}", labels={ZONE: zone}) for zone in "abc"]


def storage_class(**said):
    fields = {"provisioner": "csi.example.com", **said}
    mode = {"volumeBindingMode": "WaitForFirstConsumer", **fields}
    return obj("storage.k8s.io/v1", "StorageClass", "fast", **mode)


def claim(size="100Gi", meta=None, **spec):
    asked = {"requests": {"storage": size}}
    return obj(
        "v1",
        "PersistentVolumeClaim",
        "c",
        "default",
        meta,
        spec={"storageClassName": "fast", "resources": asked, **spec},
        status={"phase": "Pending"},
    )


def driver(**spec):
    return obj("storage.k8s.io/v1", "CSIDriver", "csi.example.com", spec=spec)


def capacity(name, amount, labels, **said):
    topology = {"nodeTopology": {"matchLabels": labels}}
    fields = {"storageClassName": "fast", "capacity": amount, **topology, **said}
    return obj("storage.k8s.io/v1", "CSIStorageCapacity", name, "kube-system", **fields)


def csi_node(name, *drivers, **said):
    spec = {"drivers": [{"name": each, "nodeID": name, **said} for each in drivers]}
    return obj("storage.k8s.io/v1", "CSINode", name, spec=spec)


def outcome(*raws, pods=None):
    """
    Give the nodes that the pod may use, or why it waits.
    """
    found = assembled(*NODES, *raws, *(pods or [pod(volumes=MOUNTED)])).snapshot
    (gang,) = found.gangs
    if gang.refused is not None:
        return gang.refused.message
    (leaf,) = pod_sets(gang.tree)
    return "".join(n.name[-1] for n in found.nodes if leaf.demand.allows(n))


def test_a_claim_that_waits_may_be_anywhere():
    assert "abc" == outcome(storage_class(), claim())


def test_a_class_says_where_its_volumes_can_be():
    rules = [{"key": ZONE, "values": ["a", "b"]}]
    places = [{"matchLabelExpressions": rules}]

    assert "ab" == outcome(storage_class(allowedTopologies=places), claim())


def test_the_node_that_was_selected_is_the_only_one():
    said = {"annotations": {"volume.kubernetes.io/selected-node": "n-b"}}

    assert "b" == outcome(storage_class(), claim(meta=said))


CAPACITIES = [
    capacity("a", "500Gi", {ZONE: "a"}),
    capacity("b", "50Gi", {ZONE: "b"}),
    capacity("c", "500Gi", {ZONE: "c"}, maximumVolumeSize="80Gi"),
]


def test_a_driver_that_publishes_capacities_needs_one_that_is_large_enough():
    opted = driver(storageCapacity=True)

    assert "a" == outcome(storage_class(), claim(), opted, *CAPACITIES)
    assert "ac" == outcome(storage_class(), claim("60Gi"), opted, *CAPACITIES)


def test_where_none_is_large_enough_it_says_how_much_there_is():
    opted = driver(storageCapacity=True)
    said = outcome(storage_class(), claim("1Ti"), opted, *CAPACITIES)

    assert "claim c asks for 1Ti of class fast, of which no more than 500Gi" in said


@pytest.mark.parametrize("more", [[], [driver()]])
def test_other_drivers_need_no_capacity(more):
    assert "abc" == outcome(storage_class(), claim("1Ti"), *more, *CAPACITIES)


def test_a_driver_may_have_to_be_on_the_node_first():
    there = csi_node("n-b", "csi.example.com")
    opted = driver(preventPodSchedulingIfMissing=True)

    assert "b" == outcome(storage_class(), claim(), opted, there)
    assert "abc" == outcome(storage_class(), claim(), driver(), there)


def test_a_class_that_binds_at_once_has_bound_before():
    said = outcome(storage_class(volumeBindingMode="Immediate"), claim())

    assert "waits for its volumes: pod p-0, claim c of class fast is not bound" in said


def test_a_claim_that_names_its_volume_waits_for_it():
    said = outcome(storage_class(), claim(volumeName="mine"))

    assert "is not bound to volume mine yet" in said


def test_a_claim_made_for_a_pod_must_be_its_own():
    volume = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]
    ours = pod("c", volumes=volume, meta={"uid": "mine"})
    missing = outcome(storage_class(), pods=[ours])
    spec = {"storageClassName": "fast"}

    def made(owner):
        meta = {"ownerReferences": [{"uid": owner, "controller": True}]}
        kind = "PersistentVolumeClaim"
        return obj("v1", kind, "c-v", "default", meta, spec=spec)

    assert "claim c-v does not exist yet (it is made for the pod)" in missing
    assert "abc" == outcome(storage_class(), made("mine"), pods=[ours])
    assert "not the one made for" in outcome(
        storage_class(), made("another"), pods=[ours]
    )


@pytest.mark.parametrize(
    ("labels", "where"),
    [
        ({ZONE: "a"}, "a"),
        ({ZONE: "a__c"}, "ac"),
        ({"failure-domain.beta.kubernetes.io/zone": "b"}, "b"),
        ({"topology.kubernetes.io/region": "r"}, ""),
    ],
)
def test_labels_of_a_volume_say_its_zone_too(labels, where):
    volume = obj("v1", "PersistentVolume", "v", None, {"labels": labels})
    bound = claim(
        volumeName="v", meta={"annotations": {"pv.kubernetes.io/bind-completed": "y"}}
    )

    assert where == outcome(volume, bound)


def free(*zones):
    rule = {"key": ZONE, "operator": "In", "values": [*zones]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    spec = {"storageClassName": "fast", "capacity": {"storage": "1Ti"}}
    spec["nodeAffinity"] = {"required": terms}
    status = {"phase": "Available"}
    return obj("v1", "PersistentVolume", "free", spec=spec, status=status)


EAST = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]


@pytest.mark.parametrize(
    ("more", "there"),
    [
        ([], {"a": ["fast/100Gi made", "free"], "b": ["free"], "c": []}),
        ([capacity("x", "1Gi", {})], {"a": ["free"], "b": ["free"], "c": []}),
    ],
)
def test_a_free_volume_serves_where_none_can_be_made(more, there):
    drivers = [driver(storageCapacity=True)] if more else []
    made = storage_class(allowedTopologies=EAST)
    raws = *NODES, made, free("a", "b"), claim(), *drivers, *more
    found = assembled(*raws, pod(volumes=MOUNTED)).snapshot

    assert there == {
        n.name[-1]: sorted(one.name for one in n.volumes) for n in found.nodes
    }


def test_a_free_volume_where_one_can_be_made_too_is_for_acting_alone():
    made = storage_class(allowedTopologies=EAST)
    raws = *NODES, made, free("a"), claim(), pod(volumes=MOUNTED)

    assert not any(n.volumes for n in assembled(*raws).snapshot.nodes)
    assert "a" == outcome(made, free("a"), claim())


def test_a_driver_has_to_be_on_the_node_also_for_a_volume_that_is_free():
    there = csi_node("n-b", "csi.example.com")
    opted = driver(preventPodSchedulingIfMissing=True)
    made = storage_class(allowedTopologies=EAST)

    assert "b" == outcome(made, free("a", "b"), claim(), opted, there)


def reached(*raws):
    """
    Give the nodes by what they reach of volumes that can be made for one shared claim.
    """
    pods = [pod(name, volumes=MOUNTED) for name in "pq"]
    found = assembled(*NODES, *raws, claim(), *pods).snapshot
    return {n.name[-1]: [one.name for one in n.volumes] for n in found.nodes}


def test_a_volume_for_several_pods_is_made_for_nodes_alike_by_the_keys_of_its_driver():
    there = [csi_node(f"n-{x}", "csi.example.com", topologyKeys=[ZONE]) for x in "ab"]
    found = reached(storage_class(), *there)

    assert [f"fast/made at {x}" for x in "abc"] == [*map("".join, found.values())]


def test_a_volume_for_several_pods_is_made_for_nodes_alike_by_the_keys_of_its_class():
    rules = {"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}

    assert ["fast/made at a"] == reached(storage_class(allowedTopologies=[rules]))["a"]


def test_a_volume_for_several_pods_may_be_anywhere_where_no_key_is_known():
    there = csi_node("n-a", "csi.example.com", topologyKeys=[7])

    assert not any(reached(storage_class(), there).values())


def test_a_claim_with_a_node_gets_its_volume_there():
    keys = csi_node("n-a", "csi.example.com", topologyKeys=[ZONE])
    meta = {"annotations": {"volume.kubernetes.io/selected-node": "n-a"}}
    pods = [pod(name, volumes=MOUNTED) for name in "pq"]
    found = assembled(*NODES, storage_class(), keys, claim(meta=meta), *pods).snapshot

    assert not any(n.volumes for n in found.nodes)
