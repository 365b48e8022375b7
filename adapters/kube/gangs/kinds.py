"""
The kinds that are read: what a snapshot is made of, in clusters and in manifests.
"""

from collections.abc import Sequence

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.protocol import Dialect
from adapters.kube.dialects.workloads import RESOURCES as OWNERS

NEEDED = tuple(
    Resource(
        group=group,
        version="v1",
        plural=plural,
        kind=kind,
        namespaced=namespaced,
        needed=True,
    )
    for group, plural, kind, namespaced in (
        ("", "pods", "Pod", True),
        ("", "nodes", "Node", False),
        ("", "namespaces", "Namespace", False),
        ("", "persistentvolumeclaims", "PersistentVolumeClaim", True),
        ("", "persistentvolumes", "PersistentVolume", False),
        ("storage.k8s.io", "storageclasses", "StorageClass", False),
        ("storage.k8s.io", "csidrivers", "CSIDriver", False),
        ("storage.k8s.io", "csinodes", "CSINode", False),
        ("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity", True),
        ("policy", "poddisruptionbudgets", "PodDisruptionBudget", True),
        ("scheduling.k8s.io", "priorityclasses", "PriorityClass", False),
    )
)
"""
What every API server has and every plan needs.
"""
DEVICES = tuple(
    Resource(
        group="resource.k8s.io",
        version=version,
        plural=f"{kind.lower()}{'es' if kind.endswith('s') else 's'}",
        kind=kind,
        namespaced=namespaced,
    )
    for version, kind, namespaced in (
        ("v1", "DeviceClass", False),
        ("v1", "ResourceClaim", True),
        ("v1", "ResourceClaimTemplate", True),
        ("v1", "ResourceSlice", False),
        ("v1", "DeviceTaintRule", False),
        ("v1beta2", "DeviceTaintRule", False),
    )
)
"""
Devices by claim, which servers have from 1.34 on; rules about taints came later.
"""
BIND_REQUESTS = Resource(
    group="scheduling.run.ai",
    version="v1alpha2",
    plural="bindrequests",
    kind="BindRequest",
)
"""
What KAI's binder carries out, where it is there.
"""
CLAIMS, VOLUMES, CLASSES = (
    next(resource for resource in NEEDED if resource.kind == kind)
    for kind in ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")
)
STORAGE = tuple(resource for resource in NEEDED if resource.group == "storage.k8s.io")


def resources_of(dialects: Sequence[Dialect]) -> tuple[Resource, ...]:
    """
    List what is read for some dialects, each kind and version once.
    """
    found: dict[tuple[str, str, str], Resource] = {}
    named = (resource for dialect in dialects for resource in dialect.resources)
    for resource in (*NEEDED, *DEVICES, BIND_REQUESTS, *OWNERS, *named):
        place = resource.group, resource.version, resource.plural
        found.setdefault(place, resource)
    return tuple(found.values())
