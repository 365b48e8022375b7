"""
Claims of devices written: allocated and reserved in one update, and taken back.

Each write is for the version that was read; whoever else wrote meanwhile is read again.
"""

from collections.abc import Callable, Sequence
from typing import Any

from adapters.kube.acting.by_version import answered
from adapters.kube.acting.devices.device_dealer import Grant
from adapters.kube.acting.operations import NO_ANSWER, Answer
from adapters.kube.api.api_resources import Place, Raw, Writing
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError, ConflictError, NotFoundError
from adapters.kube.dialects.notes import moment
from adapters.kube.objects.extended_asks import EXTENDED
from adapters.kube.objects.fields import (
    FieldError,
    items,
    mapping,
    records,
    version_in,
)

FINALIZER = "resource.kubernetes.io/delete-protection"
CLAIM_RULE = (
    '{apiGroups: ["resource.k8s.io"], resources: ["resourceclaims", '
    '"resourceclaims/status", "resourceclaims/binding"], verbs: ["get", "patch"]}'
)
MADE_RULE = (
    '{apiGroups: ["resource.k8s.io"], resources: ["resourceclaims"], '
    'verbs: ["create", "delete"]}'
)
TOLD_RULE = '{apiGroups: [""], resources: ["pods/status"], verbs: ["patch"]}'
MOST_USERS = 256
_MOST_TRIES = 5


