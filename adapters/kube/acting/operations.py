"""
One operation carried out at the API server: a bind or an eviction, with its receipt.

A conflict is read, not tried again blindly: the pod itself says what became of it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    NotFoundError,
    ThrottledError,
)
from adapters.kube.watch.cache import Cache
from adapters.machine.clock import monotonic
from models.plan import Operation
from models.receipt import Receipt, Result

NOT_LEADING = "we are no longer sure to be the leader"
_MOST_TRIES = 3
_LONGEST_PAUSE = 5.0
_Answer = tuple[Result, str]
_DONE: _Answer = ("done", "")
BIND_RULE = '{apiGroups: [""], resources: ["pods/binding"], verbs: ["create"]}'
EVICT_RULE = '{apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"]}'
GET_RULE = '{apiGroups: [""], resources: ["pods"], verbs: ["get"]}'


@dataclass(frozen=True, slots=True)
class Deeds:
    """
    Carries out single operations, as long as ``allowed`` says that we may.
    """

    transport: Transport
    cache: Cache
    allowed: Callable[[], bool]
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], None] = time.sleep

    def bind(self, operation: Operation) -> Receipt:
        """
        Bind a pod to its node, if both are still what the plan knew.
        """
        return self._done(operation, self._bound)

    def evict(self, operation: Operation) -> Receipt:
        """
        Ask a pod to leave, which its disruption budget may refuse.
        """
        return self._done(operation, self._evicted)

    def _done(
        self, operation: Operation, act: Callable[[Operation], _Answer]
    ) -> Receipt:
        began = self.clock()
        result, message = self._tried(operation, act)
        return Receipt(
            operation=operation,
            result=result,
            message=message,
            seconds=self.clock() - began,
        )

    def _tried(
        self, operation: Operation, act: Callable[[Operation], _Answer]
    ) -> _Answer:
        """
        Try, and wait where the server asks us to; other failures are never repeated.
        """
        message = ""
        for _ in range(_MOST_TRIES):
            if not self.allowed():
                return "skipped", NOT_LEADING
            try:
                return act(operation)
            except ThrottledError as error:
                message = str(error)
                self.sleep(min(_LONGEST_PAUSE, error.seconds or 0.2))
        return "again", message

    def _bound(self, operation: Operation) -> _Answer:
        record = self.cache.node(operation.node)
        if record is None:
            return "refused", f"node {operation.node} is gone"
        if record.node.unschedulable:
            return "again", f"node {operation.node} takes nothing new any more"
        space, _, name = operation.pod.partition("/")
        meta: dict[str, Any] = {"name": name, "namespace": space}
        meta |= {"uid": operation.uid} if operation.uid else {}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"apiVersion": "v1", "kind": "Node", "name": operation.node},
        }
        path = f"{_path(operation)}/binding"
        try:
            self.transport.call("POST", path, body, rule=BIND_RULE)
        except (ConflictError, NotFoundError) as error:
            return self._read(operation, error)
        except ThrottledError:
            raise
        except AnswerError as error:
            passes = error.status >= 500
            return "again" if passes else "refused", _said(error)
        except ClusterError as error:  # nobody knows what became of it
            return self._read(operation, error)
        return _DONE

    def _read(self, operation: Operation, error: ClusterError) -> _Answer:
        """
        Ask the pod itself what became of a bind.
        """
        try:
            raw = self.transport.call("GET", _path(operation), rule=GET_RULE)
        except NotFoundError:
            return "refused", f"pod {operation.pod} is gone"
        except ClusterError:
            return "again", str(error)
        return _verdict(operation, raw) or ("again", _said(error))

    def _evicted(self, operation: Operation) -> _Answer:
        space, _, name = operation.pod.partition("/")
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if operation.uid:
            options["preconditions"] = {"uid": operation.uid}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": space},
            "deleteOptions": options,
        }
        try:
            self.transport.call(
                "POST", f"{_path(operation)}/eviction", body, rule=EVICT_RULE
            )
        except NotFoundError:
            return _DONE  # it has left already
        except ThrottledError as error:
            return "again", f"a disruption budget holds it: {error.message}"
        except ConflictError as error:
            return "again", _said(error)
        except AnswerError as error:
            return "again" if error.status >= 500 else "refused", _said(error)
        except ClusterError as error:
            return "again", str(error)
        return _DONE


def _verdict(operation: Operation, raw: Mapping[str, Any]) -> _Answer | None:
    """
    Say what a pod shows of its bind; nothing where it could still be bound.
    """
    meta, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    pod, node = operation.pod, spec.get("nodeName")
    if operation.uid and meta.get("uid") != operation.uid:
        return "refused", f"pod {pod} is another one of that name"
    if node == operation.node:
        return _DONE
    if node:
        return "refused", f"pod {pod} is bound to {node} already"
    if meta.get("deletionTimestamp"):
        return "refused", f"pod {pod} is being deleted"
    return None


def _path(operation: Operation) -> str:
    space, _, name = operation.pod.partition("/")
    return f"/api/v1/namespaces/{space}/pods/{name}"


def _said(error: ClusterError) -> str:
    """
    Give what the server said; of a refusal by a webhook, its own words.
    """
    if isinstance(error, AnswerError) and "admission webhook" in error.message:
        return error.message
    return str(error)
