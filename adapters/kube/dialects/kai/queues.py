"""
KAI's queues and topologies: numbers left out are 0, and -1 is unlimited.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import MOST_NUMBER, closed, count, named
from adapters.kube.objects.fields import FieldError, Json, mapping, records, shown, text
from models.errors import QuantityError
from models.queues import Queue, QueueResource
from models.resources import (
    CPU,
    GPU,
    GPU_SHARE,
    MEMORY,
    SHARES_PER_GPU,
    parse_duration,
)
from models.topology import Topology

UNITS: Mapping[str, tuple[str, int]] = {
    "cpu": (CPU, 1),
    "memory": (MEMORY, 10**6),
    "gpu": (GPU, 1),
}
"""
KAI's names of resources: ours, and our units in one of KAI's.

KAI writes milli-CPU, millions of bytes and GPUs.
"""
_FINEST = 1000
"""
In so many parts of a GPU quotas count.
"""
PRIORITY = 100
MOST = 10**12
"""
The largest number that a queue may say, in whatever unit.
"""


def kai_queues(raws: Iterable[Raw], warnings: list[str]) -> Iterator[Queue]:
    """
    Read the queues; one that cannot be read is closed, and warned of.
    """
    found = {name: raw for _, name, raw in named(raws)}
    scale = _scale(found.values())
    for name in sorted(found):
        try:
            yield _queue(name, found[name], scale)
            warnings += _rounded(name, found[name])
        except FieldError as error:
            warnings.append(closed(name, error))
            yield Queue(name=name, open=False)


def kai_topologies(raws: Iterable[Raw], warnings: list[str]) -> Iterator[Topology]:
    """
    Read the topologies; one that cannot be read is left out and warned of.
    """
    for _, name, raw in named(raws):
        try:
            labels = tuple(label for label, _ in levels_in(raw))
        except FieldError as error:
            warnings.append(f"Topology {name} is left out: {error}")
            continue
        yield Topology(name=name, levels=labels)


def levels_in(raw: Raw) -> list[tuple[str, str]]:
    """
    List the levels of a topology, outermost first: the node label and the alias.
    """
    found: dict[str, str] = {}
    place = "spec.levels"
    for index, level in enumerate(records(mapping(raw, "spec"), "levels", "spec")):
        label = text(level, "nodeLabel", f"{place}[{index}]")
        alias = text(level, "alias", f"{place}[{index}]")
        if not label:
            raise FieldError(f"{place}[{index}].nodeLabel", "not said")
        if label in found:
            raise FieldError(f"{place}[{index}].nodeLabel", f"{label} is said twice")
        found[label] = alias
    if not found:
        raise FieldError(place, "there is no level")
    return list(found.items())


def _queue(name: str, raw: Raw, scale: int) -> Queue:
    spec = mapping(raw, "spec")
    resources = mapping(spec, "resources", "spec")
    priority = count(spec, "priority", "spec", least=-MOST_NUMBER, most=MOST_NUMBER)
    return Queue(
        name=name,
        parent=text(spec, "parentQueue", "spec") or None,
        priority=PRIORITY if priority is None else priority,
        resources=dict(_rule(resources, word, scale) for word in UNITS),
        preempt_min_runtime=_duration(spec, "preemptMinRuntime"),
        reclaim_min_runtime=_duration(spec, "reclaimMinRuntime"),
    )


def _rounded(name: str, raw: Raw) -> Iterator[str]:
    """
    Say which numbers of GPUs are rounded down: queues hold thousandths.
    """
    said = mapping(mapping(mapping(raw, "spec"), "resources"), "gpu")
    for key in ("quota", "limit"):
        number = _number(said, key, least=-1)
        thousandths = int(number * _FINEST)
        if thousandths != number * _FINEST:
            place = f"Queue {name}, spec.resources.gpu.{key}"
            what = f"{said[key]} counts as {thousandths / _FINEST:.12g}"
            yield f"{place}: {what}: GPUs count in thousandths"


def _rule(resources: Json, word: str, scale: int) -> tuple[str, QueueResource]:
    """
    Read one resource's numbers; those of GPUs count parts, where one is not whole.
    """
    place = f"spec.resources.{word}"
    raw = mapping(resources, word, "spec.resources")
    quota, limit = (_bound(raw, key, place) for key in ("quota", "limit"))
    name, size = UNITS[word]
    unit = 1
    if name == GPU and any(bound and bound.denominator > 1 for bound in (quota, limit)):
        name, size, unit = GPU_SHARE, _FINEST, SHARES_PER_GPU // _FINEST

    def amount(bound: Fraction | None) -> int | None:
        return None if bound is None else int(bound * size) * unit

    weight = int(_number(raw, "overQuotaWeight", place) * scale)
    return name, QueueResource(quota=amount(quota), limit=amount(limit), weight=weight)


def _bound(raw: Json, key: str, place: str) -> Fraction | None:
    """
    Give a quota or limit in KAI's unit; -1 is unlimited.
    """
    number = _number(raw, key, place, least=-1)
    if number == -1:
        return None
    if number < 0:
        raise FieldError(f"{place}.{key}", f"{shown(raw[key])} is neither -1 nor more")
    return number


def _number(raw: Json, key: str, place: str = "", *, least: int = 0) -> Fraction:
    value = raw.get(key)
    if value is None:
        return Fraction(0)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if least <= (number := Fraction(str(value))) <= MOST:
                return number
        except ValueError:
            pass
    raise FieldError(f"{place}.{key}", f"{shown(value)} is not a number from {least}")


def _duration(spec: Json, key: str) -> int:
    word = text(spec, key, "spec")
    try:
        return parse_duration(word) if word else 0
    except QuantityError as error:
        raise FieldError(f"spec.{key}", str(error)) from error


def _scale(raws: Iterable[Raw]) -> int:
    """
    Say by how much all weights are multiplied so that none is lost to rounding.
    """
    most = 1
    for raw in raws:
        try:
            resources = mapping(mapping(raw, "spec"), "resources")
            for word in UNITS:
                weight = _number(mapping(resources, word), "overQuotaWeight")
                most = max(most, min(weight.denominator, 1000))
        except FieldError:
            continue
    return 1 if most == 1 else 1000
