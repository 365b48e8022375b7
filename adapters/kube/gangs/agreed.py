"""
The queue and the priority of a gang: what its group says, else what its pods agree on.
"""

from collections.abc import Sequence

from adapters.kube.dialects.defaults import Defaults
from adapters.kube.dialects.notes import PriorityClasses
from adapters.kube.dialects.protocol import Claim
from adapters.kube.gangs.workloads.leaves import Member
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED
from models.why.reasons import Reason, Waiting


def queue_of(claim: Claim, members: Sequence[Member]) -> tuple[str, Waiting | None]:
    """
    Give the queue that the group, its owner or its pods name; "" where none does.
    """
    if claim.queue:
        return claim.queue, None
    named = sorted({member.queue for member in members if member.queue})
    if len(named) > 1:
        detail = f"its pods name the queues {', '.join(named[:3])}"
        return named[0], Waiting(Reason.CONFIG_CONFLICT, {"detail": detail})
    if named:
        return named[0], None
    return "", None


def priority_of(
    claim: Claim,
    plain: Defaults,
    members: list[Member],
    classes: PriorityClasses,
) -> tuple[int, Waiting | None]:
    """
    Give the one priority of a gang: of its group, else the one its pods agree on.
    """
    if claim.priority is not None:
        return claim.priority, None
    if claim.priority_class:
        found = classes.value(claim.priority_class)
        if found is None:
            return classes.default, _unknown(claim.priority_class)
        return found, None
    pods: dict[tuple[int | None, str], PodRecord] = {}
    for member in members:
        pod = member.pod
        if pod.phase not in FINISHED:
            pods.setdefault((pod.priority, pod.priority_class), pod)
    said: dict[int, str] = {}
    for pod in pods.values():
        value = classes.of_pod(pod)
        if value is None:
            return classes.default, _unknown(pod.priority_class, pod.name)
        said.setdefault(value, pod.name)
    if len(said) > 1 and plain.one_priority:
        pairs = sorted(said.items())[:3]
        words = ", ".join(f"{name} has {value:,}" for value, name in pairs)
        detail = f"its pods differ in priority: {words}"
        return max(said), Waiting(Reason.CONFIG_CONFLICT, {"detail": detail})
    return (next(iter(said)) if len(said) == 1 else classes.default), None


def _unknown(name: str, pod: str = "") -> Waiting:
    where = f"pod {pod}, spec.priorityClassName" if pod else "priorityClassName"
    detail = f"{where}: there is no priority class {name}"
    return Waiting(Reason.INVALID_GANG, {"detail": detail})
