"""
Claims told the node of their pod, and told so no longer: one annotation, by version.
"""

from collections.abc import Callable

from adapters.kube.acting.operations import Answer, answer_of
from adapters.kube.api.api_resources import Raw
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    ThrottledError,
)
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.volume_records import (
    SELECTED_NODE,
    ClaimRecord,
    claim_record,
)

PATCH_RULE = (
    '{apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "patch"]}'
)
_MOST_TRIES = 3


class ClaimWriter:
    """
    Writes the node that is selected for claims, as long as ``allowed`` says we may.
    """

    def __init__(self, transport: Transport, allowed: Callable[[], bool]) -> None:
        self._transport = transport
        self._allowed = allowed

    def tell(self, claim: ClaimRecord, node: str) -> int | Answer:
        """
        Write the node of a claim that has none; give the version, or why there is none.

        Raises
        ------
        ThrottledError
            When the server asks us to wait.
        """
        try:
            return self._told(claim, node)
        except ThrottledError:
            raise
        except AnswerError as error:
            return answer_of(error)
        except (ClusterError, FieldError) as error:
            return "again", str(error)

    def untell(self, key: str, node: str) -> None:
        """
        Take back the node of a claim, unless it has a volume or another node.

        Where that fails its pod is planned for that node, or its provisioner lets go.
        """
        space, _, name = key.partition("/")
        path = _path(space, name)
        for _ in range(_MOST_TRIES):
            if not self._allowed():
                return
            try:
                raw = self._transport.call("GET", path, rule=PATCH_RULE)
                claim = claim_record(raw)
                if claim.volume or claim.node != node:
                    return
                self._patch(path, None, claim.version)
            except ConflictError:
                continue
            except (ClusterError, FieldError):
                return
            return

    def _told(self, claim: ClaimRecord, node: str) -> int | Answer:
        path, version = _path(claim.namespace, claim.name), claim.version
        for _ in range(_MOST_TRIES):
            try:
                return _number(self._patch(path, node, version))
            except ConflictError:
                raw = self._transport.call("GET", path, rule=PATCH_RULE)
            now = claim_record(raw)
            if now.uid != claim.uid or now.volume:
                return "again", f"claim {claim.name} has changed"
            if now.node and now.node != node:
                return "again", f"claim {claim.name} is for a pod on node {now.node}"
            if now.node:
                return _number(raw)
            version = now.version
        return "again", f"claim {claim.name} changes all the time"

    def _patch(self, path: str, node: str | None, version: str) -> Raw:
        meta = {"resourceVersion": version, "annotations": {SELECTED_NODE: node}}
        return self._transport.call("PATCH", path, {"metadata": meta}, rule=PATCH_RULE)


def _path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"


def _number(raw: Raw) -> int:
    version = claim_record(raw).version
    return int(version) if version.isdecimal() else 0
