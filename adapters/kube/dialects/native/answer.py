"""
What Kubernetes' own words say of a gang: whether it was ever scheduled, and why not.

``True`` is terminal: a group that was scheduled once keeps it, whatever happens later.
"""

from collections.abc import Iterator

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import conditions, moment, named
from adapters.kube.dialects.protocol import Claim, GroupStanding, Part, Write
from adapters.kube.objects.fields import FieldError, Json, mapping, whole
from models.why.reasons import Reason

GROUP = "scheduling.k8s.io"
PODGROUP = "PodGroup"
COMPOSITE = "CompositePodGroup"
_PLURALS = {PODGROUP: "podgroups", COMPOSITE: "compositepodgroups"}
_VERSIONS = {PODGROUP: "v1beta1", COMPOSITE: "v1alpha3"}
_ERRORS = frozenset({Reason.CONFIG_CONFLICT, Reason.SOURCE_NOT_SYNCED})
_AS_WRITTEN = _ERRORS | {Reason.INVALID_GANG, Reason.UNSUPPORTED_CONSTRAINT}
_STARTED = frozenset({"Starting", "Growing", "Running", "Finished"})


def answers(claim: Claim, standing: GroupStanding) -> Iterator[Write]:
    """
    Say what was decided of a group, and of those below it where all are alike.

    Of a tree of which only some groups start, the counts do not say which: then only
    the topmost one is answered.
    """
    if claim.source is None:
        return
    if standing.state == "Evicting" and _goes_whole(claim.source):
        yield from _written(claim.source, _disrupted(standing), standing)
        return
    every = (claim.source, *claim.others)
    if standing.state in _STARTED:
        for raw in every if _rigid(claim.tree) else (claim.source,):
            yield from _group(raw, standing, "")
    elif standing.reason is not None:
        for raw in every:
            message = _message(raw, standing, alone=not claim.others)
            yield from _group(raw, standing, message)


def _group(raw: Raw, standing: GroupStanding, message: str) -> Iterator[Write]:
    """
    Write the condition of one group, unless it holds already or forever.

    Without a message it started.
    """
    kind = str(raw.get("kind") or PODGROUP)
    word = f"{kind}InitiallyScheduled"
    old = next((c for c in conditions(raw) if c.get("type") == word), None)
    if old is not None and old.get("status") == "True":
        return
    condition: dict[str, object] = {
        "type": word,
        "status": "False" if message else "True",
        "reason": _reason(kind, standing) if message else "Scheduled",
        "message": message,
    }
    if old is not None and condition.items() <= old.items():
        return
    yield from _written(raw, condition, standing)
    if message:
        yield _write(raw, {}, ("Warning", "FailedScheduling", message))


def _reason(kind: str, standing: GroupStanding) -> str:
    if standing.reason == Reason.INVALID_GANG:
        return "Invalid" if kind == COMPOSITE else "SchedulerError"
    return "SchedulerError" if standing.reason in _ERRORS else "Unschedulable"


def _message(raw: Raw, standing: GroupStanding, *, alone: bool) -> str:
    """
    Write the scheduler's sentence, with the counts of a group alone, and what we know.
    """
    kind = str(raw.get("kind") or PODGROUP)
    why = f"{standing.reason}: {standing.message}"
    if standing.reason == Reason.WAITING_FOR_PODS:
        if kind == COMPOSITE:
            name = next((name for _, name, _ in named([raw])), "")
            said = f'waiting for composite pod group "{name}" tree to meet quorum'
            return f"{said}; {why}"
        return f"waiting for minCount pods from a gang to appear; {why}"
    if not alone or standing.reason in _AS_WRITTEN:
        return why
    placed = standing.running + standing.binding
    rest = standing.total - placed - standing.succeeded - standing.failed
    return (
        f"minCount ({standing.minimum}) cannot be satisfied: "
        f"{placed} scheduled, {rest} remaining; {why}"
    )


def _disrupted(standing: GroupStanding) -> dict[str, object]:
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": standing.message or "preempting to make room for another gang",
    }


def _written(
    raw: Raw, condition: dict[str, object], standing: GroupStanding
) -> Iterator[Write]:
    """
    Write a condition beside the others; its time changes only with its status.
    """
    before = conditions(raw)
    kind = condition["type"]
    old = next((c for c in before if c.get("type") == kind), None)
    if old is not None and condition.items() <= old.items():
        return
    same = old is not None and old.get("status") == condition["status"]
    time = old.get("lastTransitionTime") if old is not None and same else None
    stamped = {
        **condition,
        "observedGeneration": _generation(raw),
        "lastTransitionTime": time or moment(standing.now),
    }
    rest = [c for c in before if c.get("type") != kind]
    yield _write(raw, {"status": {"conditions": [*rest, stamped]}}, None)


def _write(raw: Raw, patch: Raw, event: tuple[str, str, str] | None) -> Write:
    kind = str(raw.get("kind") or PODGROUP)
    version = str(raw.get("apiVersion") or "").rpartition("/")[2]
    namespace, name, _ = next(named([raw]))
    return Write(
        group=GROUP,
        version=version or _VERSIONS[kind],
        plural=_PLURALS[kind],
        namespace=namespace,
        name=name,
        patch=patch,
        subresource="" if event else "status",
        event=event,
    )


def _generation(raw: Raw) -> int:
    try:
        return whole(mapping(raw, "metadata"), "generation") or 0
    except FieldError:
        return 0


def _goes_whole(raw: Raw) -> bool:
    try:
        return "all" in disruption_of(mapping(raw, "spec"), "spec")
    except FieldError:
        return False


_ALPHA_MODES = {"Pod": "single", "PodGroup": "all"}


def disruption_of(spec: Json, where: str) -> Json:
    """
    Give how a group is disrupted; in ``v1alpha2`` a word says what is a field now.
    """
    said = spec.get("disruptionMode")
    if isinstance(said, str) and said in _ALPHA_MODES:
        return {_ALPHA_MODES[said]: {}}
    return mapping(spec, "disruptionMode", where)


def _rigid(tree: Part) -> bool:
    """
    Tell whether every group of a tree is needed.
    """
    return all(map(_rigid, tree.parts)) and (
        not tree.parts or tree.min_groups in {None, len(tree.parts)}
    )
