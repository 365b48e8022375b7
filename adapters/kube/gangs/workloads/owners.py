"""
Gangs without a group object: derived from who controls the pods, by the workload table.

Labels and owner references of pods are enough; the owner itself says sizes and minimums
better, where it is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.defaults import QUEUE_LABELS
from adapters.kube.dialects.defaults import WORKLOADS as DIALECT
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Claim, Objects
from adapters.kube.dialects.workloads import (
    ANY,
    WORKLOADS,
    Path,
    Workload,
)
from adapters.kube.gangs.workloads.workload_trees import (
    Members,
    at_path,
    plain,
    said_minimum,
    workload_tree,
)
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    seconds,
    text,
)
from adapters.kube.objects.pod_record import PodRecord
from models.why.reasons import Reason, Waiting

_HASH = "pod-template-hash"
BY_OWNER = {(rule.group, kind): rule for rule in WORKLOADS for kind in rule.kinds}
_BY_LABEL = [(label, rule) for rule in WORKLOADS for label in rule.named_by]


@dataclass(frozen=True, slots=True)
class Identity:
    """
    The controller that a gang stands for; ``copy`` numbers gangs of one controller.
    """

    namespace: str
    kind: str
    name: str
    copy: str = ""

    @property
    def gang(self) -> str:
        """
        The name of the gang, without its namespace.
        """
        return f"{self.name}-{self.copy}" if self.copy else self.name


@dataclass(frozen=True, slots=True)
class Derived:
    """
    A gang derived from its pods: what is claimed of it, and the leaf of each pod.

    ``unsized`` names the owner that would say its size and is not among the objects.
    """

    claim: Claim
    members: Sequence[tuple[PodRecord, str]]
    unsized: str = ""


def derived(
    pods: Iterable[PodRecord], objects: Objects, taken: Iterable[str]
) -> Iterator[Derived]:
    """
    Group pods by their controllers; each group is a gang.

    Parameters
    ----------
    pods
        Those that no dialect claims.
    objects
        Where owners are looked for.
    taken
        Keys of gangs that exist already; a derived one is then called by its kind too.
    """
    owners = Owners(objects)
    groups: dict[Identity, tuple[Workload, Members]] = {}
    for pod in pods:
        identity, rule = owners.of(pod)
        entry = groups.get(identity)
        if entry is None:
            entry = groups[identity] = (rule, [])
        entry[1].append((pod, _role(pod, rule)))
    _complete(groups, owners)
    counts: dict[str, int] = dict.fromkeys(taken, 1)
    for identity in groups:
        key = f"{identity.namespace}/{identity.gang}"
        counts[key] = counts.get(key, 0) + 1
    for identity, (rule, members) in groups.items():
        name = identity.gang
        if counts[f"{identity.namespace}/{name}"] > 1:
            name = f"{identity.kind.lower()}.{name}"
        yield _gang(f"{identity.namespace}/{name}", identity, rule, members, owners)


def _named_by_label(pod: PodRecord) -> tuple[Identity, Workload] | None:
    labels, owner = pod.labels, pod.owner
    for label, rule in _BY_LABEL:
        name = labels.get(label)
        if name and (pod.annotations.get(rule.unless) or "false") == "false":
            kind = rule.kinds[0] if len(rule.kinds) == 1 else ""
            if owner is not None and owner.kind in rule.kinds:
                kind, name = owner.kind, owner.name
            copy = labels.get(rule.copy_by, "") if rule.copy_by else ""
            return Identity(pod.namespace, kind, name, copy), rule
    return None


def _complete(
    groups: dict[Identity, tuple[Workload, Members]], owners: "Owners"
) -> None:
    """
    Put pods whose labels name their owner but not its kind to the others of that name.
    """
    for identity in [identity for identity in groups if not identity.kind]:
        rule, members = groups.pop(identity)
        named = [replace(identity, kind=kind) for kind in rule.kinds]
        same = next((other for other in named if other in groups), None)
        if same is not None:
            groups[same][1].extend(members)
            continue
        there = (other for other in named if owners.find(other, rule) is not None)
        groups[next(there, named[0])] = (rule, members)


_OTHER = "other"
"""
The role of pods that say none, in a gang in which others do.
"""
_SINGLE = Workload(group="", kinds=("Pod",), minimum="one")


def _role(pod: PodRecord, rule: Workload) -> str:
    for label in rule.roles_by:
        said = pod.labels.get(label)
        if said:
            return plain(rule.called.get(said, rule.rest or said))
    return ""


class Owners:
    """
    Finds the objects that control pods.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[tuple[str, str], dict[tuple[str, str], Raw]] = {}

    def of(self, pod: PodRecord) -> tuple[Identity, Workload]:
        """
        Say which controller a pod belongs to, and by which rule.
        """
        labels, owner = pod.labels, pod.owner
        if (found := _named_by_label(pod)) is not None:
            return found
        if owner is None:
            return Identity(pod.namespace, "Pod", pod.name), _SINGLE
        group = owner.api_version.rpartition("/")[0]
        rule = BY_OWNER.get((group, owner.kind), ANY)
        if rule.minimum == "each":
            return Identity(pod.namespace, "Pod", pod.name), _SINGLE
        kind, name = owner.kind or "Controller", owner.name
        if kind == "ReplicaSet":
            tail = f"-{labels.get(_HASH)}"
            above = self._deployment(pod.namespace, name)
            if name.endswith(tail):
                kind, name = "Deployment", name.removesuffix(tail)
            elif above:
                kind, name = "Deployment", above
        return Identity(pod.namespace, kind, name), rule

    def _deployment(self, namespace: str, name: str) -> str:
        """
        Give the Deployment that controls a ReplicaSet which is among the objects.
        """
        found = self._of("apps", "ReplicaSet").get((namespace, name))
        if found is None:
            return ""
        try:
            for each in records(mapping(found, "metadata"), "ownerReferences"):
                if each.get("controller") is True and each.get("kind") == "Deployment":
                    return text(each, "name")
        except FieldError:
            pass
        return ""

    def find(self, identity: Identity, rule: Workload) -> Raw | None:
        """
        Give the owner of a gang, if it is there.
        """
        found = self._of(rule.group, identity.kind).get(
            (identity.namespace, identity.name)
        )
        if found is None and identity.kind == "RayCluster":
            return self._of_ray_job(identity)
        return found

    def _of(self, group: str, kind: str) -> dict[tuple[str, str], Raw]:
        known = self._known.get((group, kind))
        if known is None:
            known = self._known[group, kind] = {
                (namespace, name): raw
                for namespace, name, raw in named(self._objects.of(group, kind))
            }
        return known

    def _of_ray_job(self, identity: Identity) -> Raw | None:
        """
        Find the RayJob whose cluster this is, and give it as a RayCluster would be.
        """
        for (namespace, _), raw in self._of("ray.io", "RayJob").items():
            spec, status = raw.get("spec"), raw.get("status")
            if not (isinstance(spec, Mapping) and isinstance(status, Mapping)):
                continue
            mine = status.get("rayClusterName") == identity.name
            if namespace == identity.namespace and mine:
                return {**raw, "spec": spec.get("rayClusterSpec")}
        return None


