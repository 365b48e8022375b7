"""
What is said of PodGroups of both API groups: counters, phases, an annotation, events.

Their own controllers own phases and counters; those are written only where none is
there.  The PodGroups have no conditions, so an annotation of ours keeps the reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.coscheduling.keys import SIGS, VERSION
from adapters.kube.dialects.notes import moment
from adapters.kube.dialects.protocol import Claim, GroupStanding, Write, said_of
from adapters.kube.objects.fields import FieldError, mapping, seconds
from models.why.reasons import counted

WAITING = "phalanx/waiting"
"""
The annotation that says why a PodGroup waits: the reason, then a sentence.
"""
ABANDONED_AFTER = 48 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """
    What a system calls a gang before it runs.
    """

    complete: str
    partly: str
    placed: str


PLUGIN_PHASES = Phases(complete="Scheduling", partly="Scheduling", placed="Scheduling")
KOORDINATOR_PHASES = Phases(
    complete="PreScheduling", partly="Scheduling", placed="Scheduled"
)


def answers(
    claim: Claim,
    standing: GroupStanding,
    sentence: str,
    api_group: str,
    phases: Phases | None,
) -> Iterator[Write]:
    """
    Say what was decided of one PodGroup; nothing that it says already.

    Parameters
    ----------
    claim
        The gang as it was read; one without an object is not answered.
    standing
        What was decided.
    sentence
        Why it waits, in its system's words.
    api_group
        The API group of its object.
    phases
        The phases to write; none where a controller owns them.
    """
    if claim.source is None:
        return
    api = (api_group, VERSION)
    status = _field(claim.source, "status")
    patch: dict[str, object] = {}
    if api_group == SIGS:
        patch["scheduled"] = _num_placed(standing)
    if phases is not None and not _is_abandoned(status, standing):
        patch |= _counted(standing) | _phased(status, standing, phases)
    changed = {key: value for key, value in patch.items() if status.get(key) != value}
    if changed:
        yield said_of(claim, api, {"status": changed}, subresource="status")
    yield from _reasons(claim, standing, sentence, api)


def _reasons(
    claim: Claim, standing: GroupStanding, sentence: str, api: tuple[str, str]
) -> Iterator[Write]:
    """
    Keep the reason as an annotation; an event tells of every new one, and of a start.
    """
    noted = _field(_field(claim.source or {}, "metadata"), "annotations").get(WAITING)
    before = noted if isinstance(noted, str) else None
    waits = standing.reason if standing.state == "Waiting" else None
    after = f"{waits}: {sentence}" if waits else None
    if after != before:
        annotations = {WAITING: after}
        yield said_of(claim, api, {"metadata": {"annotations": annotations}})
    if waits and (before is None or before.partition(":")[0] != waits):
        event = ("Warning", "FailedScheduling", sentence)
        yield said_of(claim, api, {}, event=event)
    if standing.state == "Starting" and standing.binding:
        bound = counted(standing.binding, "pod")
        message = f"{bound} bound, {standing.minimum:,} needed"
        yield said_of(claim, api, {}, event=("Normal", "Scheduled", message))


def _num_placed(standing: GroupStanding) -> int:
    """
    Count the pods that have, had or get a node.
    """
    ended = standing.succeeded + standing.failed
    return standing.running + standing.binding + ended


def _counted(standing: GroupStanding) -> dict[str, object]:
    return {
        "running": standing.running,
        "succeeded": standing.succeeded,
        "failed": standing.failed,
    }


def _phased(status: Raw, standing: GroupStanding, phases: Phases) -> dict[str, object]:
    """
    Give the phase, and the time at which scheduling began.
    """
    phase = _phase(standing, phases)
    found: dict[str, object] = {"phase": phase}
    if phase in {phases.partly, phases.placed} and not status.get("scheduleStartTime"):
        found["scheduleStartTime"] = moment(standing.now)
    return found


def _phase(standing: GroupStanding, phases: Phases) -> str:
    least = max(1, standing.minimum)
    alive = standing.running + standing.succeeded
    if standing.succeeded >= least:
        return "Finished"
    if standing.failed and alive + standing.failed >= least:
        return "Failed"
    if alive >= least:
        return "Running"
    if _num_placed(standing) >= least:
        return phases.placed
    if standing.running + standing.binding:
        return phases.partly
    return phases.complete if standing.total >= least else "Pending"


def _is_abandoned(status: Raw, standing: GroupStanding) -> bool:
    """
    Tell whether a PodGroup has been scheduling for too long to be followed any more.
    """
    if status.get("phase") not in {"Scheduling", "PreScheduling"}:
        return False
    try:
        since = seconds(status, "scheduleStartTime", "status")
    except FieldError:
        return False
    return since is not None and standing.now - since > ABANDONED_AFTER


def _field(raw: Raw, key: str) -> Mapping[str, object]:
    try:
        return mapping(raw, key)
    except FieldError:
        return {}
