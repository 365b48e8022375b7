"""
Volcano's shape of PodGroup and Queue, served by three systems under three groups.

``scheduling.volcano.sh/v1beta1``, kube-batch's ``scheduling.incubator.k8s.io`` and
``scheduling.roc/v1beta1`` have the same fields; a dialect is (group, version, name).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.dialects.defaults import defaults_of
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
    Write,
)
from adapters.kube.dialects.volcano.answer import Served, answers
from adapters.kube.dialects.volcano.demanded_tiers import demanded
from adapters.kube.dialects.volcano.hyper_nodes import (
    HYPER_NODES,
    KIND,
    Tiers,
    tiers_of,
    topology_of,
)
from adapters.kube.dialects.volcano.queues import queue_notes, volcano_queues
from adapters.kube.dialects.volcano.subgroups import subgroups
from adapters.kube.dialects.volcano.tree import leaf_of, tree_of
from adapters.kube.objects.fields import FieldError, Json, mapping, text, texts
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.requests import amounts
from models.gangs import MatchPolicy, PodPhase
from models.queues import Queue
from models.resources import Resources
from models.topology import Topology

OLD_NAME = "scheduling.k8s.io/group-name"
PREEMPTABLE = "volcano.sh/preemptable"
DEFAULT_QUEUE = "default"
UNHEARD = (
    "volcano.sh/cooldown-time",
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
    "volcano.sh/numa-topology-policy",
    "volcano.sh/sla-waiting-time",
    "volcano.sh/qos-level",
)
"""
Annotations that change what Volcano's optional plugins do, and nothing here.
"""
Around = tuple[PriorityClasses, Mapping[str, Notes], Tiers]
"""
What all claims depend on: priority classes, what queues say, the tiers of HyperNodes.
"""
_LOST = frozenset({PodPhase.FAILED, PodPhase.TERMINATING})
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class VolcanoShaped:
    """
    The words of one system that serves PodGroups and Queues as Volcano does.
    """

    def __init__(self, group: str, versions: Sequence[str], name: str) -> None:
        self.name = name
        self.resources = tuple(
            Resource(
                group=group,
                version=version,
                plural=plural,
                kind=kind,
                namespaced=kind == "PodGroup",
            )
            for version in versions
            for plural, kind in (("podgroups", "PodGroup"), ("queues", "Queue"))
        )
        self.resources += (HYPER_NODES,)
        self._group = group
        self._served = Served(group, versions[0])
        policy = defaults_of(name).match_policy
        counts = policy is MatchPolicy.WAITING_RUNNING_SUCCEED
        self._gone = _LOST if counts else _LOST | {PodPhase.SUCCEEDED}

    def membership(self, pod: PodRecord) -> Membership | None:
        """
        Read the group from its annotation, or make one for its owner.
        """
        notes = pod.annotations
        name = notes.get(f"{self._group}/group-name") or notes.get(OLD_NAME)
        if not name and notes.get(f"{self._group}/group-min-member") and pod.owner:
            name = f"podgroup-{pod.owner.uid or pod.owner.name}"
        if not name:
            return None
        return Membership(f"{pod.namespace}/{name}", leaf_of(pod))

    def claims(
        self, objects: Objects, members: Mapping[str, tuple[PodRecord, ...]]
    ) -> Iterator[Claim]:
        """
        Read every PodGroup, and the gangs that only annotations of pods describe.
        """
        queues, memo = objects.of(self._group, "Queue"), objects.memo
        notes = memo.made_once(
            f"queues of {self.name}", (queues,), partial(queue_notes, queues)
        )
        raws = objects.of(*KIND)
        tiers = memo.made_once("tiers of HyperNodes", (raws,), partial(tiers_of, raws))
        around = (priority_classes(objects), notes, tiers)
        remembered = memo.own(f"claims of {self.name}", Remembered)
        remembered.begin(around)
        found: set[str] = set()
        for namespace, name, raw in named(objects.of(self._group, "PodGroup")):
            key = f"{namespace}/{name}"
            if key in found:
                continue
            found.add(key)
            pods = members.get(key, ())
            yield remembered.claim(
                key, (raw, pods), partial(self._claim, key, raw, pods, around)
            )
        for key in sorted(members.keys() - found):
            said = self._said_by(members[key])
            if said is not None:
                claim = self._claim(key, said, members[key], around)
                yield replace(claim, source=None)

    def queues(self, objects: Objects, warnings: list[str]) -> Iterator[Queue]:
        """
        Read the queues; one that is not Open takes nothing new.
        """
        yield from volcano_queues(objects.of(self._group, "Queue"), warnings)

    def topologies(self, objects: Objects, warnings: list[str]) -> Iterator[Topology]:
        """
        Make one of all HyperNodes; what is wrong with some is told with the nodes.
        """
        del warnings
        yield from topology_of(objects.of(*KIND))

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Write phase, counters and condition, as the scheduler of this system does.
        """
        return answers(self._served, claim, standing)

    def _claim(
        self,
        key: str,
        raw: Raw,
        pods: tuple[PodRecord, ...],
        around: Around,
    ) -> Claim:
        """
        Read one PodGroup; what cannot be obeyed refuses it alone.
        """
        classes, queue_words, tiers = around
        notes = Notes()
        if not is_subdomain(name := key.partition("/")[2]):
            notes.invalid(f"metadata.name: {name!r} is not an RFC 1123 subdomain")
        claim = Claim(key=key, dialect=self.name, source=raw)
        try:
            claim = self._read(claim, pods, (classes, tiers), notes)
            if not is_subdomain(queue := claim.queue or ""):
                notes.invalid(f"spec.queue: {queue!r} is not an RFC 1123 subdomain")
            _unheard(raw, pods, notes)
        except FieldError as error:
            notes.invalid(str(error))
        said = queue_words.get(claim.queue or "", Notes())
        return replace(
            claim,
            refused=notes.refused or said.refused,
            warnings=(*notes.warnings, *said.warnings),
        )

    def _read(
        self,
        bare: Claim,
        pods: tuple[PodRecord, ...],
        around: tuple[PriorityClasses, Tiers],
        notes: Notes,
    ) -> Claim:
        """
        Read what the spec of a PodGroup says.

        Raises
        ------
        FieldError
            When a field has another type than it should.
        """
        classes, tiers = around
        raw = bare.source or {}
        spec = mapping(raw, "spec")
        queue = text(spec, "queue", "spec") or DEFAULT_QUEUE
        class_name = text(spec, "priorityClassName", "spec")
        near = demanded(spec, "spec", tiers, notes)
        parted = subgroups(spec, pods, tiers, notes)
        if parted:
            tree, placed = parted
        else:
            tree, placed = tree_of(spec, pods, classes, notes, gone=self._gone), {}
        return replace(
            bare,
            tree=replace(tree, topology=near),
            placed=placed,
            queue=queue,
            priority=classes.value(class_name),
            priority_class=class_name or None,
            preemptible=_preemptible(raw, pods, notes),
            created=created(raw, notes),
            min_resources=_min_resources(spec),
            over=mapping(raw, "status").get("phase") == "Completed",
        )

    def _said_by(self, pods: Sequence[PodRecord]) -> Raw | None:
        """
        Write the PodGroup that annotations of pods without one ask for.
        """
        for pod in pods:
            said = pod.annotations
            least = said.get(f"{self._group}/group-min-member")
            if least is None or said.get(f"{self._group}/group-name"):
                continue
            spec: dict[str, object] = {
                "minMember": int(least) if least.isdecimal() else least,
                "priorityClassName": pod.priority_class,
                "queue": said.get(f"{self._group}/queue-name"),
            }
            if gate := said.get(f"{self._group}/group-min-resources"):
                spec["minResources"] = _json(gate)
            return {"spec": spec}
        return None