def _gang(
    key: str, identity: Identity, rule: Workload, members: Members, owners: Owners
) -> Derived:
    owner = owners.find(identity, rule)
    claim = Claim(key=key, dialect=DIALECT, source=owner)
    warnings = [
        f"{'.'.join(path)} is not read"
        for path in rule.in_vain
        if at_path(owner or {}, path) is not None
    ]
    if any(role for _, role in members):
        members = [(pod, role or _OTHER) for pod, role in members]
    try:
        tree = workload_tree(rule, members, owner or {}, warnings)
        claim = replace(
            claim,
            tree=tree,
            queue=_queue(owner or {}, rule),
            priority_class=_word(owner or {}, rule.priority),
            created=_created(owner or {}),
            warnings=tuple(warnings),
        )
    except FieldError as error:
        what = f"{identity.kind} {identity.name}: {error}"
        claim = replace(claim, refused=Waiting(Reason.INVALID_GANG, {"detail": what}))
    if not claim.tree.parts:
        members = [(pod, "") for pod, _ in members]
    return Derived(claim, members, _unsized(claim, identity, rule, members))


def _unsized(claim: Claim, identity: Identity, rule: Workload, members: Members) -> str:
    """
    Name the owner that would say how large a gang is, where nobody else says it.
    """
    tree = claim.tree
    known = claim.source or claim.refused or said_minimum(members, {}) is not None
    if not rule.roles:
        known = known or (tree.minimum, tree.min_pods) != (None, None)
    told = rule.size or rule.size_by or rule.roles
    if known or not told or rule.minimum == "one":
        return ""
    if any(rule.size_by in {**pod.labels, **pod.annotations} for pod, _ in members):
        return ""
    return f"{identity.kind} {identity.namespace}/{identity.name}"


def queue_said(labels: Mapping[str, Any], annotations: Mapping[str, Any]) -> str | None:
    """
    Give the queue that labels or annotations name.
    """
    for key in QUEUE_LABELS:
        value = labels.get(key) or annotations.get(key)
        if value and isinstance(value, str):
            return value
    return None


def _queue(owner: Json, rule: Workload) -> str | None:
    meta = mapping(owner, "metadata")
    said = queue_said(mapping(meta, "labels"), mapping(meta, "annotations"))
    return said or _word(owner, rule.queue)


def _word(owner: Json, path: Path) -> str | None:
    """
    Give a word that an owner says; none where it says none, or no word.
    """
    own = at_path(owner, path) if path else None
    return own if isinstance(own, str) and own else None


def _created(owner: Json) -> float | None:
    meta = mapping(owner, "metadata")
    return seconds(meta, "creationTimestamp", "metadata")
