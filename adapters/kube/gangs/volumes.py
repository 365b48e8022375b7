"""
Volumes: claims that bind a pod to some nodes, or are not bound yet, are not planned.
"""

from collections.abc import Mapping

from adapters.kube.api.resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import FieldError, mapping, text
from adapters.kube.objects.pod_record import PodRecord


class Volumes:
    """
    The claims and volumes that were read.
    """

    def __init__(self, objects: Objects) -> None:
        self._claims: Mapping[tuple[str, str], Raw] = {
            (namespace, name): raw
            for namespace, name, raw in named(objects.of("", "PersistentVolumeClaim"))
        }
        self._volumes: Mapping[str, Raw] = {
            name: raw for _, name, raw in named(objects.of("", "PersistentVolume"))
        }

    def fault(self, pod: PodRecord) -> str | None:
        """
        Say why a pod's volumes keep it from being planned; nothing where they do not.
        """
        for claim in pod.volumes:
            try:
                why = self._why(pod.namespace, claim)
            except FieldError as error:
                why = str(error)
            if why:
                return f"spec.volumes: claim {claim} {why}"
        return None

    def _why(self, namespace: str, name: str) -> str | None:
        claim = self._claims.get((namespace, name))
        if claim is None:
            return "is not among the objects, so nobody knows where it may be used"
        volume = text(mapping(claim, "spec"), "volumeName", "spec")
        if not volume:
            return "is not bound yet; binding volumes is not planned"
        found = self._volumes.get(volume)
        if found is None:
            return f"is bound to volume {volume}, which is not among the objects"
        if mapping(found, "spec").get("nodeAffinity"):
            return f"is bound to volume {volume}, which is on some nodes only"
        return None
