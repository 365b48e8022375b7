"""
The lock of a node that HAMi shares: an annotation, which its plugin takes off.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError, ConflictError
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import Cache

LOCK = "hami.io/mutex.lock"
LOCK_ENDS = 300.0
"""
The seconds after which HAMi takes a lock for one of somebody who is gone.
"""
_WORDS = 3
READ_NODE = '{apiGroups: [""], resources: ["nodes"], verbs: ["get"]}'
LOCK_NODE = '{apiGroups: [""], resources: ["nodes"], verbs: ["patch"]}'


class NodeLock:
    """
    Takes the locks of nodes, one pod after the other.
    """

    def __init__(
        self, transport: Transport, cache: Cache, now: Callable[[], float]
    ) -> None:
        self._transport = transport
        self._cache = cache
        self._now = now

    def why_not(self, node: str, pod: PodRecord) -> str:
        """
        Take HAMi's lock of a node; say who has it where that is somebody else.

        One of a pod of ours that is not bound was left by who led before us.
        """
        try:
            meta = self._meta(node)
            owner = _owner(meta)
            if owner and owner != pod.key and not self._is_left(meta, owner):
                return f"node {node} is locked for pod {owner}"
            stamp = datetime.fromtimestamp(self._now(), UTC).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            )
            value = f"{stamp},{pod.namespace},{pod.name}"
            self._set_lock(node, meta, value)
        except ConflictError:
            return f"node {node} was locked by somebody else just now"
        return ""

    def give_back(self, node: str, pod: PodRecord) -> None:
        """
        Unlock a node on which a pod was not bound after all.

        Where that fails the lock ends by itself, or who leads next takes it over.
        """
        try:
            meta = self._meta(node)
            if _owner(meta) == pod.key:
                self._set_lock(node, meta, None)
        except ClusterError:
            return

    def _is_left(self, meta: Mapping[str, Any], owner: str) -> bool:
        """
        Tell whether a lock is of somebody who is gone.
        """
        text = str(_notes(meta).get(LOCK)).partition(",")[0]
        try:
            since = datetime.fromisoformat(text).timestamp()
        except ValueError:
            return False
        if self._now() - since > LOCK_ENDS:
            return True
        pods = self._cache.pods_named([owner])
        if not pods or pods[0].node is not None:
            return False
        return pods[0].part is not None or bool(pods[0].gpus)

    def _meta(self, node: str) -> Mapping[str, Any]:
        raw = self._transport.call("GET", f"/api/v1/nodes/{node}", rule=READ_NODE)
        meta = raw.get("metadata")
        return meta if isinstance(meta, dict) else {}

    def _set_lock(self, node: str, meta: Mapping[str, Any], value: str | None) -> None:
        body = {
            "metadata": {
                "annotations": {LOCK: value},
                "resourceVersion": meta.get("resourceVersion"),
            }
        }
        self._transport.call("PATCH", f"/api/v1/nodes/{node}", body, rule=LOCK_NODE)


def _notes(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    notes = meta.get("annotations")
    return notes if isinstance(notes, dict) else {}


def _owner(meta: Mapping[str, Any]) -> str:
    """
    Name the pod for which a node is locked; ``?`` where the lock does not say.
    """
    text = _notes(meta).get(LOCK)
    if text is None:
        return ""
    words = str(text).split(",")
    return f"{words[1]}/{words[2]}" if len(words) == _WORDS else "?"
