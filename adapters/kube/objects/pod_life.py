"""
Where a pod is in its life, and what it says of that.
"""

from collections.abc import Mapping
from sys import intern
from typing import Any

from adapters.kube.objects.fields import Json, seconds, whole
from models.gangs import PodPhase


def pod_phase(meta: Json, spec: Json, status: Json) -> PodPhase:
    """
    Say where a pod is in its life; one that leaves holds its room until it is gone.
    """
    word = status.get("phase")
    if word in ("Succeeded", "Failed"):
        return PodPhase(word)
    if meta.get("deletionTimestamp"):
        return PodPhase.TERMINATING
    if spec.get("nodeName"):
        return PodPhase.RUNNING
    return PodPhase.GATED if spec.get("schedulingGates") else PodPhase.PENDING


def deleted(meta: Json) -> float | None:
    """
    Give the time at which a pod was asked to leave: its deadline less its grace.
    """
    until = seconds(meta, "deletionTimestamp", "metadata")
    if until is None:
        return None
    return until - (whole(meta, "deletionGracePeriodSeconds", "metadata") or 0)


def said_of(status: Json) -> str:
    """
    Give what a pod that cannot be placed says of it, if its condition says so.
    """
    for entry in listed(status, "conditions"):
        if isinstance(entry, Mapping) and entry.get("type") == "PodScheduled":
            is_ours = entry.get("reason") == "Unschedulable"
            message = entry.get("message")
            return intern(message) if is_ours and isinstance(message, str) else ""
    return ""


def listed(raw: Json, key: str) -> list[Any]:
    """
    Give a list, or what stands there instead of one: whoever reads it will say so.
    """
    value = raw.get(key)
    return value if isinstance(value, list) else [value]
