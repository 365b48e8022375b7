"""
KAI: PodGroup ``scheduling.run.ai/v2alpha2``, Queue ``v2``, Topology; pods name both.

A PodGroup's queue, priority and SubGroups decide; pods say their group and SubGroup.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.dialects.defaults import POOL
from adapters.kube.dialects.kai.answer import (
    GROUP,
    STALE_SINCE,
    answers,
    latest,
    node_pool,
)
from adapters.kube.dialects.kai.queues import kai_queues, kai_topologies
from adapters.kube.dialects.kai.tree import Levels, leaf_names, levels_of, tree_of
from adapters.kube.dialects.kept_claims import Remembered
from adapters.kube.dialects.notes import (
    Notes,
    PriorityClasses,
    created,
    named,
    priority_classes,
)
from adapters.kube.dialects.protocol import (
    Claim,
    GroupStanding,
    Membership,
    Objects,
    Part,
    Write,
)
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    seconds,
    text,
    texts,
    whole,
)
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.pod_record import PodRecord
from models.errors import QuantityError
from models.queues import Queue
from models.resources import parse_duration
from models.topology import Topology
from models.why.reasons import Reason

MEMBER = "pod-group-name"
SUBGROUP = "kai.scheduler/subgroup-name"
OWN_CLASSES: Mapping[str, int] = {
    "train": 50,
    "build-preemptible": 75,
    "build": 100,
    "inference": 125,
}
"""
The priority classes that every installation brings.
"""
OWN_PRIORITY = 50
"""
The priority of a PodGroup that names no class.
"""


class Kai:
    """
    The words of KAI.
    """

    name = "kai"
    resources: tuple[Resource, ...] = (
        Resource(group=GROUP, version="v2alpha2", plural="podgroups", kind="PodGroup"),
        Resource(
            group=GROUP, version="v2", plural="queues", kind="Queue", namespaced=False
        ),
        Resource(
            group="kai.scheduler",
            version="v1alpha1",
            plural="topologies",
            kind="Topology",
            namespaced=False,
        ),
    )

    def membership(self, pod: PodRecord) -> Membership | None:
        """
        Read the group from its annotation and the SubGroup from its label.
        """
        group = pod.annotations.get(MEMBER)
        if not group:
            return None
        return Membership(f"{pod.namespace}/{group}", pod.labels.get(SUBGROUP, ""))

    def claims(
        self, objects: Objects, members: Mapping[str, tuple[PodRecord, ...]]
    ) -> Iterator[Claim]:
        """
        Read every PodGroup.
        """
        raws = objects.of("kai.scheduler", "Topology")
        levels = objects.memo.made_once(
            "levels of kai", (raws,), partial(levels_of, raws)
        )
        classes = priority_classes(objects)
        remembered = objects.memo.own("claims of kai", Remembered)
        remembered.begin((levels, classes))
        for namespace, name, raw in named(objects.of(GROUP, "PodGroup")):
            key = f"{namespace}/{name}"
            pods = members.get(key, ())
            yield remembered.claim(
                key,
                (raw, pods),
                partial(_claim, key, raw, pods, (classes, levels)),
            )

    def queues(self, objects: Objects, warnings: list[str]) -> Iterator[Queue]:
        """
        Read the queues, those without a parent that they name left out.
        """
        yield from kai_queues(objects.of(GROUP, "Queue"), warnings)

    def topologies(self, objects: Objects, warnings: list[str]) -> Iterator[Topology]:
        """
        Read the topologies, outermost level first as they are written.
        """
        yield from kai_topologies(objects.of("kai.scheduler", "Topology"), warnings)

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Write the condition of this node pool, and the times that KAI keeps.
        """
        return answers(claim, standing)


def _claim(
    key: str,
    raw: Raw,
    pods: tuple[PodRecord, ...],
    around: tuple[PriorityClasses, Levels],
) -> Claim:
    """
    Read one PodGroup; what cannot be obeyed refuses it alone.
    """
    classes, levels = around
    notes = Notes()
    if not is_subdomain(name := key.partition("/")[2]):
        notes.invalid(f"metadata.name: {name!r} is not an RFC 1123 subdomain")
    claim = Claim(key=key, dialect="kai", source=raw)
    try:
        spec = mapping(raw, "spec")
        tree = tree_of(spec, levels, notes)
        _check_pods(pods, leaf_names(tree), notes)
        priority, class_name = _priority(spec, classes)
        claim = Claim(
            key=key,
            dialect="kai",
            tree=tree,
            queue=text(spec, "queue", "spec") or None,
            priority=priority,
            priority_class=class_name,
            preemptible=_preemptible(spec, priority, tree, notes),
            created=created(raw, notes),
            timed_out=_parked(raw, spec, notes),
            stale_after=_stale_after(spec),
            stale_since=_stale_since(raw),
            silent=spec.get("markUnschedulable") is False,
            source=raw,
        )
        _delay(spec, notes)
        claim = replace(claim, nodes=_pool(raw, pods, notes))
    except FieldError as error:
        notes.invalid(str(error))
    return replace(claim, refused=notes.refused, warnings=tuple(notes.warnings))


