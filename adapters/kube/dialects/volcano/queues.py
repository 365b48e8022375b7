"""
Volcano's queues: a share by weight, an amount deserved, and a capability never passed.

What a queue is guaranteed nobody else may use.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.gpu_quotas import counted, quota_amounts, say_parts
from adapters.kube.dialects.notes import MOST_NUMBER, Notes, closed, count, named
from adapters.kube.objects.fields import FieldError, Json, joined, mapping, text
from models.devices.gpu_counts import written_name
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
_TREE_WORDS = ("volcano.sh/hierarchy", "volcano.sh/hierarchy-weights")


def volcano_queues(raws: Iterable[Raw], warnings: list[str]) -> Iterator[Queue]:
    """
    Read the queues; one that cannot be read is closed, and warned of.

    A queue that names no parent is below the queue ``root`` where there is one.
    """
    found = {name: raw for _, name, raw in named(raws)}
    said = [each for raw in found.values() for each in _said(raw)]
    parts = say_parts(said)
    names = {*SHARED, *(name for each in said for name in each)}
    every = {counted(name, parts=parts) for name in names}
    top = "root" if "root" in found else None
    for name in sorted(found):
        try:
            yield _queue(name, found[name], sorted(every), top, parts=parts)
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
            _queue(name, raw, (), None, parts=say_parts(_said(raw)))
            _judge(f"Queue {name}", mapping(raw, "spec"), notes)
            _judge_annotations(f"Queue {name}", mapping(raw, "metadata"), notes)
    return found


def _queue(
    name: str, raw: Raw, resources: Iterable[str], top: str | None, *, parts: bool
) -> Queue:
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
    limits, quotas, sure = _amounts(spec, parts=parts)
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


def _amounts(spec: Json, *, parts: bool) -> tuple[Resources, Resources, Resources]:
    """
    Give what a queue can have, what it deserves, and what it is guaranteed.

    It deserves at least what it is guaranteed, and at most what it can have.
    """
    limits = quota_amounts(spec, "capability", "spec", parts=parts)
    deserved = quota_amounts(spec, "deserved", "spec", parts=parts)
    guarantee = mapping(spec, "guarantee", "spec")
    sure = quota_amounts(guarantee, "resource", "spec.guarantee", parts=parts)
    for name, amount in sure.items():
        if amount > deserved.get(name, amount):
            what = f"{written_name(name)} is more than the queue deserves"
            raise FieldError("spec.guarantee.resource", what)
    for name, amount in deserved.items():
        if amount > limits.get(name, amount):
            what = f"{written_name(name)} is more than its capability"
            raise FieldError("spec.deserved", what)
    return limits, {**sure, **deserved}, sure


def _said(raw: Raw) -> Iterator[Json]:
    """
    Walk what a queue says of resources anywhere.
    """
    with suppress(FieldError):
        spec = mapping(raw, "spec")
        yield mapping(spec, "capability")
        yield mapping(spec, "deserved")
        yield mapping(mapping(spec, "guarantee"), "resource")


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


def _judge_annotations(where: str, meta: Json, notes: Notes) -> None:
    """
    Note the tree of shares that annotations describe: only parents make one here.
    """
    said = mapping(meta, "annotations", "metadata")
    for word in _TREE_WORDS:
        if said.get(word):
            what = "say its place by spec.parent"
            notes.warn(f"{where}: annotation {word} is not obeyed: {what}")
