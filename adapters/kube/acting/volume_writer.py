"""
Free volumes given to claims, and taken back: one field of a volume, by version.

The controller of volumes binds a claim to the volume that names it.  What we gave has
the annotation with which it knows such a volume again, so nobody's data is cleared.
"""

from collections.abc import Callable

from adapters.kube.acting.by_version import (
    MOST_TRIES,
    answered,
    take_back,
)
from adapters.kube.acting.operations import Answer
from adapters.kube.api.api_resources import Raw
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ConflictError
from adapters.kube.api.watch_events import number_of
from adapters.kube.objects.fields import mapping, text
from adapters.kube.objects.volume_records import (
    ClaimRecord,
    VolumeRecord,
    volume_record,
)

VOLUME_RULE = (
    '{apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get", "patch"]}'
)
_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class VolumeWriter:
    """
    Writes which claim a volume is for, as long as ``allowed`` says we may.
    """

    def __init__(self, transport: Transport, allowed: Callable[[], bool]) -> None:
        self._transport = transport
        self._allowed = allowed

    def give(self, volume: str, claim: ClaimRecord) -> int | Answer:
        """
        Give a free volume to a claim; give the version, or why it was not given.

        Raises
        ------
        ThrottledError
            When the server asks us to wait.
        """
        return answered(lambda: self._given(volume, claim))

    def take_back(self, volume: str, claim: str) -> None:
        """
        Take back a volume that was given to a claim and is not bound to it yet.

        Where that fails the claim gets it, and its pod is planned for where it is.
        """
        take_back(self._allowed, lambda: self._taken_back(volume, claim))

    def _taken_back(self, volume: str, claim: str) -> None:
        raw = self._transport.call("GET", _path(volume), rule=VOLUME_RULE)
        found = volume_record(raw)
        if _is_given(found, claim) and _phase(raw) != "Bound":
            self._patch(volume, found.version, None, None)

    def _given(self, volume: str, claim: ClaimRecord) -> int | Answer:
        key = f"{claim.namespace}/{claim.name}"
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.namespace,
            "name": claim.name,
            "uid": claim.uid,
        }
        for _ in range(MOST_TRIES):
            raw = self._transport.call("GET", _path(volume), rule=VOLUME_RULE)
            found = volume_record(raw)
            if _is_given(found, key, claim.uid):
                return number_of(found.version)
            if not found.is_free:
                return "again", f"volume {volume} is no longer free for claim {key}"
            try:
                after = self._patch(volume, found.version, reference, "yes")
            except ConflictError:
                continue
            return number_of(volume_record(after).version)
        return "again", f"volume {volume} changes all the time"

    def _patch(
        self, volume: str, version: str, reference: Raw | None, said: str | None
    ) -> Raw:
        meta = {"resourceVersion": version, "annotations": {_BY_CONTROLLER: said}}
        body = {"metadata": meta, "spec": {"claimRef": reference}}
        return self._transport.call("PATCH", _path(volume), body, rule=VOLUME_RULE)


def _is_given(volume: VolumeRecord, claim: str, uid: str = "") -> bool:
    space, name, owner = volume.kept_for or ("", "", "")
    return f"{space}/{name}" == claim and ("" in {uid, owner} or uid == owner)


def _phase(raw: Raw) -> str:
    return text(mapping(raw, "status"), "phase", "status")


def _path(volume: str) -> str:
    return f"/api/v1/persistentvolumes/{volume}"
