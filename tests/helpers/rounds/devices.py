"""
Slices, classes and claims of devices, as NVIDIA's driver and people write them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from models.devices.mig_profiles import MIG_MODELS, MigProfile

Raw = dict[str, Any]
DRIVER = "gpu.nvidia.com"
GPU_CLASS, MIG_CLASS = "gpu.nvidia.com", "mig.nvidia.com"
API = "resource.k8s.io/v1"
PARTS = {"1g": 16, "1g double": 26, "2g": 32, "3g": 60, "4g": 64, "7g": 132}
"""
Multiprocessors by profile.
"""


def made(kind: str, name: str, spec: Raw, namespace: str = "") -> Raw:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API, "kind": kind, "metadata": meta, "spec": spec}


def device_class(name: str, *expressions: str, **spec: object) -> Raw:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return made("DeviceClass", name, {"selectors": selectors, **spec})


def classes() -> list[Raw]:
    """
    The classes of NVIDIA's driver for whole GPUs and for MIG.
    """
    return [
        device_class(
            name, f"device.driver == '{DRIVER}' && {attribute('type')} == '{sort}'"
        )
        for name, sort in ((GPU_CLASS, "gpu"), (MIG_CLASS, "mig"))
    ]


def attribute(name: str) -> str:
    return f"device.attributes['{DRIVER}'].{name}"


def gpu(number: int, product: str = "NVIDIA H100 80GB HBM3", **more: object) -> Raw:
    """
    A whole GPU.
    """
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-{number:08x}"},
            "productName": {"string": product},
            "architecture": {"string": "Hopper"},
            "driverVersion": {"version": "570.86.15"},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number // 4}0"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
        **more,
    }


def node_slice(
    node: str,
    devices: Sequence[Raw] = (),
    *,
    part: int = 0,
    of: int = 1,
    generation: int = 1,
    **spec: object,
) -> Raw:
    """
    One slice of the pool of a node.
    """
    pool = {"name": node, "generation": generation, "resourceSliceCount": of}
    body: Raw = {"driver": DRIVER, "nodeName": node, "pool": pool, **spec}
    if devices:
        body["devices"] = list(devices)
    return made("ResourceSlice", f"{node}-{generation}-{part}", body)


def cut_gpus(node: str, number: int, model: str = "H100-80GB") -> list[Raw]:
    """
    The slices of a node whose GPUs may be had whole or cut: counters, then devices.
    """
    sets, devices = [], []
    for index in range(number):
        called = f"gpu-{index}-counter-set"
        slices = {f"memory-slice-{at}": {"value": "1"} for at in range(8)}
        whole = {"multiprocessors": {"value": "132"}, "memory": {"value": "80Gi"}}
        sets.append({"name": called, "counters": {**slices, **whole}})
        consumed = [{"counterSet": called, "counters": {**slices, **whole}}]
        devices.append(gpu(index, consumesCounters=consumed))
        for name, profile in MIG_MODELS[model].items():
            if not profile.is_single:
                devices += [
                    _instance(index, called, name, profile, start)
                    for start in profile.starts
                ]
    groups = [devices[at : at + 64] for at in range(0, len(devices), 64)]
    of = len(groups) + 1
    return [
        node_slice(node, sharedCounters=sets, part=0, of=of),
        *(node_slice(node, each, part=at, of=of) for at, each in enumerate(groups, 1)),
    ]


def _instance(
    index: int, called: str, name: str, profile: MigProfile, start: int
) -> Raw:
    taken = range(start, start + profile.size)
    sort = name.partition(".")[0]
    is_double = sort == "1g" and profile.size == 2
    cores = PARTS["1g double" if is_double else sort]
    return {
        "name": f"gpu-{index}-mig-{name.replace('.', '-')}-{start}",
        "attributes": {
            "type": {"string": "mig"},
            "profile": {"string": name},
            "parentUUID": {"string": f"GPU-{index:08x}"},
        },
        "capacity": {"memory": {"value": f"{profile.size * 10}Gi"}},
        "consumesCounters": [
            {
                "counterSet": called,
                "counters": {
                    **{f"memory-slice-{at}": {"value": "1"} for at in taken},
                    "multiprocessors": {"value": str(cores)},
                    "memory": {"value": f"{profile.size * 10}Gi"},
                },
            }
        ],
    }


def asks(name: str, of: str, count: int = 1, *expressions: str, **more: object) -> Raw:
    """
    A request for exactly so many devices of a class.
    """
    return {
        "name": name,
        "exactly": _alternative(of, count, expressions, more),
    }


def profile(name: str) -> str:
    """
    The selector of one MIG profile.
    """
    return f"{attribute('profile')} == '{name}'"


def first_of(name: str, *alternatives: tuple[str, Sequence[str]]) -> Raw:
    """
    A request for the first class, with its selectors, that can be had.
    """
    return {
        "name": name,
        "firstAvailable": [
            {"name": f"a{at}", **_alternative(of, 1, said, {})}
            for at, (of, said) in enumerate(alternatives)
        ],
    }


def _alternative(of: str, count: int, said: Iterable[str], more: Raw) -> Raw:
    found: Raw = {"deviceClassName": of, "allocationMode": "ExactCount", "count": count}
    if selectors := [{"cel": {"expression": each}} for each in said]:
        found["selectors"] = selectors
    return found | more


def claim(name: str, *requests: Raw, space: str = "default", **devices: object) -> Raw:
    spec = {"devices": {"requests": list(requests), **devices}}
    return made("ResourceClaim", name, spec, space)


def claiming(*claims: str) -> dict[str, list[Raw]]:
    """
    What a pod that names claims has in its spec.
    """
    named = [{"name": name, "resourceClaimName": name} for name in claims]
    return {"resourceClaims": named}
