"""
Reading gangs of coscheduling's family: who says a field, who wins, and what is wrong.

What is shared by Koordinator, ACK and scheduler-plugins stands here; what they decide
differently stands in their modules.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.coscheduling.keys import ALL_NAMES, FoundGang, Word
from adapters.kube.objects.fields import (
    FieldError,
    mapping,
    seconds,
    shown,
    texts,
    whole,
)
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.requests import check_name
from models.documents.written import MOST
from models.errors import QuantityError
from models.resources import (
    LARGEST_TOTAL,
    LONGEST_SECONDS,
    Resources,
    parse_quantity,
)
from models.why.reasons import NO_POD_GROUP, Reason, Waiting

_ENDED = frozenset({"Finished", "Failed"})


@dataclass(frozen=True, slots=True)
class GroupSaid:
    """
    A value with the field that says it.
    """

    value: str
    where: str


@dataclass(slots=True)
class GroupNotes:
    """
    What is wrong with one gang: the first thing that stops it, and all warnings.
    """

    key: str
    refused: Waiting | None = None
    warnings: list[str] = field(default_factory=list)

    def refuse(self, reason: Reason, where: str, what: str) -> None:
        """
        Stop the gang, unless something stops it already.
        """
        if self.refused is None:
            detail = f"{where}: {what}"
            self.refused = Waiting(reason, {"detail": detail, "field": where})

    def warn(self, where: str, what: str) -> None:
        """
        Tell the user something that stops nothing.
        """
        text = f"{where}: {what}"
        if text not in self.warnings:
            self.warnings.append(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFields:
    """
    A group object as read: what it says in its metadata, its spec and its status.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    minimum: int | None = None
    timeout: int | None = None
    min_resources: Resources = field(default_factory=dict)
    created: float | None = None
    phase: str = ""

    @property
    def over(self) -> bool:
        """
        Tell whether its controller says that it has ended.
        """
        return self.phase in _ENDED


def read_group(raw: Raw | None, notes: GroupNotes) -> GroupFields:
    """
    Read a PodGroup of either API group; a field that cannot be read stops the gang.
    """
    if raw is None:
        return GroupFields()
    try:
        meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
        status = mapping(raw, "status")
        phase = status.get("phase")
        return GroupFields(
            labels=texts(meta, "labels", "metadata"),
            annotations=texts(meta, "annotations", "metadata"),
            minimum=_min_member(spec, notes),
            timeout=_timeout(spec, notes),
            min_resources=totals(spec, "minResources", "spec"),
            created=seconds(meta, "creationTimestamp", "metadata"),
            phase=phase if isinstance(phase, str) else "",
        )
    except FieldError as error:
        notes.refuse(Reason.INVALID_GANG, error.field, error.what)
        return GroupFields()


def _min_member(spec: Raw, notes: GroupNotes) -> int | None:
    """
    Read ``spec.minMember``: at least 1 where it is said.
    """
    minimum = whole(spec, "minMember", "spec")
    if minimum is not None and not 1 <= minimum <= MOST:
        what = f"{minimum} is not between 1 and {MOST}"
        notes.refuse(Reason.INVALID_GANG, "spec.minMember", what)
        return None
    return minimum


def _timeout(spec: Raw, notes: GroupNotes) -> int | None:
    """
    Read ``spec.scheduleTimeoutSeconds``; what is not above 0 is as if not said.
    """
    timeout = whole(spec, "scheduleTimeoutSeconds", "spec")
    if timeout is not None and not 0 < timeout <= LONGEST_SECONDS:
        where = "spec.scheduleTimeoutSeconds"
        notes.warn(
            where, f"{timeout} is not a number of seconds to wait, so it is ignored"
        )
        return None
    return timeout


def totals(raw: Raw, key: str, place: str) -> dict[str, int]:
    """
    Read quantities that stand for a whole cluster, not for one pod.
    """
    found: dict[str, int] = {}
    for name, value in mapping(raw, key, place).items():
        where = f"{place}.{key}.{name}"
        check_name(name, where)
        if type(value) not in {int, str, float}:
            what = f"{shown(value)} is not a quantity such as 4, 500m or 16Gi"
            raise FieldError(where, what)
        try:
            found[name] = parse_quantity(name, value, most=LARGEST_TOTAL)
        except QuantityError as error:
            raise FieldError(where, str(error)) from error
    return found


