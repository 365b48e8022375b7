"""
One write to an API server: of a group's status, a pod's condition, an event.

A write that fails is an outcome and never an exception: nothing that is told may stop
what is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import MERGE_PATCH, STRATEGIC_PATCH, Transport
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
)
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.dialects.protocol import Write
from adapters.kube.gangs.kinds import NEEDED

PODS = next(resource for resource in NEEDED if resource.plural == "pods")


class PatchOutcome(StrEnum):
    """
    What became of a write.

    ``conflict``: the object is no longer what we read; ``gone``: it is not there;
    ``forbidden``: our role lacks a rule; ``invalid``: the server does not take this, by
    itself or by an admission; ``later``: the server is busy or away.
    """

    DONE = "done"
    CONFLICT = "conflict"
    GONE = "gone"
    FORBIDDEN = "forbidden"
    INVALID = "invalid"
    LATER = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """
    An outcome, the object that the server answered with, and why it failed if it did.

    ``seconds`` is how long the server asks us to wait.
    """

    outcome: PatchOutcome
    answer: Mapping[str, Any] | None = None
    error: ClusterError | None = None
    seconds: float = 0.0


def send(
    transport: Transport,
    method: str,
    path: str,
    body: Raw | None = None,
    *,
    rule: str = "",
    form: str = MERGE_PATCH,
) -> Written:
    """
    Send one request and judge what came back.
    """
    try:
        answer = transport.call(method, path, body, rule=rule, form=form)
    except ClusterError as error:
        return _failed(error)
    return Written(outcome=PatchOutcome.DONE, answer=answer)


def patch_group(transport: Transport, write: Write, version: str) -> Written:
    """
    Write a group's status or annotations.

    A list in a merge patch takes the place of the whole list, so such a patch only
    holds for the version that was read.
    """
    resource = resource_of(write)
    path = path_of(resource, write.namespace, write.name)
    rule = rule_of(resource, "patch")
    if write.subresource:
        path += f"/{write.subresource}"
        rule = rule.replace(f'"{write.plural}"', f'"{write.plural}/status"')
    body: dict[str, Any] = {**write.patch}
    if version and _holds_list(body):
        meta = body.get("metadata") or {}
        body["metadata"] = {**meta, "resourceVersion": version}
    return send(transport, "PATCH", path, body, rule=rule)


def read_group(transport: Transport, write: Write) -> Written:
    """
    Read a group as the server has it now.
    """
    resource = resource_of(write)
    path = path_of(resource, write.namespace, write.name)
    return send(transport, "GET", path, rule=rule_of(resource, "get"))


def patch_pod(
    transport: Transport, key: str, uid: str, message: str, moment: str
) -> Written:
    """
    Say why a pod has no node, where autoscalers look: reason ``Unschedulable``.

    Conditions merge by their type; the uid keeps it off another pod of that name.
    """
    namespace, _, name = key.partition("/")
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": moment,
    }
    body: Raw = {"metadata": {"uid": uid}, "status": {"conditions": [condition]}}
    rule = rule_of(PODS, "patch").replace('"pods"', '"pods/status"')
    path = f"{path_of(PODS, namespace, name)}/status"
    return send(transport, "PATCH", path, body, rule=rule, form=STRATEGIC_PATCH)


def resource_of(write: Write) -> Resource:
    """
    Give the kind that a write is about.
    """
    return Resource(
        group=write.group, version=write.version, plural=write.plural, kind=""
    )


def _failed(error: ClusterError) -> Written:
    seconds = error.seconds if isinstance(error, ThrottledError) else 0.0
    return Written(outcome=_outcome(error), error=error, seconds=seconds)


def _outcome(error: ClusterError) -> PatchOutcome:
    match error:
        case ConflictError():
            return PatchOutcome.CONFLICT
        case NotFoundError():
            return PatchOutcome.GONE
        case ForbiddenError() if error.rule:
            return PatchOutcome.FORBIDDEN
        case ThrottledError():
            return PatchOutcome.LATER
        case AnswerError() if 400 <= error.status < 500 and error.status != 401:
            return PatchOutcome.INVALID
        case _:
            return PatchOutcome.LATER


def _holds_list(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_list, value.values()))
    return isinstance(value, list)
