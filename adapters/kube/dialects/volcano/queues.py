"""
Volcano's queues: a share by weight, an amount deserved, and a capability never passed.

What a queue is guaranteed nobody else may use.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import MOST_NUMBER, Notes, closed, count, named
from adapters.kube.objects.fields import FieldError, Json, joined, mapping, text
from adapters.kube.objects.requests import amounts
from models.queues import Queue, QueueResource
from models.resources import CPU, GPU, LONGEST_SECONDS, MEMORY, Resources

MOST_WEIGHT = 65535
SHARED = (CPU, MEMORY, GPU)
"""
Resources that weights divide also where no queue names them.
"""
_NODE_GROUPS = ("nodeGroupAffinity", "nodeGroupAntiAffinity")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UNREAD = ("extendClusters", "type")


def volcano_queues(raws: Iterable[Raw], warnings: list[str]) -> Iterator[Queue]:
    """
    Read the queues; one that cannot be read is closed, and warned of.

    A queue that names no parent is below the queue ``root`` where there is one.
    """
    found = {name: raw for _, name, raw in named(raws)}
    every = {*SHARED, *(r for raw in found.values() for r in _named(raw))}
    top = "root" if "root" in found else None
    for name in sorted(found):
        try:
            yield _queue(name, found[name], sorted(every), top)
        except FieldError as error:
            warnings.append(closed(name, error))
            yield Queue(name=name, open=False)


def queue_notes(raws: Iterable[Raw]) -> Mapping[str, Notes]:
    """
    Say of each queue what its gangs should know: what of it is not obeyed.

    What is wrong with it is said where the queues are read.
    """
    found: dict[str, Notes] = {}
    for _, name, raw in named(raws):
        notes = found[name] = Notes()
        with suppress(FieldError):
            _queue(name, raw, (), None)
            _judge(f"Queue {name}", mapping(raw, "spec"), notes)
    return found


def _queue(name: str, raw: Raw, resources: Iterable[str], top: str | None) -> Queue:
    spec = mapping(raw, "spec")
    state = text(mapping(raw, "status"), "state", "status")
    weight = count(spec, "weight", "spec", least=1, most=MOST_WEIGHT)
    strategy = text(spec, "dequeueStrategy", "spec")
    if strategy not in {"", "fifo", "traverse"}:
        what = f"{strategy!r} is neither fifo nor traverse"
        raise FieldError("spec.dequeueStrategy", what)
    parent = text(spec, "parent", "spec") or top
    if parent == "root" and top is None:
        parent = None
    limits, quotas = _amounts(spec, "capability"), _quotas(spec)
    sure = _amounts(mapping(spec, "guarantee", "spec"), "resource", "spec.guarantee")
    return Queue(
        name=name,
        parent=None if name == "root" else parent,
        priority=count(spec, "priority", "spec", most=MOST_NUMBER) or 0,
        open=state in {"", "Open"},
        resources={
            resource: QueueResource(
                quota=quotas.get(resource, 0),
                limit=limits.get(resource),
                weight=1 if weight is None else weight,
                lend=quotas[resource] - sure[resource] if sure.get(resource) else None,
            )
            for resource in resources
        },
        reclaim_min_runtime=LONGEST_SECONDS if spec.get("reclaimable") is False else 0,
    )


def _quotas(spec: Json) -> Resources:
    """
    Give what a queue deserves: at least what it is guaranteed, at most it can have.
    """
    deserved, limits = _amounts(spec, "deserved"), _amounts(spec, "capability")
    guarantee = mapping(spec, "guarantee", "spec")
    sure = _amounts(guarantee, "resource", "spec.guarantee")
    for name, amount in sure.items():
        if amount > deserved.get(name, amount):
            what = f"{name} is more than the queue deserves"
            raise FieldError("spec.guarantee.resource", what)
    for name, amount in deserved.items():
        if amount > limits.get(name, amount):
            raise FieldError("spec.deserved", f"{name} is more than its capability")
    return {**sure, **deserved}


def _amounts(raw: Json, key: str, place: str = "spec") -> Resources:
    return amounts(raw, key, place, up=False)


def _named(raw: Raw) -> Iterator[str]:
    """
    List the resources that a queue names anywhere.
    """
    try:
        spec = mapping(raw, "spec")
        yield from mapping(spec, "capability")
        yield from mapping(spec, "deserved")
        yield from mapping(mapping(spec, "guarantee"), "resource")
    except FieldError:
        return


def _judge(where: str, spec: Json, notes: Notes) -> None:
    """
    Note what the queue asks for and gets not.
    """
    if text(spec, "dequeueStrategy", "spec") == "fifo":
        notes.warn(f"{where}: spec.dequeueStrategy fifo is not obeyed")
    affinity = mapping(spec, "affinity", "spec")
    for word in _NODE_GROUPS:
        place = joined("spec.affinity", word)
        if mapping(affinity, word, "spec.affinity").get(_REQUIRED):
            notes.unsupported(f"{where}: {place}: groups of nodes are not planned")
        elif affinity.get(word):
            notes.warn(f"{where}: {place} is not obeyed: it is a preference")
    for word in _UNREAD:
        if spec.get(word):
            notes.warn(f"{where}: spec.{word} is not obeyed")
