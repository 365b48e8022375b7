"""
`phalanx run` and devices by claim, on a real API server, with slices written by hand.
"""

import pytest

from adapters.kube.acting.devices.resource_claims import FINALIZER
from tests.cluster.manifests import custom, pod
from tests.cluster.stage import GROUP, clear_devices
from tests.helpers.eventually import eventually
from tests.helpers.rounds.devices import (
    API,
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

pytestmark = pytest.mark.cluster


@pytest.fixture
def space(stage, request):
    """
    Give a namespace on a server without slices, claims and classes.
    """
    clear_devices(stage)
    name = f"devices-{request.node.name.replace('_', '-')[-40:].strip('-')}"
    stage.ensure(name)
    stage.create(classes())
    return name


def claims(stage, space: str) -> dict[str, dict]:
    listed = stage.admin.call("GET", f"/apis/{API}/namespaces/{space}/resourceclaims")
    return {raw["metadata"]["name"]: raw for raw in listed["items"]}


def devices(raw: dict) -> list[tuple[str, str, str]]:
    """
    Give node, device and request of what a claim has.
    """
    given = raw.get("status", {}).get("allocation")
    results = given["devices"]["results"] if given else []
    return [(each["pool"], each["device"], each["request"]) for each in results]


def gang(stage, space: str, name: str, requests: list[list[dict]]) -> None:
    """
    Create a gang of pods, each with a claim of its own.
    """
    stage.create(
        claim(f"{name}-{i}", *each, space=space) for i, each in enumerate(requests)
    )
    stage.create([stage.group(space, name, len(requests))])
    stage.create(
        pod(
            space,
            f"{name}-{i}",
            gpus=0,
            labels={GROUP: name},
            **claiming(f"{name}-{i}"),
        )
        for i in range(len(requests))
    )


def test_a_gang_gets_its_devices_before_it_is_bound(stage, space, scheduler):
    (name,) = stage.nodes(1)
    stage.create([node_slice(name, [gpu(i) for i in range(4)])])
    gang(stage, space, "g", [[asks("gpus", GPU_CLASS, 2)]] * 2)
    eventually(lambda: len(stage.bound(space)) == 2)

    found = claims(stage, space)
    pods = stage.pods(space)
    had = [each for raw in found.values() for each in devices(raw)]
    assert {(name, f"gpu-{i}", "gpus") for i in range(4)} == set(had)
    for key, raw in found.items():
        assert [FINALIZER] == raw["metadata"]["finalizers"]
        user = {"resource": "pods", "name": key, "uid": pods[key]["metadata"]["uid"]}
        assert [user] == raw["status"]["reservedFor"]
        (term,) = raw["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
        assert [name] == term["matchFields"][0]["values"]


def test_a_gang_that_does_not_fit_gets_nothing(stage, space, scheduler):
    (name,) = stage.nodes(1)
    stage.create([node_slice(name, [gpu(i) for i in range(3)])])
    gang(stage, space, "large", [[asks("gpus", GPU_CLASS, 2)]] * 2)
    gang(stage, space, "small", [[asks("gpus", GPU_CLASS, 3)]])
    eventually(lambda: stage.bound(space) == {"small-0": name})

    found = claims(stage, space)
    assert [[], [], 3] == [
        devices(found["large-0"]),
        devices(found["large-1"]),
        len(devices(found["small-0"])),
    ]


def test_whole_or_halves_become_halves_where_only_they_fit(stage, space, scheduler):
    (name,) = stage.nodes(1)
    stage.create(cut_gpus(name, 1))
    either = first_of("one", (GPU_CLASS, ()), (MIG_CLASS, (profile("3g.40gb"),)))
    gang(stage, space, "g", [[either]] * 2)
    eventually(lambda: len(stage.bound(space)) == 2)

    had = sorted(each for raw in claims(stage, space).values() for each in devices(raw))
    assert [
        (name, "gpu-0-mig-3g-40gb-0", "one/a1"),
        (name, "gpu-0-mig-3g-40gb-4", "one/a1"),
    ] == had


def test_a_claim_of_a_podgroup_is_reserved_for_the_group(stage, space, scheduler):
    stage.nodes(2)
    (name, other) = (f"gpu-{at}" for at in range(2))
    stage.create([node_slice(other, [gpu(i) for i in range(2)])])
    stage.create([claim("all", asks("gpus", GPU_CLASS, 2), space=space)])
    named = claiming("all")["resourceClaims"]
    group = custom(
        "scheduling.k8s.io/v1beta1",
        "PodGroup",
        "g",
        space,
        schedulingPolicy={"gang": {"minCount": 2}},
        resourceClaims=named,
    )
    (made,) = stage.create([group])
    stage.create(
        pod(
            space,
            f"g-{at}",
            gpus=0,
            schedulingGroup={"podGroupName": "g"},
            resourceClaims=named,
        )
        for at in range(2)
    )
    eventually(lambda: len(stage.bound(space)) == 2)

    assert {"g-0": other, "g-1": other} == stage.bound(space)
    (user,) = claims(stage, space)["all"]["status"]["reservedFor"]
    assert {
        "apiGroup": "scheduling.k8s.io",
        "resource": "podgroups",
        "name": "g",
        "uid": made["metadata"]["uid"],
    } == user
    assert name not in stage.bound(space).values()


def test_pods_that_share_a_claim_are_its_users_and_keep_it_from_nobody(
    stage, space, scheduler
):
    names = stage.nodes(2)
    stage.create([node_slice(name, [gpu(i) for i in range(4)]) for name in names])
    sharing(stage, space, "short", 2, 3, 4)  # of a gang with a pod that never comes
    for name in ("a", "b"):
        sharing(stage, space, name, 3, 3, 4)
    eventually(lambda: len(stage.bound(space)) == 6)

    found, pods = claims(stage, space), stage.pods(space)
    assert [] == devices(found["short"])
    assert "allocation" not in found["short"].get("status", {})
    places = set()
    for name in ("a", "b"):
        mine = {key: raw for key, raw in pods.items() if key.startswith(f"{name}-")}
        (where,) = {raw["spec"]["nodeName"] for raw in mine.values()}
        assert {(where, f"gpu-{i}", "gpus") for i in range(4)} == set(
            devices(found[name])
        )
        assert [FINALIZER] == found[name]["metadata"]["finalizers"]
        users = {each["uid"] for each in found[name]["status"]["reservedFor"]}
        assert {raw["metadata"]["uid"] for raw in mine.values()} == users
        places.add(where)
    assert set(names) == places


def sharing(stage, space: str, name: str, pods: int, least: int, gpus: int) -> None:
    """
    Create a gang of pods that share one claim.
    """
    stage.create([claim(name, asks("gpus", GPU_CLASS, gpus), space=space)])
    stage.create([stage.group(space, name, least)])
    stage.create(
        pod(space, f"{name}-{i}", gpus=0, labels={GROUP: name}, **claiming(name))
        for i in range(pods)
    )


GPUS = "example.com/gpu"


def extended(space: str, name: str, number: int, *, init: int = 0) -> dict:
    """
    A pod that asks for an extended resource, and names no claim.
    """
    raw = pod(space, name, gpus=0, labels={GROUP: "g"})
    asked = {GPUS: str(number)}
    raw["spec"]["containers"][0]["resources"] = {"requests": asked, "limits": asked}
    if init:
        first = {GPUS: str(init)}
        raw["spec"]["initContainers"] = [
            {
                "name": "first",
                "image": "prepare",
                "resources": {"requests": first, "limits": first},
            }
        ]
    return raw


def test_extended_resources_of_a_class_become_a_claim_of_each_pod(
    stage, space, scheduler
):
    (name,) = stage.nodes(1)
    stage.create([node_slice(name, [gpu(i) for i in range(5)])])
    by_type = "device.attributes['gpu.nvidia.com'].type == 'gpu'"
    stage.create([device_class("gpus.example.com", by_type, extendedResourceName=GPUS)])
    stage.create([stage.group(space, "g", 2)])
    stage.create([extended(space, "g-0", 2), extended(space, "g-1", 1, init=3)])
    eventually(lambda: len(stage.bound(space)) == 2)

    found, pods = claims(stage, space), stage.pods(space)
    assert len(found) == 2
    had = [device for raw in found.values() for _, device, _ in devices(raw)]
    assert {f"gpu-{i}" for i in range(5)} == set(had)
    told = {
        key: raw["status"]["extendedResourceClaimStatus"] for key, raw in pods.items()
    }
    for key, said in told.items():
        raw = found[said["resourceClaimName"]]
        (owner,) = raw["metadata"]["ownerReferences"]
        assert (key, pods[key]["metadata"]["uid"]) == (owner["name"], owner["uid"])
        (user,) = raw["status"]["reservedFor"]
        assert owner["uid"] == user["uid"]
    assert [
        ("main", "container-1-request-0"),
        ("first", "container-1-request-0"),
        ("first", "container-0-request-0"),
    ] == [
        (one["containerName"], one["requestName"])
        for one in told["g-1"]["requestMappings"]
    ]


def test_a_gang_of_extended_resources_that_does_not_fit_gets_no_claim(
    stage, space, scheduler
):
    (name,) = stage.nodes(1)
    stage.create([node_slice(name, [gpu(i) for i in range(3)])])
    by_type = "device.attributes['gpu.nvidia.com'].type == 'gpu'"
    stage.create([device_class("gpus.example.com", by_type, extendedResourceName=GPUS)])
    stage.create([stage.group(space, "g", 2)])
    stage.create([extended(space, "g-0", 2), extended(space, "g-1", 2)])
    gang(stage, space, "small", [[asks("gpus", GPU_CLASS, 3)]])
    eventually(lambda: stage.bound(space) == {"small-0": name})

    assert {"small-0"} == claims(stage, space).keys()


def test_a_whole_gpu_is_given_back_for_a_slice_of_higher_priority(
    stage, space, scheduler
):
    (name,) = stage.nodes(1)
    stage.create(cut_gpus(name, 1))
    for called, value in (("whole", 10), ("slice", 20)):
        version = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        stage.create([version | {"metadata": {"name": called}, "value": value}])
    alone(stage, space, "whole", asks("gpu", GPU_CLASS))
    eventually(lambda: stage.bound(space) == {"whole-0": name})
    alone(stage, space, "slice", asks("part", MIG_CLASS, 1, profile("3g.40gb")))
    eventually(lambda: "whole-0" not in stage.bound(space))
    free(stage, space, "whole-0")  # as the controller of claims does
    eventually(lambda: stage.bound(space) == {"slice-0": name})

    deeds = [
        (verb, pod) for _, verb, pod, code in stage.plane.deeds(space) if code < 300
    ]
    ((_, device, request),) = devices(claims(stage, space)["slice-0"])
    assert 1 == deeds.count(("eviction", "whole-0"))
    assert "part" == request
    assert device.startswith("gpu-0-mig-3g-40gb-")


def alone(stage, space: str, name: str, request: dict) -> None:
    """
    Create a gang of one pod with a claim, of the priority of its name.
    """
    stage.create([claim(f"{name}-0", request, space=space)])
    stage.create([stage.group(space, name, 1)])
    words = {"labels": {GROUP: name}, "priorityClassName": name}
    stage.create([pod(space, f"{name}-0", gpus=0, **words, **claiming(f"{name}-0"))])


def free(stage, space: str, name: str) -> None:
    """
    Take back the devices of a claim whose pod is gone.
    """
    path = f"/apis/{API}/namespaces/{space}/resourceclaims/{name}/status"
    none = {"status": {"allocation": None, "reservedFor": None}}
    stage.admin.call("PATCH", path, none)