class ResourceClaimWriter:
    """
    Writes claims, as long as ``allowed`` says we may.

    ``written`` are claims as we wrote them last, by namespace and name.  What is given
    is as the plan expects, so it is written within ``writing``; what is taken back is
    a change.  ``now`` says when something is given: the scheduler of Kubernetes adds
    that where it lacks, which the server refuses of a claim that has its devices.
    """

    def __init__(
        self,
        transport: Transport,
        allowed: Callable[[], bool],
        writing: Writing,
        now: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._allowed = allowed
        self._writing = writing
        self._now = now
        self.written: dict[str, Raw] = {}

    def reserve(self, grant: Grant) -> Answer:
        """
        Give a claim its devices, unless it has some, and reserve it for its users.

        Raises
        ------
        ThrottledError
            When the server asks us to wait.
        """
        return answered(lambda: self._reserved(grant))

    def release(self, key: str, users: Sequence[str]) -> bool:
        """
        Take back what a claim has for some users, by uid; tell whether that was done.

        Where nobody is left it has no devices any more.
        """
        for _ in range(_MOST_TRIES):
            if not self._allowed():
                return False
            try:
                return self._released(key, users)
            except ConflictError:
                continue
            except NotFoundError:
                return True
            except (ClusterError, FieldError):
                return False
        return False

    def _reserved(self, grant: Grant) -> Answer:
        raw = grant.raw
        if not mapping(raw, "metadata").get("uid"):
            raw = self._made(grant)
        answer = self._given(grant, raw)
        if answer == NO_ANSWER and grant.told is not None:
            self._tell(grant)
        return answer

    def _made(self, grant: Grant) -> Raw:
        """
        Make a claim, unless we did before.
        """
        path = _path(grant.key).rpartition("/")[0]
        meta = {**mapping(grant.raw, "metadata"), "finalizers": [FINALIZER]}
        body = {**grant.raw, "metadata": meta}
        try:
            with self._writing(_place(grant.key)) as made:
                found = self._transport.call("POST", path, body, rule=MADE_RULE)
                made(version_in(found))
        except ConflictError:
            return self._read(grant.key)
        self.written[grant.key] = found
        return found

    def _tell(self, grant: Grant) -> None:
        """
        Tell a pod which claim was made for it, and which request is for whom.
        """
        (user,) = grant.users
        space = grant.key.partition("/")[0]
        body = {
            "metadata": {"uid": user["uid"]},
            "status": {"extendedResourceClaimStatus": grant.told},
        }
        path = f"/api/v1/namespaces/{space}/pods/{user['name']}/status"
        self._transport.call("PATCH", path, body, rule=TOLD_RULE)

    def _given(self, grant: Grant, raw: Raw) -> Answer:
        for _ in range(_MOST_TRIES):
            if (answer := _why_not(grant, raw)) is not None:
                return answer
            meta, status = mapping(raw, "metadata"), mapping(raw, "status")
            there = records(status, "reservedFor", "status")
            known = {each.get("uid") for each in there}
            new = [user for user in grant.users if user["uid"] not in known]
            if len(there) + len(new) > MOST_USERS:
                return "refused", f"claim {grant.key} has more than {MOST_USERS} users"
            if not new and grant.allocation is None:
                return NO_ANSWER
            try:
                finalizers = items(meta, "finalizers", "metadata")
                if FINALIZER not in finalizers:
                    more = {"finalizers": [*finalizers, FINALIZER]}
                    raw = self._give(grant.key, raw, {"metadata": more})
                body: dict[str, Any] = {"reservedFor": [*there, *new]}
                if grant.allocation is not None:
                    when = {"allocationTimestamp": moment(self._now())}
                    body["allocation"] = {**grant.allocation, **when}
                self._give(grant.key, raw, {"status": body}, status=True)
            except ConflictError:
                raw = self._read(grant.key)
                continue
            return NO_ANSWER
        return "again", f"claim {grant.key} changes all the time"

    def _released(self, key: str, users: Sequence[str]) -> bool:
        raw = self._read(key)
        status = mapping(raw, "status")
        there = records(status, "reservedFor", "status")
        left = [each for each in there if each.get("uid") not in users]
        if status.get("allocation") is not None:
            body: dict[str, Any] = {"reservedFor": left or None}
            body |= {} if left else {"allocation": None}
            raw = self._patch(key, raw, {"status": body}, status=True)
        meta = mapping(raw, "metadata")
        finalizers = items(meta, "finalizers", "metadata")
        if not left and FINALIZER in finalizers:
            rest = [each for each in finalizers if each != FINALIZER]
            raw = self._patch(key, raw, {"metadata": {"finalizers": rest or None}})
        if not left and mapping(meta, "annotations", "metadata").get(EXTENDED):
            same = {"preconditions": {"uid": meta.get("uid")}}
            self._transport.call("DELETE", _path(key), same, rule=MADE_RULE)
            self.written.pop(key, None)
        return True

    def _read(self, key: str) -> Raw:
        return self._transport.call("GET", _path(key), rule=CLAIM_RULE)

    def _give(
        self, key: str, raw: Raw, body: dict[str, Any], *, status: bool = False
    ) -> Raw:
        with self._writing(_place(key)) as made:
            found = self._patch(key, raw, body, status=status)
            made(version_in(found))
        return found

    def _patch(
        self, key: str, raw: Raw, body: dict[str, Any], *, status: bool = False
    ) -> Raw:
        version = mapping(raw, "metadata").get("resourceVersion")
        meta = {**body.get("metadata", {}), "resourceVersion": version}
        path = f"{_path(key)}/status" if status else _path(key)
        whole = {**body, "metadata": meta}
        found = self._transport.call("PATCH", path, whole, rule=CLAIM_RULE)
        self.written[key] = found
        return found


def _why_not(grant: Grant, raw: Raw) -> Answer | None:
    """
    Say why a claim as it is now can no longer get what was meant for it.
    """
    meta, status = mapping(raw, "metadata"), mapping(raw, "status")
    was = mapping(grant.raw, "metadata").get("uid", meta.get("uid"))
    if meta.get("uid") != was or meta.get("deletionTimestamp") is not None:
        return "again", f"claim {grant.key} is being deleted, or another one"
    has = status.get("allocation") is not None
    if has is (grant.allocation is None):
        return None
    what = "has devices already" if has else "has no devices any more"
    return "again", f"claim {grant.key} {what}"


def _place(key: str) -> Place:
    space, _, name = key.partition("/")
    return "resource.k8s.io", "v1", "resourceclaims", space, name


def _path(key: str) -> str:
    space, _, name = key.partition("/")
    return f"/apis/resource.k8s.io/v1/namespaces/{space}/resourceclaims/{name}"
