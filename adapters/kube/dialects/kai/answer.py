"""
What KAI's own words say of a gang: one condition per node pool, and three times.

The condition is taken away once the pods run, so that it does not outlive its cause.
"""

from collections.abc import Iterator, Mapping

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.defaults import POOL
from adapters.kube.dialects.notes import conditions, moment
from adapters.kube.dialects.protocol import Claim, GroupStanding, Write, said_of
from adapters.kube.objects.fields import FieldError, mapping
from models.resources import format_quantity
from models.why.reasons import Reason

GROUP = "scheduling.run.ai"
VERSION = "v2alpha2"
_API = (GROUP, VERSION)
CONDITIONS = "schedulingConditions"
UNSCHEDULABLE = "UnschedulableOnNodePool"
STALE_SINCE = "kai.scheduler/stale-podgroup-timestamp"
LAST_START = "kai.scheduler/last-start-timestamp"
LAST_EVICTION = "kai.scheduler/last-eviction-timestamp"
_QUOTA = frozenset({Reason.QUOTA_LIMIT_REACHED, Reason.QUOTA_EXCEEDS_MAXIMUM})


def answers(claim: Claim, standing: GroupStanding) -> Iterator[Write]:
    """
    Say what was decided of one PodGroup; nothing that it says already.
    """
    if claim.source is None or claim.timed_out:
        return
    yield from _times(claim, claim.source, standing)
    ours = [c for c in conditions(claim.source, CONDITIONS) if _is_ours(c, claim)]
    if standing.state == "Waiting" and standing.reason is not None:
        if not standing.running + standing.binding:
            yield from _mark(claim, claim.source, standing)
    elif ours and not standing.binding and standing.state != "Evicting":
        rest = [
            c for c in conditions(claim.source, CONDITIONS) if not _is_ours(c, claim)
        ]
        yield said_of(claim, _API, {"status": {CONDITIONS: rest}}, subresource="status")


def node_pool(raw: Raw | None) -> str:
    """
    Name the node pool that a PodGroup is planned in.
    """
    labels = _texts(raw, "labels")
    return labels.get(POOL) or "default"


def latest(raw: Raw | None) -> Mapping[str, object] | None:
    """
    Give the condition that was written last.
    """
    found = conditions(raw, CONDITIONS)
    return max(found, key=_transition, default=None)


def _mark(claim: Claim, source: Raw, standing: GroupStanding) -> Iterator[Write]:
    """
    Write why the gang waits, as the last condition, and an event.
    """
    word, message, details = _reason(standing)
    entry: dict[str, object] = {"reason": word, "message": message}
    if details:
        entry["details"] = {"queueDetails": details}
    condition: dict[str, object] = {
        "type": UNSCHEDULABLE,
        "nodePool": node_pool(source),
        "reason": "Unschedulable",
        "message": f"{word}: {message}",
        "reasons": [entry],
        "status": "True",
    }
    before = conditions(source, CONDITIONS)
    if any(condition.items() <= old.items() for old in before):
        return
    number = 1 + max(map(_transition, before), default=0)
    condition["transitionID"] = str(number)
    condition["lastTransitionTime"] = moment(standing.now)
    rest = [old for old in before if not _is_ours(old, claim)]
    patch = {"status": {CONDITIONS: [*rest, condition]}}
    yield said_of(claim, _API, patch, subresource="status")
    said = "NotReady" if standing.reason == Reason.WAITING_FOR_PODS else "Unschedulable"
    yield said_of(claim, _API, {}, event=("Normal", said, f"{word}: {message}"))


def _reason(standing: GroupStanding) -> tuple[str, str, dict[str, object]]:
    """
    Choose KAI's reason, its message and the details of the queue.
    """
    facts = standing.facts
    resource, needs = facts.get("resource"), facts.get("needs")
    if standing.reason == Reason.QUEUE_NOT_FOUND:
        return "QueueDoesNotExist", f"Queue {facts.get('queue')} does not exist", {}
    if standing.reason == Reason.WAITING_FOR_PODS:
        message = (
            "Job is not ready for scheduling. "
            f"Waiting for {needs} pods, currently {facts.get('have')} existing"
        )
        return "PodSchedulingErrors", f"{message}{facts.get('where', '')}", {}
    is_own = "kept" not in facts
    if standing.reason in _QUOTA and is_own and isinstance(resource, str):
        return _over_quota(facts, resource)
    message = f"Unable to schedule podgroup: {standing.message or standing.reason}"
    return "PodSchedulingErrors", message, {}


def _over_quota(
    facts: Mapping[str, object], resource: str
) -> tuple[str, str, dict[str, object]]:
    queue = facts.get("queue")
    limit, used, needs = (
        format_quantity(resource, amount) if isinstance(amount, int) else "0"
        for amount in (facts.get("limit"), facts.get("used"), facts.get("needs"))
    )
    details: dict[str, object] = {
        "name": queue,
        "podGroupRequestedResources": {resource: needs},
    }
    if facts.get("work"):
        details["queueDeservedResources"] = {resource: limit}
        details["queueAllocatedNonPreemptibleResources"] = {resource: used}
        message = (
            "Non-preemptible workload is over quota. "
            f"Workload requested {needs} {resource}, "
            f"but {queue} quota is {limit} {resource}, "
            f"while {used} {resource} are already allocated for non-preemptible pods."
        )
        return "NonPreemptibleOverQuota", message, details
    details["queueResourceLimits"] = {resource: limit}
    details["queueAllocatedResources"] = {resource: used}
    message = (
        f"{queue} quota has reached the allowable limit of {resource}. "
        f"Limit is {limit} {resource}, currently {used} {resource} allocated "
        f"and workload requested {needs} {resource}"
    )
    return "OverLimit", message, details


def _times(claim: Claim, source: Raw, standing: GroupStanding) -> Iterator[Write]:
    """
    Keep the times of the last start, the last eviction, and of falling short.
    """
    now, known = moment(standing.now), _texts(source, "annotations")
    notes: dict[str, str | None] = {}
    if standing.state == "Starting":
        notes[LAST_START] = now
    if standing.state == "Evicting":
        notes[LAST_EVICTION] = now
    active = standing.running + standing.binding
    short = active and active + standing.succeeded < standing.minimum
    watched = (claim.stale_after or 0) >= 0
    if standing.state == "Waiting" and short and watched:
        notes[STALE_SINCE] = known.get(STALE_SINCE, now)
    elif STALE_SINCE in known:
        notes[STALE_SINCE] = None
    changed = {key: value for key, value in notes.items() if known.get(key) != value}
    if changed:
        yield said_of(claim, _API, {"metadata": {"annotations": changed}})


def _is_ours(condition: Mapping[str, object], claim: Claim) -> bool:
    return condition.get("type") == UNSCHEDULABLE and condition.get(
        "nodePool"
    ) == node_pool(claim.source)


def _transition(condition: Mapping[str, object]) -> int:
    word = condition.get("transitionID")
    return int(word) if isinstance(word, str) and word.isdecimal() else 0


def _texts(raw: Raw | None, key: str) -> dict[str, str]:
    try:
        found = mapping(mapping(raw or {}, "metadata"), key)
    except FieldError:
        return {}
    return {name: str(value) for name, value in found.items()}
