"""
What a dialect finds in one object: refusals, warnings, priorities, conditions.

Nothing here knows a dialect; what a word means stands in the dialect's own module.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    seconds,
    shown,
    text,
    whole,
)
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import MOST_PODS
from models.why.reasons import Reason, Waiting

SYSTEM_CLASSES: Mapping[str, int] = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
KOORDINATOR_CLASSES: Mapping[str, int] = {
    "koord-prod": 9000,
    "koord-mid": 7000,
    "koord-batch": 5000,
    "koord-free": 3000,
}
"""
What Koordinator installs, for manifests without it.
"""
MOST_NUMBER = 2**31 - 1
"""
The largest of the numbers that the API server stores as priorities.
"""


@dataclass(slots=True)
class Notes:
    """
    What is wrong with one gang: the first refusal, and every warning.
    """

    refused: Waiting | None = None
    warnings: list[str] = field(default_factory=list)

    def refuse(self, reason: Reason, detail: str) -> None:
        """
        Say why the gang cannot be planned; what was said first stands.
        """
        if self.refused is None:
            self.refused = Waiting(reason, {"detail": detail})

    def invalid(self, detail: str) -> None:
        """
        Say which field holds what its own system would not accept.
        """
        self.refuse(Reason.INVALID_GANG, detail)

    def unsupported(self, detail: str) -> None:
        """
        Say which field asks for what is not planned, and why.
        """
        self.refuse(Reason.UNSUPPORTED_CONSTRAINT, detail)

    def warn(self, sentence: str) -> None:
        """
        Say something that the user should know once.
        """
        self.warnings.append(sentence)


def named(raws: Iterable[Raw]) -> Iterator[tuple[str, str, Raw]]:
    """
    Walk objects by (namespace, name); those without a readable name are passed over.

    Who reads the objects in has told of them already.
    """
    for raw in raws:
        try:
            meta = mapping(raw, "metadata")
            name, namespace = text(meta, "name"), text(meta, "namespace")
        except FieldError:
            continue
        if name:
            yield namespace or "default", name, raw


def created(raw: Raw, notes: Notes) -> float | None:
    """
    Give the time at which an object was made.
    """
    try:
        return seconds(mapping(raw, "metadata"), "creationTimestamp", "metadata")
    except FieldError as error:
        notes.invalid(str(error))
        return None


def count(
    raw: Json, key: str, place: str, *, least: int = 0, most: int = MOST_PODS
) -> int | None:
    """
    Give a field that counts something; none where it is not said.
    """
    value = whole(raw, key, place)
    if value is not None and value < least:
        raise FieldError(f"{place}.{key}", f"{shown(value)} is less than {least}")
    if value is not None and value > most:
        raise FieldError(f"{place}.{key}", f"{shown(value)} is more than {most}")
    return value


@dataclass(frozen=True, slots=True)
class PriorityClasses:
    """
    The priorities that names stand for, and that of pods without a name.
    """

    values: Mapping[str, int]
    default: int = 0

    def value(self, name: str) -> int | None:
        """
        Give the priority of a class, of no class the default; none where unknown.
        """
        return self.values.get(name) if name else self.default

    def of_pod(self, pod: PodRecord) -> int | None:
        """
        Give a pod's priority: the number where it is said, else that of its class.
        """
        if pod.priority is not None:
            return pod.priority
        return self.value(pod.priority_class)


def priority_classes(objects: Objects) -> PriorityClasses:
    """
    Read the priority classes; those of the system and of Koordinator are known.
    """
    raws = objects.of("scheduling.k8s.io", "PriorityClass")
    return objects.memo.made_once("classes", (raws,), lambda: _classes(raws))


def _classes(raws: Iterable[Raw]) -> PriorityClasses:
    values, default = {**KOORDINATOR_CLASSES, **SYSTEM_CLASSES}, 0
    for _, name, raw in named(raws):
        try:
            value = count(raw, "value", "", least=-MOST_NUMBER, most=MOST_NUMBER) or 0
        except FieldError:
            continue
        values[name] = value
        if raw.get("globalDefault") is True:
            default = value
    return PriorityClasses(values, default)


def closed(name: str, error: FieldError, kind: str = "Queue") -> str:
    """
    Say why a queue takes nothing: it cannot be read.
    """
    return f"{kind} {name} cannot be read, so it is taken as closed: {error}"


def moment(now: float) -> str:
    """
    Write a time as Kubernetes does.
    """
    return datetime.fromtimestamp(int(now), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions(source: Raw | None, key: str = "conditions") -> list[dict[str, object]]:
    """
    List the conditions that an object carries.
    """
    try:
        found: Sequence[Json] = records(mapping(source or {}, "status"), key)
    except FieldError:
        return []
    return [dict(entry) for entry in found]
