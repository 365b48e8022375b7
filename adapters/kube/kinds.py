"""
The kinds that are read: what a snapshot is made of, in clusters and in manifests.
"""

from adapters.kube.dialects.base import Resource
from adapters.kube.dialects.registry import dialects
from adapters.kube.dialects.workloads import RESOURCES

CORE: tuple[Resource, ...] = (
    Resource(group="", version="v1", plural="pods", kind="Pod", needed=True),
    Resource(
        group="",
        version="v1",
        plural="nodes",
        kind="Node",
        namespaced=False,
        needed=True,
    ),
    Resource(
        group="scheduling.k8s.io",
        version="v1",
        plural="priorityclasses",
        kind="PriorityClass",
        namespaced=False,
        needed=True,
    ),
    Resource(
        group="policy",
        version="v1",
        plural="poddisruptionbudgets",
        kind="PodDisruptionBudget",
    ),
    Resource(
        group="",
        version="v1",
        plural="persistentvolumeclaims",
        kind="PersistentVolumeClaim",
    ),
    Resource(
        group="",
        version="v1",
        plural="persistentvolumes",
        kind="PersistentVolume",
        namespaced=False,
    ),
)
"""
What every snapshot is made of, whatever dialects there are.
"""


def resources() -> tuple[Resource, ...]:
    """
    List every kind that is read: the core's, the dialects', the workloads'.
    """
    found = [*CORE, *(r for d in dialects() for r in d.resources), *RESOURCES]
    return tuple(dict.fromkeys(found))
