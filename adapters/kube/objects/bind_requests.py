"""
BindRequests of KAI: which pod is handed over to the binder, for which node and groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    text,
    words,
)
from adapters.kube.objects.object_names import is_subdomain

VERSION = "scheduling.run.ai/v1alpha2"
KIND = "BindRequest"
MANAGED_BY = "app.kubernetes.io/managed-by"
OURS = "phalanx"
FAILED, SUCCEEDED = "Failed", "Succeeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class BindRequestRecord:
    """
    What one request says, and what the binder made of it.

    ``owner`` is the uid of its pod, where that is said.
    """

    pod: str
    uid: str
    node: str
    owner: str = ""
    groups: tuple[str, ...] = ()
    phase: str = ""
    reason: str = ""
    created: str = ""
    is_ours: bool = False

    @property
    def is_active(self) -> bool:
        """
        Tell whether the binder may still bind the pod, or has done so.
        """
        return self.phase != FAILED


def bind_request_record(raw: Json) -> BindRequestRecord | None:
    """
    Read a request; none where it names no pod or no node.
    """
    try:
        meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
        status = mapping(raw, "status")
        name = text(spec, "podName", "spec") or text(meta, "name", "metadata")
        node = text(spec, "selectedNode", "spec")
        if not name or not is_subdomain(node):
            return None
        return BindRequestRecord(
            pod=f"{text(meta, 'namespace', 'metadata') or 'default'}/{name}",
            uid=text(meta, "uid", "metadata"),
            node=node,
            owner=_owner(meta),
            groups=_groups(spec),
            phase=text(status, "phase", "status"),
            reason=text(status, "reason", "status"),
            created=text(meta, "creationTimestamp", "metadata"),
            is_ours=mapping(meta, "labels").get(MANAGED_BY) == OURS,
        )
    except FieldError:
        return None


def _groups(spec: Json) -> tuple[str, ...]:
    """
    Name the groups, as this version of KAI says them or as those before did.
    """
    listed = records(spec, "selectedFractionalGpuGroups", "spec")
    found = [text(one, "id", "spec.selectedFractionalGpuGroups") for one in listed]
    return tuple(found or words(spec, "selectedGPUGroups", "spec"))


def _owner(meta: Json) -> str:
    """
    Give the uid of the pod that owns a request.
    """
    listed = meta.get("ownerReferences")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping) and one.get("kind") == "Pod":
            return str(one.get("uid") or "")
    return ""
