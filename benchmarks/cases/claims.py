"""
Devices by claim at size: nodes with slices, and pods that claim of four classes.
"""

from collections.abc import Iterable

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from benchmarks.contract_devices import ClaimedDevices
from models.snapshot import Snapshot

API = "resource.k8s.io/v1"
DRIVER = "gpu.nvidia.com"
_NOW = 1_800_000_000.0
_PRODUCTS = ("NVIDIA H100 80GB HBM3", "NVIDIA H200")
_CLASSES = {
    "any": "",
    "h100": f"device.attributes['{DRIVER}'].productName == '{_PRODUCTS[0]}'",
    "h200": f"device.attributes['{DRIVER}'].productName == '{_PRODUCTS[1]}'",
    "large": (f"device.capacity['{DRIVER}'].memory.compareTo(quantity('100Gi')) >= 0"),
}


def read(raws: Iterable[Raw]) -> Snapshot:
    """
    Read nodes, slices, classes, claims and pods into a snapshot, as from a server.
    """
    by_kind: dict[tuple[str, str], list[Raw]] = {}
    for raw in raws:
        group = str(raw["apiVersion"]).rpartition("/")[0]
        by_kind.setdefault((group, str(raw["kind"])), []).append(raw)
    objects = Objects(by_kind={kind: tuple(some) for kind, some in by_kind.items()})
    return snapshot_of(objects, dialects(), _NOW, ("phalanx",)).snapshot


def manifests(contract: ClaimedDevices) -> list[Raw]:
    """
    Write what drivers, administrators and people do.
    """
    return [
        *(_class(name, said) for name, said in _CLASSES.items()),
        *(_node(at) for at in range(contract.nodes)),
        *(_slice(at, contract.devices) for at in range(contract.nodes)),
        *(_group(at, contract.members) for at in range(contract.gangs)),
        *(
            each
            for at in range(contract.gangs * contract.members)
            for each in _pod(at, at // contract.members)
        ),
    ]


def _meta(name: str, **more: object) -> Raw:
    return {"name": name, "namespace": "default", "uid": f"uid-{name}", **more}


def _class(name: str, said: str) -> Raw:
    both = " && ".join(filter(None, [f"device.driver == '{DRIVER}'", said]))
    spec = {"selectors": [{"cel": {"expression": both}}]}
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def _node(at: int) -> Raw:
    offered = {"cpu": "96", "memory": "768Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{at:03}", "labels": {"rack": f"r{at // 25}"}},
        "status": {"allocatable": offered},
    }


def _slice(at: int, number: int) -> Raw:
    product, memory = _PRODUCTS[at % 2], ("80Gi", "141Gi")[at % 2]
    devices = [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "type": {"string": "gpu"},
                "uuid": {"string": f"GPU-{at:04x}-{index}"},
                "productName": {"string": product},
                "driverVersion": {"version": "570.86.15"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index}0"},
            },
            "capacity": {"memory": {"value": memory}},
        }
        for index in range(number)
    ]
    pool = {"name": f"n{at:03}", "generation": 1, "resourceSliceCount": 1}
    spec = {
        "driver": DRIVER,
        "nodeName": f"n{at:03}",
        "pool": pool,
        "devices": devices,
    }
    meta = {"name": f"n{at:03}-{DRIVER}"}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": meta, "spec": spec}


def _group(at: int, members: int) -> Raw:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": _meta(f"g{at}"),
        "spec": {"minMember": members},
    }


def _pod(at: int, gang: int) -> list[Raw]:
    """
    Write a pod with a claim of its own, of a class that its gang has in common.
    """
    of = list(_CLASSES)[gang % len(_CLASSES)]
    request = {"name": "gpu", "exactly": {"deviceClassName": of, "count": 1}}
    labels = {"scheduling.x-k8s.io/pod-group": f"g{gang}"}
    limits = {"cpu": "4", "memory": "16Gi"}
    return [
        {
            "apiVersion": API,
            "kind": "ResourceClaim",
            "metadata": _meta(f"p{at}"),
            "spec": {"devices": {"requests": [request]}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": _meta(f"p{at}", labels=labels),
            "spec": {
                "schedulerName": "phalanx",
                "containers": [{"name": "main", "resources": {"requests": limits}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimName": f"p{at}"}],
            },
        },
    ]
