"""
One operation carried out at the API server: a bind or an eviction, with its receipt.

A conflict is read, not tried again blindly: the pod itself says what became of it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, TypeVar

from adapters.kube.acting.devices.device_binder import DeviceBinder, NotNowError
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
)
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.watch.cache import Cache
from adapters.machine.backoff import Backoff
from adapters.machine.clock import monotonic
from models.plan import Operation
from models.receipt import Receipt, Result

T = TypeVar("T")
NOT_LEADING = "this replica may no longer be the leader"
_MOST_TRIES = 3
_BACKOFF = Backoff(first=0.2, longest=5.0)
_SLICE = 0.5
_BUDGET = "DisruptionBudget"
"""
The cause that a server names where a disruption budget, and not its own load, refuses.
"""
Answer = tuple[Result, str]
"""
What became of an operation, and what the other side said.
"""
Verdict = Callable[[Operation, Mapping[str, Any] | None], Answer | None]
"""
Reads from a pod, none where it is gone, what became of an operation.
"""
NO_ANSWER: Answer = ("done", "")
"""
What is done needs no words.
"""
BIND_RULE = '{apiGroups: [""], resources: ["pods/binding"], verbs: ["create"]}'
EVICT_RULE = '{apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"]}'
GET_RULE = '{apiGroups: [""], resources: ["pods"], verbs: ["get"]}'


@dataclass(slots=True)
class Deeds:
    """
    Carries out single operations, as long as ``allowed`` says that we may.

    All operations of a round together wait for a busy server for ``patience`` seconds
    after ``begin``, then no longer.
    """

    transport: Transport
    cache: Cache
    allowed: Callable[[], bool]
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    patience: float = 60.0
    devices: DeviceBinder = field(init=False)
    _until: float = inf

    def __post_init__(self) -> None:
        self.devices = DeviceBinder(
            self.transport, self.cache, self.allowed, clock=self.clock, sleep=self.sleep
        )

    def begin(self) -> None:
        """
        Begin with the operations of a round.
        """
        self._until = self.clock() + self.patience
        self.devices.begin()

    def bind(self, operation: Operation) -> Receipt:
        """
        Bind a pod to its node, if both are still what the plan knew.
        """
        return self.done(operation, self._bound)

    def evict(self, operation: Operation) -> Receipt:
        """
        Ask a pod to leave, which its disruption budget may refuse.
        """
        return self.done(operation, self._evicted)

    def done(self, operation: Operation, act: Callable[[Operation], Answer]) -> Receipt:
        """
        Do something about an operation, as long as we may, and give its receipt.
        """
        began = self.clock()
        result, message = self._tried(operation, act)
        return Receipt(
            operation=operation,
            result=result,
            message=message,
            seconds=self.clock() - began,
        )

    def why_not_there(self, operation: Operation) -> Answer:
        """
        Say why the node of a bind does not take its pod now; no words where it does.
        """
        if operation.op != "Bind":
            return NO_ANSWER
        record = self.cache.node(operation.node)
        if record is None:
            return "refused", f"node {operation.node} is gone"
        node = record.node
        if node.unschedulable:
            return "again", f"node {node.name} takes nothing new any more"
        labels = {**node.labels, NAME_FIELD: node.name}
        for pod in self.cache.pods_named([operation.pod]):
            if not pod.demand.tolerates(node.taints):
                why = f"has a taint now that pod {pod.key} does not tolerate"
                return "again", f"node {node.name} {why}"
            if not pod.demand.matches(labels):
                why = f"no longer has the labels that pod {pod.key} asks for"
                return "again", f"node {node.name} {why}"
        return NO_ANSWER

    def patiently(self, act: Callable[[], T]) -> T:
        """
        Do something, again where the server is busy; no other failure is repeated.

        A wait that would end after the round's time, or before no further try, is none.
        """
        failures = 0
        while True:
            try:
                return act()
            except ThrottledError as error:
                failures += 1
                pause = error.seconds or _BACKOFF.after(failures)
                is_over = self.clock() + pause > self._until
                if failures == _MOST_TRIES or is_over:
                    raise
                self._wait(pause)
                if not self.allowed():
                    raise

    def _tried(
        self, operation: Operation, act: Callable[[Operation], Answer]
    ) -> Answer:
        if not self.allowed():
            return "skipped", NOT_LEADING
        try:
            return self.patiently(partial(act, operation))
        except ThrottledError as error:
            is_ours = self.allowed()
            return ("again", str(error)) if is_ours else ("skipped", NOT_LEADING)

    def _wait(self, seconds: float) -> None:
        """
        Wait, unless somebody else leads meanwhile.
        """
        while seconds > 0 and self.allowed():
            self.sleep(min(seconds, _SLICE))
            seconds -= _SLICE

    def _bound(self, operation: Operation) -> Answer:
        if (answer := self.why_not_there(operation)) != NO_ANSWER:
            return answer
        try:
            self.devices.take_turn(operation)
            answer = self._written(operation, self.devices.notes(operation))
        except NotNowError as error:
            answer = "again", str(error)
        except ThrottledError:
            self.devices.give_up_turn(operation)
            raise
        except AnswerError as error:
            answer = answer_of(error)
        except ClusterError as error:
            answer = "again", str(error)
        if answer[0] != "done":
            self.devices.give_up_turn(operation)
        return answer

    def _written(self, operation: Operation, notes: Mapping[str, str]) -> Answer:
        """
        Write a bind, with what the pod is told of its devices in the same write.
        """
        space, _, name = operation.pod.partition("/")
        meta: dict[str, Any] = {"name": name, "namespace": space}
        meta |= {"uid": operation.uid} if operation.uid else {}
        meta |= {"annotations": dict(notes)} if notes else {}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"apiVersion": "v1", "kind": "Node", "name": operation.node},
        }
        path = f"{_path(operation)}/binding"
        try:
            self.transport.call("POST", path, body, rule=BIND_RULE)
        except ThrottledError:
            raise
        except ClusterError as error:
            return self._read(operation, error, _verdict)
        return NO_ANSWER

    def _read(
        self, operation: Operation, error: ClusterError, verdict: Verdict
    ) -> Answer:
        """
        Say what became of a write that failed; the pod is asked where nobody knows.
        """
        if isinstance(error, AnswerError) and not _is_unsure(error):
            return answer_of(error)
        raw: Mapping[str, Any] | None = None
        try:
            raw = self.transport.call("GET", _path(operation), rule=GET_RULE)
        except NotFoundError:
            pass
        except ClusterError:
            return "again", str(error)
        return verdict(operation, raw) or ("again", _said(error))

    def _evicted(self, operation: Operation) -> Answer:
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
        except ThrottledError as error:
            if _BUDGET in error.causes or "disruption budget" in error.message:
                return "refused", f"a disruption budget holds it: {error.message}"
            raise
        except ClusterError as error:
            return self._read(operation, error, _departure)
        return NO_ANSWER


def answer_of(error: AnswerError) -> Answer:
    """
    Say what a refusal by the server comes to.
    """
    return _kind(error), _said(error)


def _verdict(operation: Operation, raw: Mapping[str, Any] | None) -> Answer | None:
    """
    Say what a pod shows of its bind; nothing where it could still be bound.
    """
    if raw is None:
        return "refused", f"pod {operation.pod} is gone"
    meta, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    pod, node = operation.pod, spec.get("nodeName")
    if operation.uid and meta.get("uid") != operation.uid:
        return "refused", f"pod {pod} is another one of that name"
    if node == operation.node:
        return NO_ANSWER
    if node:
        return "refused", f"pod {pod} is bound to {node} already"
    if meta.get("deletionTimestamp"):
        return "refused", f"pod {pod} is being deleted"
    return None


def _departure(operation: Operation, raw: Mapping[str, Any] | None) -> Answer | None:
    """
    Say whether a pod leaves, or has left; nothing where it stays.
    """
    meta = None if raw is None else raw.get("metadata") or {}
    if meta is None or meta.get("deletionTimestamp"):
        return NO_ANSWER
    is_another = operation.uid and meta.get("uid") != operation.uid
    return NO_ANSWER if is_another else None


def _is_unsure(error: AnswerError) -> bool:
    """
    Tell an answer that leaves open what became of a write, or why it was not done.
    """
    return isinstance(error, ConflictError | NotFoundError) or error.status >= 500


def _kind(error: AnswerError) -> Result:
    """
    Tell what the server may take another time from what it refuses.

    That it does not know us, or what we may do, is no fault of the pod: a token was
    just replaced, or the server was just started and has not read its roles yet.
    """
    is_of_us = error.status == 401 or (isinstance(error, ForbiddenError) and error.rule)
    return "again" if is_of_us or error.status >= 500 else "refused"


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
