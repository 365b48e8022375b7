"""
Containers that come first, overhead, amounts of whole pods, and devices by claim, for
the random clusters of the agreement.

What else the pod asked for is mostly taken away, so that it may still be bound.
"""

from collections.abc import Iterator
from random import Random

from tests.cluster.provisioner import ZONE
from tests.helpers.rounds.devices import (
    DRIVER,
    GPU_CLASS,
    asks,
    attribute,
    claim,
    device_class,
    first_of,
    gpu,
    node_slice,
)

LARGE, BY_NAME = "large", "example.com/gpu"
_MEMORY = f"device.capacity['{DRIVER}'].memory"
_TAINT = {"key": "broken", "effect": "NoSchedule"}


def classes() -> Iterator[dict]:
    """
    Write the classes of devices and of runtimes that all cases have.
    """
    is_gpu = f"device.driver == '{DRIVER}' && {attribute('type')} == 'gpu'"
    is_large = f"{_MEMORY}.compareTo(quantity('60Gi')) >= 0"
    yield device_class(GPU_CLASS, is_gpu)
    yield device_class(LARGE, f"{is_gpu} && {is_large}")
    yield device_class("by-name", is_gpu, extendedResourceName=BY_NAME)
    for name, cpu in (("heavy", "1"), ("light", "250m")):
        yield {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": name},
            "handler": "made-up",
            "overhead": {"podFixed": {"cpu": cpu, "memory": "1Gi"}},
        }


def ask_more(chance: Random, space: str, nodes: list[dict], waits: dict) -> list[dict]:
    """
    Change what a pod asks for, and what nodes offer; give the objects that it takes.
    """
    spec, (container,) = waits["spec"], waits["spec"]["containers"]
    _plainer(chance, spec, nodes)
    if chance.random() < 0.4:
        many = range(chance.choice((1, 2, 3)))
        spec["initContainers"] = [_first(chance, at) for at in many]
    if chance.random() < 0.3:
        spec["runtimeClassName"] = chance.choice(("heavy", "light"))
    if chance.random() < 0.25 and "initContainers" not in spec:
        word, cpu = chance.choice(("requests", "limits")), chance.choice("468")
        spec["resources"] = {word: {"cpu": cpu}}
    if chance.random() < 0.2:
        container["resources"]["requests"]["ephemeral-storage"] = "2Gi"
    if chance.random() < 0.5:
        return list(_devices(chance, space, nodes, spec))
    return []


def _plainer(chance: Random, spec: dict, nodes: list[dict]) -> None:
    spec["volumes"], (container,) = [], spec["containers"]
    container["resources"] = {"requests": {"cpu": "1"}, "limits": {}}
    for word in ("affinity", "topologySpreadConstraints"):
        if chance.random() < 0.7:
            spec.pop(word, None)
    if chance.random() < 0.6:
        spec["nodeSelector"].pop(ZONE, None)
        spec["tolerations"] = [{"key": "kind", "operator": "Exists"}]
    for raw in nodes:
        storage = chance.choice(("1Gi", "10Gi"))
        more = {"cpu": chance.choice(("5", "9", "12")), "ephemeral-storage": storage}
        for word in ("allocatable", "capacity"):
            raw["status"][word] = raw["status"][word] | more


def _first(chance: Random, at: int) -> dict:
    """
    Write a container that comes before the others, and may stay beside them.
    """
    asked = {"requests": {"cpu": chance.choice(("500m", "1", "2", "3"))}}
    found = {"name": f"first-{at}", "image": "job", "resources": asked}
    return found | ({"restartPolicy": "Always"} if chance.random() < 0.5 else {})


def _devices(
    chance: Random, space: str, nodes: list[dict], spec: dict
) -> Iterator[dict]:
    """
    Write the devices of some nodes, and a claim of the pod, or its words for one.
    """
    for raw in nodes:
        if chance.random() < 0.8:
            sizes = chance.choices(("40Gi", "80Gi"), k=chance.choice((1, 2)))
            some = [
                gpu(at, capacity={"memory": {"value": size}})
                for at, size in enumerate(sizes)
            ]
            if chance.random() < 0.3:
                some[0]["taints"] = [_TAINT]
            yield node_slice(raw["metadata"]["name"], some)
    if chance.random() < 0.25:
        asked = spec["containers"][0]["resources"]
        count = chance.choice("12")
        for word in ("requests", "limits"):
            asked[word] = {**asked[word], BY_NAME: count}
        return
    more = {"tolerations": [{"operator": "Exists"}]} if chance.random() < 0.2 else {}
    every = {"deviceClassName": GPU_CLASS, "allocationMode": "All", **more}
    request = chance.choice(
        (
            asks("r", chance.choice((GPU_CLASS, LARGE)), chance.choice((1, 2)), **more),
            {"name": "r", "exactly": every},
            first_of("r", (LARGE, []), (GPU_CLASS, [])),
        )
    )
    spec["resourceClaims"] = [{"name": "d", "resourceClaimName": "d"}]
    yield claim("d", request, space=space)
