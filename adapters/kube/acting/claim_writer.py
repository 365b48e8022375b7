"""
Claims told the node of their pod, and told so no longer: one annotation, by version.
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
from adapters.kube.objects.volume_records import (
    SELECTED_NODE,
    ClaimRecord,
    claim_record,
)

PATCH_RULE = (
    '{apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "patch"]}'
)


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
        return answered(lambda: self._told(claim, node))

    def untell(self, key: str, node: str) -> None:
        """
        Take back the node of a claim, unless it has a volume or another node.

        Where that fails its pod is planned for that node, or its provisioner lets go.
        """
        space, _, name = key.partition("/")
        take_back(self._allowed, lambda: self._untold(_path(space, name), node))

    def _untold(self, path: str, node: str) -> None:
        claim = claim_record(self._transport.call("GET", path, rule=PATCH_RULE))
        if not claim.volume and claim.node == node:
            self._patch(path, None, claim.version)

    def _told(self, claim: ClaimRecord, node: str) -> int | Answer:
        path, version = _path(claim.namespace, claim.name), claim.version
        for _ in range(MOST_TRIES):
            try:
                after = self._patch(path, node, version)
                return number_of(claim_record(after).version)
            except ConflictError:
                raw = self._transport.call("GET", path, rule=PATCH_RULE)
            now = claim_record(raw)
            if now.uid != claim.uid or now.volume:
                return "again", f"claim {claim.name} has changed"
            if now.node and now.node != node:
                return "again", f"claim {claim.name} is for a pod on node {now.node}"
            if now.node:
                return number_of(now.version)
            version = now.version
        return "again", f"claim {claim.name} changes all the time"

    def _patch(self, path: str, node: str | None, version: str) -> Raw:
        meta = {"resourceVersion": version, "annotations": {SELECTED_NODE: node}}
        return self._transport.call("PATCH", path, {"metadata": meta}, rule=PATCH_RULE)


def _path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"
