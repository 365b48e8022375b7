"""
Kubernetes' own gangs, ``scheduling.k8s.io``: PodGroup and CompositePodGroup.

A pod names its PodGroup in ``spec.schedulingGroup``; a PodGroup below a
CompositePodGroup is a leaf of the gang that the topmost one stands for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.kept_claims import Remembered
from adapters.kube.dialects.native.answer import (
    COMPOSITE,
    GROUP,
    PODGROUP,
    answers,
    disruption_of,
)
from adapters.kube.dialects.native.tree import (
    Forest,
    GroupNode,
    forest_of,
    keys_of,
    leaves_below,
    part_of,
    templates_of,
    topology_of,
)
from adapters.kube.dialects.notes import (
    MOST_NUMBER,
    Notes,
    PriorityClasses,
    conditions,
    count,
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
from adapters.kube.objects.fields import FieldError, Json, mapping, text
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.pod_record import PodRecord
from models.queues import Queue
from models.topology import Topology
from models.why.reasons import Reason, Waiting

MOST_PRIORITY = 1_000_000_000
Around = tuple[PriorityClasses, Mapping[str, frozenset[str]]]
"""
What all claims depend on: the priority classes, and the templates of the Workloads.
"""
_POLICIES = frozenset({"", "PreemptLowerPriority", "Never"})


class Native:
    """
    The words of Kubernetes itself.
    """

    name = "native"
    resources: tuple[Resource, ...] = (
        Resource(group=GROUP, version="v1beta1", plural="workloads", kind="Workload"),
        Resource(group=GROUP, version="v1beta1", plural="podgroups", kind=PODGROUP),
        Resource(
            group=GROUP,
            version="v1alpha3",
            plural="compositepodgroups",
            kind=COMPOSITE,
        ),
    )

    def membership(self, pod: PodRecord) -> Membership | None:
        """
        Read the PodGroup that the pod's spec names.
        """
        return Membership(f"{pod.namespace}/{pod.group}") if pod.group else None

    def claims(
        self, objects: Objects, members: Mapping[str, tuple[PodRecord, ...]]
    ) -> Iterator[Claim]:
        """
        Read every tree: a PodGroup alone, or what a topmost CompositePodGroup holds.
        """
        around = (
            priority_classes(objects),
            templates_of(objects.of(GROUP, "Workload")),
        )
        remembered = objects.memo.own("claims of native", Remembered)
        remembered.begin(around)
        raws = (objects.of(GROUP, PODGROUP), objects.of(GROUP, COMPOSITE))
        forest = objects.memo.made_once("forest", raws, partial(forest_of, *raws))
        read = partial(_kept_claim, remembered, forest, members, around)
        for node in forest.roots:
            yield read(node)
        for node, parent in forest.orphans:
            facts = {"mate": parent, "why": "does not exist", "cause": "missing"}
            claim = read(node)
            yield replace(claim, refused=Waiting(Reason.WAITING_FOR_GROUP, facts))
        for node in forest.circles:
            detail = "its parents form a cycle"
            waiting = Waiting(Reason.INVALID_GANG, {"detail": detail})
            yield Claim(
                key=node.key, dialect="native", source=node.raw, refused=waiting
            )

    def queues(self, objects: Objects, warnings: list[str]) -> Iterable[Queue]:
        """
        Read none: there are no queues here.
        """
        del objects, warnings
        return ()

    def topologies(self, objects: Objects, warnings: list[str]) -> Iterator[Topology]:
        """
        Make a topology of one level of every label that a group wants its pods under.
        """
        del warnings  # a group whose keys cannot be read is refused with the field
        found: set[str] = set()
        for kind in (PODGROUP, COMPOSITE):
            for _, _, raw in named(objects.of(GROUP, kind)):
                try:
                    found.update(keys_of(mapping(raw, "spec")))
                except FieldError:
                    continue
        for key in sorted(found):
            yield Topology(name=topology_of(key), levels=(key,))

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Write whether the group was scheduled for the first time, once and for all.
        """
        return answers(claim, standing)


def _kept_claim(
    remembered: Remembered,
    forest: Forest,
    members: Mapping[str, tuple[PodRecord, ...]],
    around: Around,
    node: GroupNode,
) -> Claim:
    """
    Read a tree, unless nothing of it changed since it was read.
    """
    nodes = tuple(forest.below(node))
    source = tuple((each.raw, members.get(each.key, ())) for each in nodes)
    return remembered.claim(
        (node.kind, node.key), source, partial(_claim, nodes, forest, members, around)
    )


def _claim(
    nodes: Sequence[GroupNode],
    forest: Forest,
    members: Mapping[str, tuple[PodRecord, ...]],
    around: Around,
) -> Claim:
    """
    Read one tree; what cannot be obeyed of any node refuses the whole gang.
    """
    node, notes = nodes[0], Notes()
    classes, _ = around
    claim = Claim(key=node.key, dialect="native", source=node.raw)
    try:
        tree = part_of(node, forest, notes)
        alone = node.kind == PODGROUP
        leaves = {} if alone else leaves_below(node, forest)
        pods = [pod for each in nodes for pod in members.get(each.key, ())]
        priority = _priority(node, classes, notes)
        claim = Claim(
            key=node.key,
            dialect="native",
            tree=replace(tree, name="") if alone else tree,
            priority=priority,
            priority_class=text(node.spec, "priorityClassName") or None,
            created=created(node.raw, notes),
            over=_is_over(node),
            source=node.raw,
            placed={
                pod.key: leaf
                for key, leaf in leaves.items()
                for pod in members.get(key, ())
            },
            others=tuple(each.raw for each in nodes if each is not node),
        )
        _judge_all(nodes, priority, around, notes)
        _agree(pods, priority, classes, notes)
    except FieldError as error:
        notes.invalid(str(error))
    return replace(claim, refused=notes.refused, warnings=tuple(notes.warnings))