def _json(word: str) -> object:
    try:
        found: object = json.loads(word)
    except ValueError:
        return word
    return found


def _min_resources(spec: Json) -> Resources:
    """
    Read the gate; the names of resource quotas in it are none of resources.
    """
    place = "spec.minResources"
    raw = mapping(spec, "minResources", "spec")
    plain = {
        name: value
        for name, value in raw.items()
        if not name.startswith(("limits.", "requests.", "count/"))
    }
    return amounts({"minResources": plain}, "minResources", place.rpartition(".")[0])


def _preemptible(raw: Raw, pods: Sequence[PodRecord], notes: Notes) -> bool | None:
    """
    Say whether others may evict it: not when it or a pod of it says so.
    """
    meta = mapping(raw, "metadata")
    places = [texts(meta, "annotations", "metadata"), texts(meta, "labels", "metadata")]
    said = [where[PREEMPTABLE] for where in places if PREEMPTABLE in where][:1]
    for pod in pods:
        word = pod.annotations.get(PREEMPTABLE, pod.labels.get(PREEMPTABLE))
        said += [] if word is None else [word]
    if not said:
        return None
    if all(word in _TRUE for word in said):
        return True
    notes.warn(
        f"{PREEMPTABLE} is false: the gang is not evicted, "
        "and stays within what its queue deserves"
    )
    return False


def _unheard(raw: Raw, pods: Sequence[PodRecord], notes: Notes) -> None:
    """
    Warn of annotations that change nothing here.
    """
    said = set(texts(mapping(raw, "metadata"), "annotations", "metadata"))
    said.update(*(pod.annotations for pod in pods))
    for key in UNHEARD:
        if key in said:
            notes.warn(f"annotation {key} is not obeyed")


DIALECTS = (
    VolcanoShaped("scheduling.volcano.sh", ("v1beta1",), "volcano"),
    VolcanoShaped(
        "scheduling.incubator.k8s.io", ("v1alpha2", "v1alpha1"), "kube-batch"
    ),
    VolcanoShaped("scheduling.roc", ("v1beta1",), "roc"),
)
