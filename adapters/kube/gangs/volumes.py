"""
Volumes: claims that bind a pod to some nodes, or are not bound yet, are not planned.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from adapters.kube.api.resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import FieldError, items, mapping, text
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase


class Volumes:
    """
    The claims and volumes that were read.

    ``taken`` says of waiting pods, by key, that another has a claim that is for one.
    """

    def __init__(self, objects: Objects, pods: Iterable[PodRecord] = ()) -> None:
        self._claims: Mapping[tuple[str, str], Raw] = {
            (namespace, name): raw
            for namespace, name, raw in named(objects.of("", "PersistentVolumeClaim"))
        }
        self._volumes: Mapping[str, Raw] = {
            name: raw for _, name, raw in named(objects.of("", "PersistentVolume"))
        }
        alone = {at for at, raw in self._claims.items() if _is_for_one(raw)}
        self.taken = dict(_taken(alone, pods)) if alone else {}

    def fault(self, pod: PodRecord) -> str | None:
        """
        Say why a pod's volumes keep it from being planned; nothing where they do not.
        """
        if (why := self.taken.get(pod.key)) is not None:
            return why
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


_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)


def _is_for_one(claim: Raw) -> bool:
    """
    Tell whether one pod alone may use a claim at a time.
    """
    try:
        modes = items(mapping(claim, "spec"), "accessModes", "spec")
    except FieldError:
        return False
    return "ReadWriteOncePod" in modes


def _taken(
    alone: Collection[tuple[str, str]], pods: Iterable[PodRecord]
) -> Iterator[tuple[str, str]]:
    """
    Give each such claim to the pod that has it, else to the oldest; refuse the others.
    """
    users: dict[tuple[str, str], list[PodRecord]] = {}
    for pod in pods:
        if pod.phase in _FINISHED:
            continue
        for claim in pod.volumes:
            if (pod.namespace, claim) in alone:
                users.setdefault((pod.namespace, claim), []).append(pod)
    for (_, claim), wanting in users.items():
        first, *rest = sorted(wanting, key=_turn)
        for pod in rest:
            if pod.node is None:
                what = f"is ReadWriteOncePod, and pod {first.key} has it"
                yield pod.key, f"spec.volumes: claim {claim} {what}"


def _turn(pod: PodRecord) -> tuple[bool, float, str]:
    return pod.node is None, pod.created or 0.0, pod.name