def _priority(spec: Json, classes: PriorityClasses) -> tuple[int | None, str | None]:
    """
    Give the priority where it is known, and the class where it must still be found.
    """
    name = text(spec, "priorityClassName", "spec")
    if not name:
        return OWN_PRIORITY, None
    found = classes.values.get(name, OWN_CLASSES.get(name))
    return (None, name) if found is None else (found, None)


def _preemptible(
    spec: Json, priority: int | None, tree: Part, notes: Notes
) -> bool | None:
    """
    Say whether others may evict it: as written, else when its priority is below 100.

    Of a gang whose core alone is not preemptible all pods are taken to be so.
    """
    word = text(spec, "preemptibility", "spec")
    match word:
        case "preemptible":
            return True
        case "non-preemptible":
            return False
        case "":
            return None if priority is None else priority < 100
        case "semi-preemptible":
            if not _needs_any(tree):
                return True
            notes.warn(
                "spec.preemptibility: semi-preemptible is read as non-preemptible: "
                "pods beyond the minimum are not evicted and keep to the quota too"
            )
            return False
        case _:
            what = (
                f"{word!r} is neither preemptible, non-preemptible nor semi-preemptible"
            )
            notes.invalid(f"spec.preemptibility: {what}")
    return None


def _needs_any(tree: Part) -> bool:
    """
    Tell whether a gang needs any pod, so that it has a core.
    """
    if not tree.parts:
        return tree.minimum != 0
    least = len(tree.parts) if tree.min_groups is None else tree.min_groups
    return least > 0 and any(map(_needs_any, tree.parts))


def _parked(raw: Raw, spec: Json, notes: Notes) -> bool:
    """
    Tell whether the group was given up in this node pool until something changes.
    """
    tries = whole(spec, "schedulingBackoff", "spec")
    if tries is None or tries == -1:
        return False
    if tries != 1:
        notes.invalid(f"spec.schedulingBackoff: {tries} is neither -1 nor 1")
        return False
    mark = latest(raw)
    if mark is None or mark.get("nodePool") != node_pool(raw):
        return False
    notes.warn(
        "spec.schedulingBackoff is 1 and the PodGroup is marked "
        "UnschedulableOnNodePool: it is left alone until the mark is removed"
    )
    return True


def _stale_after(spec: Json) -> int | None:
    """
    Give the time after which a gang below its minimum is stale; negative is never.

    KAI's own default is a setting of its scheduler, so here it is one of the policy.
    """
    word = text(spec, "stalenessGracePeriod", "spec")
    if word.startswith("-"):
        _duration(word[1:], "spec.stalenessGracePeriod")
        return -1
    return _duration(word, "spec.stalenessGracePeriod") if word else None


def _duration(word: str, place: str) -> int:
    try:
        return parse_duration(word)
    except QuantityError as error:
        raise FieldError(place, str(error)) from error


def _stale_since(raw: Raw) -> int | None:
    """
    Give the time at which it was first seen below its minimum.
    """
    notes = texts(mapping(raw, "metadata"), "annotations", "metadata")
    found = seconds(notes, STALE_SINCE, "metadata.annotations")
    return None if found is None else int(found)


def _delay(spec: Json, notes: Notes) -> None:
    word = text(spec, "preemptionDelay", "spec")
    if word and _duration(word, "spec.preemptionDelay"):
        notes.warn(
            f"spec.preemptionDelay {word} is not obeyed: "
            "the gang may evict others as soon as it is ready"
        )


def _pool(
    raw: Raw, pods: tuple[PodRecord, ...], notes: Notes
) -> tuple[tuple[str, str], ...]:
    """
    Give the label that the nodes of its pool have; without one it is every node.
    """
    pool = texts(mapping(raw, "metadata"), "labels", "metadata").get(POOL)
    if not pool:
        return ()
    for pod in pods:
        for key, value in pod.demand.selector:
            if key == POOL and value != pool:
                what = f"the nodeSelector of pod {pod.name} says {value}"
                where = f"metadata.labels[{POOL}]"
                notes.refuse(Reason.CONFIG_CONFLICT, f"{where}: {pool}, but {what}")
    return ((POOL, pool),)


def _check_pods(
    pods: tuple[PodRecord, ...], leaves: frozenset[str], notes: Notes
) -> None:
    """
    Refuse pods of a SubGroup that does not exist.
    """
    for pod in pods:
        leaf = pod.labels.get(SUBGROUP, "")
        if leaf not in leaves:
            what = f"has no leaf SubGroup {leaf!r}" if leaf else "has SubGroups"
            where = f"pod {pod.name}: label {SUBGROUP}" if leaf else f"pod {pod.name}"
            said = "" if leaf else f", the pod names none in its label {SUBGROUP}"
            notes.refuse(Reason.CONFIG_CONFLICT, f"{where}: the PodGroup {what}{said}")


DIALECT = Kai()