def check_names(found: FoundGang, notes: GroupNotes) -> None:
    """
    Refuse a gang whose name breaks the rule, or whose pods name another one as well.
    """
    name = found.name
    if not is_subdomain(name):
        where = "metadata.name" if found.group is not None else _naming(found)
        what = f"{shown(name)} is not a lowercase RFC 1123 subdomain"
        notes.refuse(Reason.INVALID_GANG, where, what)
    for pod in found.speakers:
        for word in ALL_NAMES:
            other = word.of(pod.labels, pod.annotations)
            if other and other != name:
                what = f"pod {pod.key} names {shown(other)} here, and {name} elsewhere"
                notes.refuse(Reason.CONFIG_CONFLICT, str(word), what)


def _naming(found: FoundGang) -> str:
    """
    Say which word of its pods names a gang.
    """
    for pod in found.speakers:
        for word in ALL_NAMES:
            if word.of(pod.labels, pod.annotations) == found.name:
                return str(word)
    return "name"


def said_by_pods(
    pods: Sequence[PodRecord],
    words: Sequence[Word],
    notes: GroupNotes,
    *,
    must: bool = True,
) -> GroupSaid | None:
    """
    Give what a gang's pods say: each by its first word, all of them the same.

    Where they say different things the gang is refused if it ``must`` be one value,
    else the first pod by name is heard, and a warning says so.
    """
    heard: dict[str, tuple[PodRecord, Word]] = {}
    for pod in pods:
        said = [
            (value, word)
            for word in words
            if (value := word.of(pod.labels, pod.annotations)) is not None
        ]
        if not said:
            continue
        if len(said) > 1:
            first(notes, *(GroupSaid(value, str(word)) for value, word in said))
        heard.setdefault(said[0][0], (pod, said[0][1]))
    if not heard:
        return None
    (value, (pod, word)), *others = heard.items()
    if others:
        other, (second, _) = others[0]
        what = f"pod {pod.key} says {shown(value)}, pod {second.key} {shown(other)}"
        if must:
            notes.refuse(Reason.CONFIG_CONFLICT, str(word), what)
        else:
            notes.warn(str(word), f"{what}; the first is used")
    return GroupSaid(value, str(word))


def said_by_group(group: GroupFields, words: Iterable[Word]) -> GroupSaid | None:
    """
    Give what a group object says by label or annotation.
    """
    for word in words:
        value = word.of(group.labels, group.annotations)
        if value is not None:
            return GroupSaid(value, str(word))
    return None


def said_in_spec(value: int | None, where: str) -> GroupSaid | None:
    """
    Give what a field of a group object says.
    """
    return None if value is None else GroupSaid(str(value), where)


def first(notes: GroupNotes, *sources: GroupSaid | None) -> GroupSaid | None:
    """
    Give what the first source says; one after it that says otherwise is warned of.
    """
    said = [source for source in sources if source is not None]
    if not said:
        return None
    for other in said[1:]:
        if other.value != said[0].value:
            what = f"{shown(other.value)} gives way to {said[0].where} of "
            notes.warn(other.where, f"{what}{shown(said[0].value)}")
    return said[0]


def created_at(group: GroupFields, pods: Sequence[PodRecord]) -> float | None:
    """
    Say since when a gang exists: its object, else its oldest pod.
    """
    if group.created is not None:
        return group.created
    return min((pod.created for pod in pods if pod.created is not None), default=None)


def missing(found: FoundGang, notes: GroupNotes) -> None:
    """
    Let a gang wait whose pods name a PodGroup that does not exist.
    """
    if notes.refused is None:
        facts = {"mate": found.key, "why": "does not exist", "cause": NO_POD_GROUP}
        notes.refused = Waiting(Reason.WAITING_FOR_GROUP, facts)
