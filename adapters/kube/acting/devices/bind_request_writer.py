"""
BindRequests of KAI written, and taken back.
"""

from collections.abc import Sequence
from typing import Any

from adapters.kube.acting.operations import NO_ANSWER, Answer, answer_of
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    NotFoundError,
    ThrottledError,
)
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.objects.bind_requests import (
    KIND,
    MANAGED_BY,
    OURS,
    VERSION,
    bind_request_record,
)
from adapters.kube.objects.parts.kai_parts import portion_of
from adapters.kube.objects.pod_record import PodRecord
from models.devices.gpu_parts import GpuPart
from models.plan import Operation

_LONGEST = 63


class BindRequestWriter:
    """
    Writes requests, and deletes those that are of no use.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def write(
        self, step: Operation, pod: PodRecord, groups: Sequence[str], memory: int
    ) -> Answer:
        """
        Ask KAI's binder to bind a pod; one that was asked already is left as it is.

        Raises
        ------
        ThrottledError
            When the server asks us to wait.
        """
        body = _body(step, pod, groups, memory)
        path = path_of(BIND_REQUESTS, pod.namespace)
        try:
            self._transport.call(
                "POST", path, body, rule=rule_of(BIND_REQUESTS, "create")
            )
        except ConflictError:
            return self._read(pod, step, groups)
        except ThrottledError:
            raise
        except AnswerError as error:
            return answer_of(error)
        except ClusterError as error:  # nobody knows what became of it
            answer = self._read(pod, step, groups)
            return answer if answer == NO_ANSWER else ("again", str(error))
        return NO_ANSWER

    def take_back(self, pod: str, uid: str = "") -> None:
        """
        Delete a request; where that fails, it is tried again by and by.
        """
        space, _, name = pod.partition("/")
        path = path_of(BIND_REQUESTS, space, name)
        body = {"preconditions": {"uid": uid}} if uid else {}
        try:
            self._transport.call(
                "DELETE", path, body, rule=rule_of(BIND_REQUESTS, "delete")
            )
        except ClusterError:
            return

    def _read(self, pod: PodRecord, step: Operation, groups: Sequence[str]) -> Answer:
        """
        Read the request of a pod that is there already: it may be ours.
        """
        path = path_of(BIND_REQUESTS, pod.namespace, pod.name)
        rule = rule_of(BIND_REQUESTS, "get")
        try:
            found = bind_request_record(self._transport.call("GET", path, rule=rule))
        except NotFoundError:
            return "again", f"the BindRequest of pod {pod.key} was deleted just now"
        except ClusterError as error:
            return "again", str(error)
        wanted = pod.uid, step.node, tuple(groups)
        is_same = found is not None and found.is_active
        if found is None or (found.owner, found.node, found.groups) != wanted:
            is_same = False
        if not is_same:
            if found is not None and (found.is_ours or not found.is_active):
                self.take_back(pod.key, found.uid)
            return "again", f"pod {pod.key} has a BindRequest that says something else"
        return NO_ANSWER


def _body(
    step: Operation, pod: PodRecord, groups: Sequence[str], memory: int
) -> dict[str, Any]:
    part = GpuPart() if pod.part is None else pod.part.part
    labels = {"selected-node": step.node} if len(step.node) <= _LONGEST else {}
    return {
        "apiVersion": VERSION,
        "kind": KIND,
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "labels": {**labels, MANAGED_BY: OURS},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
            ],
        },
        "spec": {
            "podName": pod.name,
            "selectedNode": step.node,
            "selectedGPUGroups": [*groups],
            "receivedResourceType": "Fraction",
            "receivedGPU": {
                "count": part.count,
                "portion": portion_of(part, memory),
            },
        },
    }
