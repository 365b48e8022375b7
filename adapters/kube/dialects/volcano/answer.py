"""
What Volcano's words say of a gang: phase, counters, one condition per type, an event.

The order of the conditions and the sentence in the field ``reason`` are Volcano's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import conditions, moment
from adapters.kube.dialects.protocol import Claim, GroupStanding, Write, said_of
from adapters.kube.objects.fields import FieldError, mapping
from models.why.reasons import Reason

READY = "tasks in gang are ready to be scheduled"
_QUOTA = frozenset({Reason.QUOTA_LIMIT_REACHED, Reason.QUOTA_EXCEEDS_MAXIMUM})
_LET_IN = frozenset(
    {
        Reason.NO_FITTING_NODE,
        Reason.DEMAND_EXCEEDS_CLUSTER,
        Reason.TOPOLOGY_TOO_SMALL,
        Reason.PREEMPTION_PROTECTED,
        Reason.INSUFFICIENT_CAPACITY,
        Reason.FRAGMENTED,
        Reason.LOWER_TIER_OR_PRIORITY,
        Reason.WAITING_FOR_PREEMPTION,
        Reason.PAUSED,
        Reason.BIND_REJECTED,
        Reason.SEARCH_LIMIT_REACHED,
    }
)
GATE = "gate"
"""
The fact that says whether ``minResources`` fits: ``open`` lets pods be made.
"""


@dataclass(frozen=True, slots=True)
class Served:
    """
    Where the PodGroups of a system are served.
    """

    group: str
    version: str


def answers(served: Served, claim: Claim, standing: GroupStanding) -> Iterator[Write]:
    """
    Say what was decided of one PodGroup; nothing that it says already.
    """
    source = claim.source
    if source is None:
        return
    status = _status(source)
    changed: dict[str, object] = {
        word: value
        for word, value in _counted(claim, standing, status).items()
        if status.get(word, "" if word == "phase" else 0) != value
    }
    condition = _condition(standing)
    event: tuple[str, str, str] | None = None
    if condition is not None and not _says(source, condition):
        condition["transitionID"] = standing.round
        condition["lastTransitionTime"] = moment(standing.now)
        kind = condition["type"]
        rest = [old for old in conditions(source) if old.get("type") != kind]
        changed["conditions"] = [*rest, condition]
        event = _event(standing)
    api = (served.group, _version(source) or served.version)
    if changed:
        yield said_of(claim, api, {"status": changed})
    if event is not None:
        yield said_of(claim, api, {}, event=event)


def _condition(standing: GroupStanding) -> dict[str, object] | None:
    """
    Give the condition of this round; none where nothing was decided.
    """
    if standing.state in {"Starting", "Growing", "Running"}:
        return {"type": "Scheduled", "status": "True", "reason": READY}
    if standing.reason is None:
        return None
    reason, message = _unschedulable(standing)
    return {
        "type": "Unschedulable",
        "status": "True",
        "reason": reason,
        "message": message,
    }


def _unschedulable(standing: GroupStanding) -> tuple[str, str]:
    """
    Choose Volcano's reason, and write its sentence with the counts.
    """
    valid = standing.facts.get("have", standing.total - standing.failed)
    if standing.reason == Reason.WAITING_FOR_PODS and standing.total:
        if " in " in str(standing.facts.get("where", "")):
            where = standing.facts.get("where")
            message = (
                "Not enough valid pods of each task for gang-scheduling"
                f"{where}: valid: {standing.facts.get('have')}, "
                f"min: {standing.facts.get('needs')}"
            )
            return "NotEnoughPodsOfTask", message
        message = (
            "Not enough valid tasks for gang-scheduling, "
            f"valid: {valid}, min: {standing.minimum}"
        )
        return "NotEnoughTasks", message
    return "NotEnoughResources", _short_of_resources(standing)


def _short_of_resources(standing: GroupStanding) -> str:
    ready = standing.running + standing.succeeded + standing.binding
    pending = standing.total - ready - standing.failed
    counts = sorted(
        f"{number} {word}"
        for word, number in (
            ("Failed", standing.failed),
            ("Pending", pending),
            ("Running", standing.running),
            ("Succeeded", standing.succeeded),
        )
        if number > 0
    )
    states = ", ".join([*counts, f"{standing.minimum} minAvailable"])
    message = (
        f"{max(0, standing.minimum - ready)}/{standing.total} "
        f"tasks in gang unschedulable: pod group is not ready, {states}"
    )
    if pending > 0:
        message += f"; Pending: {pending} Unschedulable"
        message += f". Origin reason is {standing.reason}: {standing.message}"
    return message


def _says(source: Raw, condition: dict[str, object]) -> bool:
    """
    Tell whether the newest condition says this already.
    """
    found = conditions(source)
    if not found:
        return False
    newest = max(found, key=lambda old: str(old.get("lastTransitionTime", "")))
    return all(
        (newest.get(word) or "") == (condition.get(word) or "")
        for word in ("type", "status", "reason", "message")
    )


def _counted(claim: Claim, standing: GroupStanding, status: Raw) -> dict[str, object]:
    return {
        "phase": _phase(claim, standing, str(status.get("phase") or "Pending")),
        "running": standing.running,
        "succeeded": standing.succeeded,
        "failed": standing.failed,
    }


def _phase(claim: Claim, standing: GroupStanding, before: str) -> str:
    """
    Give the phase at the end of a session.
    """
    allocated = standing.running + standing.succeeded + standing.binding
    if standing.state == "Waiting" and standing.running and standing.reason:
        return "Unknown"
    if allocated and allocated >= standing.minimum:
        finished = standing.succeeded + standing.failed
        active = standing.running + standing.binding
        return "Completed" if finished and not active else "Running"
    if before == "Inqueue" or _lets_in(claim, standing):
        return "Inqueue"
    return "Pending"


def _lets_in(claim: Claim, standing: GroupStanding) -> bool:
    """
    Tell whether nothing but room is missing, so that pods may be made.
    """
    if standing.reason == Reason.WAITING_FOR_PODS:
        return not claim.min_resources or standing.facts.get(GATE) == "open"
    return standing.reason in _LET_IN and not _at_gate(standing)


def _at_gate(standing: GroupStanding) -> bool:
    return "minResources" in str(standing.facts.get("where", ""))


def _event(standing: GroupStanding) -> tuple[str, str, str]:
    if standing.reason is None:
        return "Normal", "Scheduled", "pod group is ready"
    resource = standing.facts.get("resource")
    if standing.reason in _QUOTA:
        message = f"queue resource quota insufficient: insufficient {resource}"
        return "Normal", "Unschedulable", message
    if standing.reason == Reason.INSUFFICIENT_CAPACITY and _at_gate(standing):
        return "Normal", "Unschedulable", f"resource in cluster is overused: {resource}"
    return "Warning", "Unschedulable", _unschedulable(standing)[1]


def _status(source: Raw) -> Raw:
    try:
        return mapping(source, "status")
    except FieldError:
        return {}


def _version(source: Raw | None) -> str:
    """
    Give the version that an object was read in.
    """
    word = (source or {}).get("apiVersion")
    return word.rpartition("/")[2] if isinstance(word, str) else ""