def _judge_all(
    nodes: Sequence[GroupNode], priority: int | None, around: Around, notes: Notes
) -> None:
    """
    Judge every node of a tree; all have the priority of the first, and one workload.
    """
    classes, workloads = around
    for each in nodes:
        _judge(each, workloads, notes)
        if _priority(each, classes, notes) != priority:
            what = f"the priority of {each.where} is not that of {nodes[0].where}"
            notes.refuse(Reason.CONFIG_CONFLICT, what)
    _one_workload(nodes, notes)


def _is_over(node: GroupNode) -> bool:
    """
    Tell a group that was scheduled once from one whose pods are still to come.

    A ``basic`` PodGroup needs none.
    """
    if node.kind == PODGROUP and "basic" in mapping(node.spec, "schedulingPolicy"):
        return True
    word = f"{node.kind}InitiallyScheduled"
    return any(
        said.get("type") == word and said.get("status") == "True"
        for said in conditions(node.raw)
    )


def _priority(node: GroupNode, classes: PriorityClasses, notes: Notes) -> int | None:
    """
    Give a group's priority: the number where it is said, else that of its class.
    """
    name = text(node.spec, "priorityClassName", node.where)
    value = count(
        node.spec, "priority", node.where, least=-MOST_NUMBER, most=MOST_NUMBER
    )
    if value is None:
        return classes.value(name)
    if value > MOST_PRIORITY and not name.startswith("system-"):
        notes.invalid(f"{node.where}.priority: {value} is more than {MOST_PRIORITY}")
    return value


def _judge(
    node: GroupNode, workloads: Mapping[str, frozenset[str]], notes: Notes
) -> None:
    """
    Judge the fields of one group that are not of its tree.
    """
    spec, where = node.spec, node.where
    if not is_subdomain(node.name):
        notes.invalid(f"{where}: the name is not an RFC 1123 subdomain")
    policy = text(spec, "preemptionPolicy", where)
    if policy not in _POLICIES:
        notes.invalid(f"{where}.preemptionPolicy: {policy!r} is not known")
    if policy == "Never":
        notes.warn(f"{where}.preemptionPolicy Never is not obeyed: it may evict others")
    _disruption(spec, where, notes)
    reference = mapping(spec, "workloadRef", where)
    if not reference:
        if node.kind == COMPOSITE or node.parent:
            notes.invalid(f"{where}.workloadRef: a group in a tree must set it")
        return
    workload = text(reference, "workloadName", where)
    template = text(reference, "templateName", where)
    known = workloads.get(f"{node.namespace}/{workload}")
    if known is None:
        missing = f"the Workload {workload} does not exist" if workload else _NO_NAME
        notes.warn(f"{where}.workloadRef: {missing}")
    elif template not in known:
        what = f"the Workload {workload} has no template {template!r}"
        notes.warn(f"{where}.workloadRef: {what}")


_NO_NAME = "it has no workloadName"


def _disruption(spec: Json, where: str, notes: Notes) -> None:
    mode = disruption_of(spec, where)
    if not mode:
        return
    if len(mode) != 1 or not mode.keys() <= {"single", "all"}:
        notes.invalid(
            f"{where}.disruptionMode: exactly one of single and all must be set"
        )
    elif "all" in mode:
        if "basic" in mapping(spec, "schedulingPolicy"):
            notes.invalid(f"{where}.disruptionMode: all needs a gang, this is basic")
        notes.warn(
            f"{where}.disruptionMode all holds for the minimum: "
            "pods beyond it may still be evicted one by one"
        )


def _one_workload(nodes: Iterable[GroupNode], notes: Notes) -> None:
    names = {text(mapping(node.spec, "workloadRef"), "workloadName") for node in nodes}
    if len(names - {""}) > 1:
        said = ", ".join(sorted(names - {""}))
        notes.invalid(f"one tree is of several Workloads: {said}")


def _agree(
    pods: Iterable[PodRecord],
    priority: int | None,
    classes: PriorityClasses,
    notes: Notes,
) -> None:
    """
    Refuse a gang whose pods differ in their scheduler, or from its priority.

    What has no priority is of an unknown class, and refused for that.
    """
    first: PodRecord | None = None
    for pod in pods:
        first = first or pod
        if pod.scheduler != first.scheduler:
            what = (
                f"spec.schedulerName of pod {pod.name} is {pod.scheduler!r}, "
                f"that of pod {first.name} is {first.scheduler!r}"
            )
            notes.refuse(Reason.CONFIG_CONFLICT, what)
        if priority is not None and classes.of_pod(pod) != priority:
            what = (
                f"the priority of pod {pod.name} is {classes.of_pod(pod)}, "
                f"that of its group is {priority}"
            )
            notes.refuse(Reason.CONFIG_CONFLICT, what)


DIALECT = Native()
