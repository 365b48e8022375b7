"""
Pods that a word of their workload keeps together: what its controller adds to them.

Controllers turn these annotations into affinities when they make pods, so pods that are
made up get the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import Path, Workload
from adapters.kube.gangs.workloads.workload_trees import at_path, number_at, roles_of
from adapters.kube.objects.fields import FieldError, Json, mapping, records
from adapters.kube.objects.object_names import is_subdomain


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainWord:
    """
    An annotation that names a node label of which pods share one value.

    ``label`` is one of the pods by which they know each other; with ``alone`` no other
    pods that have it are there.  ``jobs`` is how many pods of a role are one job of a
    role, where each job is by itself; ``named`` are lists of levels with other names.
    """

    key: str
    label: str
    alone: bool = False
    jobs: Path = ()
    named: tuple[str, str] | None = None


_KAI = "kai.scheduler"
_LWS = "leaderworkerset.sigs.k8s.io"
WORDS: tuple[DomainWord, ...] = (
    DomainWord(
        key="alpha.jobset.sigs.k8s.io/exclusive-topology",
        label="jobset.sigs.k8s.io/job-key",
        alone=True,
        jobs=("template", "spec", "parallelism"),
    ),
    DomainWord(key=f"{_LWS}/exclusive-topology", label=f"{_LWS}/group-key", alone=True),
    DomainWord(
        key=f"{_KAI}/topology-required-placement",
        label="phalanx/made-up-of",
        named=(_KAI, "Topology"),
    ),
)
REFUSED: Mapping[str, str] = {
    f"{_LWS}/subgroup-exclusive-topology": "domains for parts of a group",
    f"{_KAI}/segment-size": "domains for parts of a gang",
    "alpha.jobset.sigs.k8s.io/node-selector": "nodes that are labelled for one job",
}
"""
Words of the same kind that are not obeyed: no pods are made up.
"""


@dataclass(frozen=True, slots=True)
class KeptNear:
    """
    What a word says of the pods of a role: the node label, and how many are one job.
    """

    word: DomainWord
    level: str
    jobs: int


def near_by_word(
    rule: Workload, owner: Json, objects: Objects
) -> Mapping[str, tuple[KeptNear, ...]]:
    """
    Give what keeps the pods of each role together; of all others under the empty role.

    Raises
    ------
    FieldError
        When a word is one that is not obeyed.
    """
    entries = {role: entry for role, entry, _ in roles_of(rule, owner)}
    everywhere = tuple(_said(owner, owner, objects, "metadata"))
    found = {"": everywhere}
    for role, entry in entries.items():
        own = at_path(entry, ("template", "metadata", "annotations"))
        both = {**entry, "metadata": {"annotations": own or {}}}
        said = {one.word.key: one for one in _said(owner, entry, objects, "metadata")}
        more = _said(both, entry, objects, "template.metadata")
        said |= {one.word.key: one for one in more}
        found[role] = tuple(said.values())
    return found


def _said(owner: Json, entry: Json, objects: Objects, place: str) -> Iterator[KeptNear]:
    said = at_path(owner, ("metadata", "annotations"))
    if not isinstance(said, Mapping):
        return
    for key, means in REFUSED.items():
        if key in said:
            raise FieldError(f"{place}.annotations[{key}]", f"{means} are not planned")
    for word in WORDS:
        level = said.get(word.key)
        if isinstance(level, str) and level:
            jobs = number_at(entry, word.jobs) if word.jobs else None
            yield KeptNear(word, _level(level, word, objects), jobs or 1)


def _level(said: str, word: DomainWord, objects: Objects) -> str:
    """
    Give the node label of a level that may be called by another name.
    """
    if word.named is not None:
        for topology in objects.of(*word.named):
            for level in records(mapping(topology, "spec"), "levels", "spec"):
                if level.get("alias") == said:
                    return str(level.get("nodeLabel"))
    return said


@dataclass(frozen=True, slots=True)
class MadeUpPod:
    """
    Which pod of a workload one is: of which copy and role, and its number there.
    """

    owner: Raw
    copy: int
    role: str
    number: int

    def own(self, near: KeptNear) -> str:
        """
        Name those that it must be near, as the value of a label.
        """
        meta = mapping(self.owner, "metadata")
        parts = [str(meta.get("namespace") or "default"), str(meta["name"])]
        each = [self.role, str(self.number // near.jobs)]
        text = ".".join([*parts, *(each if near.word.jobs else [str(self.copy)])])
        is_value = len(text) < 64 and is_subdomain(text)
        return text if is_value else sha256(text.encode()).hexdigest()[:40]


def kept_near(pod: Json, near: Iterable[KeptNear], place: MadeUpPod) -> Json:
    """
    Give a pod the labels and affinities that keep it near its own.
    """
    for one in near:
        pod = _kept(pod, one, place.own(one))
    return pod


def _kept(pod: Json, near: KeptNear, mine: str) -> Json:
    label, spec = near.word.label, pod["spec"]
    own = {"matchLabels": {label: mine}}
    spec = _with_term(spec, "podAffinity", _term(near, own))
    if near.word.alone:
        others = [
            {"key": label, "operator": "Exists"},
            {"key": label, "operator": "NotIn", "values": [mine]},
        ]
        term = {**_term(near, {"matchExpressions": others}), "namespaceSelector": {}}
        spec = _with_term(spec, "podAntiAffinity", term)
    labels = {**pod["metadata"]["labels"], label: mine}
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}, "spec": spec}


def _term(near: KeptNear, selector: Json) -> dict[str, Any]:
    return {"topologyKey": near.level, "labelSelector": selector}


def _with_term(spec: Json, kind: str, term: Json) -> Json:
    affinity = spec.get("affinity") or {}
    there = affinity.get(kind) or {}
    terms = [*(there.get(_REQUIRED) or ()), term]
    return {**spec, "affinity": {**affinity, kind: {**there, _REQUIRED: terms}}}


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
