"""
What is known and not read: kinds, and words of pods, each with what it would mean.

A pod that such a word puts into a gang, a place or a reservation would be planned by
half, so it waits; everything else here is counted and said.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.objects.fields import Json
from adapters.kube.objects.parts.part_keys import names_gpus_only, only_prefers_links
from models.nodes import HOSTNAME


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadWord:
    """
    A label or annotation of pods; ``waits`` says that its pod is not planned.

    ``placed`` is one that its own system carries out by a node selector: on the label
    that it names, or on hosts; ``grouped`` is an annotation by which another system has
    put the pod into a group of its own for it.
    """

    key: str
    means: str
    waits: bool = True
    placed: bool = False
    grouped: str = ""


_KUEUE = "kueue.x-k8s.io"
_KOORDINATOR = "scheduling.koordinator.sh"
_JOINT = f"{_KOORDINATOR}/device-joint-allocate"
_PARTITION = f"{_KOORDINATOR}/gpu-partition-spec"
_DOMAIN = "one domain for all pods of a Kueue workload"
WORDS: tuple[UnreadWord, ...] = (
    UnreadWord(key=f"{_KUEUE}/podset-required-topology", means=_DOMAIN, placed=True),
    UnreadWord(
        key=f"{_KUEUE}/podset-slice-required-topology", means=_DOMAIN, placed=True
    ),
    UnreadWord(
        key=f"{_KUEUE}/podset-slice-required-topology-constraints",
        means=_DOMAIN,
        placed=True,
    ),
    UnreadWord(
        key=f"{_KUEUE}/podset-preferred-topology",
        means="a preferred domain of a Kueue workload",
        waits=False,
    ),
    UnreadWord(
        key="yunikorn.apache.org/task-group-name", means="a task group of YuniKorn"
    ),
    UnreadWord(
        key="yunikorn.apache.org/task-groups", means="the task groups of YuniKorn"
    ),
    UnreadWord(
        key="yunikorn.apache.org/queue", means="a queue of YuniKorn", waits=False
    ),
    UnreadWord(key="godel.bytedance.com/pod-group-name", means="a PodGroup of Gödel"),
    UnreadWord(key="fluence.pod-group", means="a group of Fluence"),
    UnreadWord(key="fluence.group-size", means="the size of a group of Fluence"),
    UnreadWord(
        key="grove.io/podgang", means="a PodGang of Grove", grouped="pod-group-name"
    ),
    *(
        UnreadWord(key=key, means=means, waits=False, grouped="pod-group-name")
        for key, means in (
            ("priorityClassName", "the priority of the PodGroup that KAI makes"),
            ("kai.scheduler/preemptibility", "whether others may evict it in KAI"),
            ("kai.scheduler/preemption-delay", "when it may evict others in KAI"),
            ("kai.scheduler/staleness-grace-period", "when it is stale in KAI"),
        )
    ),
    UnreadWord(
        key="koordinator.sh/priority",
        means="an order among pods of one priority class of Koordinator",
        waits=False,
    ),
    UnreadWord(
        key="koordinator.sh/priority-class",
        means="a class of Koordinator for a pod of another priority",
        waits=False,
    ),
    UnreadWord(
        key=f"{_KOORDINATOR}/reservation-affinity", means="a reservation of Koordinator"
    ),
    UnreadWord(
        key=f"{_KOORDINATOR}/device-allocate-hint", means="which devices must be taken"
    ),
    UnreadWord(
        key=_JOINT,
        means="devices that must be close to one another",
    ),
    UnreadWord(
        key=_PARTITION,
        means="GPUs that must be linked",
    ),
)
"""
Words of pods; `docs/reference/dialects.md` lists them.
"""

_LABEL, _ANNOTATION = "a label", "an annotation"
_LIGHT = "pod-group.scheduling.sigs.k8s.io"
_GANG = "gang.scheduling.koordinator.sh"
PLACES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "scheduling.x-k8s.io/pod-group",
            _LIGHT,
            f"{_LIGHT}/name",
            f"{_LIGHT}/min-available",
            f"{_KUEUE}/pod-group-name",
        ),
        _LABEL,
    ),
    **dict.fromkeys(
        (
            f"{_GANG}/name",
            f"{_GANG}/min-available",
            "scheduling.k8s.io/group-name",
            "scheduling.volcano.sh/group-name",
            "pod-group-name",
            f"{_KUEUE}/pod-group-total-count",
        ),
        _ANNOTATION,
    ),
}
"""
Words that make gangs of pods, and where they are read: nobody reads them elsewhere.
"""

FIELDS: Mapping[str, str] = {
    "workloadRef": "gangs of scheduling.k8s.io/v1alpha1",
}
"""
Fields of a pod's spec for which it waits.
"""

NEVER = "spec.preemptionPolicy: Never"
"""
A field of pods that they are planned without: others may be evicted for them.
"""

KINDS: Mapping[tuple[str, str], str] = {
    (f"{_KUEUE}/*", "ClusterQueue"): "quotas",
    (f"{_KUEUE}/*", "Cohort"): "quotas",
    (f"{_KUEUE}/*", "LocalQueue"): "queues",
    (f"{_KUEUE}/*", "ResourceFlavor"): "kinds of nodes",
    (f"{_KUEUE}/*", "Topology"): "levels of nodes",
    (f"{_KUEUE}/*", "Workload"): "what is admitted",
    (f"{_KUEUE}/*", "WorkloadPriorityClass"): "priorities",
    ("scheduling.k8s.io/v1alpha1", "Workload"): "gangs",
    ("nodeinfo.volcano.sh/*", "Numatopology"): "NUMA nodes",
    ("flow.volcano.sh/*", "JobFlow"): "the order of jobs",
    (f"{_KOORDINATOR}/*", "Reservation"): "nodes held for some pods",
    ("quota.koordinator.sh/*", "ElasticQuotaProfile"): "trees of quotas",
    ("scheduling.godel.kubewharf.io/*", "PodGroup"): "gangs",
    ("grove.io/*", "PodCliqueSet"): "gangs",
    ("scheduler.grove.io/*", "PodGang"): "gangs",
    ("workload.codeflare.dev/*", "AppWrapper"): "gangs",
    ("trainer.kubeflow.org/*", "TrainJob"): "gangs",
    ("sparkoperator.k8s.io/*", "ScheduledSparkApplication"): "pods",
    ("serving.kserve.io/*", "InferenceService"): "pods",
    ("serving.kserve.io/*", "LLMInferenceService"): "pods",
    ("nvidia.com/*", "DynamoGraphDeployment"): "gangs",
    ("apps.nvidia.com/*", "NIMService"): "pods",
    ("flink.apache.org/*", "FlinkDeployment"): "pods",
    ("tekton.dev/*", "TaskRun"): "pods",
    ("tekton.dev/*", "PipelineRun"): "pods",
}
"""
What kinds of objects that are not read mean, by API version (any with ``*``) and kind.
"""

_READ_OF_OTHERS = frozenset({"Workload", "PodGroup", "Topology"})
_WORDS = {word.key: word for word in WORDS}


def is_unread(version: str, kind: str) -> bool:
    """
    Tell whether a kind of object is known and not read.
    """
    group = version.rpartition("/")[0]
    return (version, kind) in KINDS or (f"{group}/*", kind) in KINDS


_DEEPEST = 10


def makes_pods(value: object, depth: int = 0) -> bool:
    """
    Tell whether something holds a template of pods: a list of containers, or one.
    """
    if depth > _DEEPEST:
        return False
    if isinstance(value, list):
        return any(makes_pods(each, depth + 1) for each in value)
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("containers"), list):
        return True
    alone = value.get("container")
    if isinstance(alone, Mapping) and "image" in alone:
        return True
    return any(makes_pods(each, depth + 1) for each in value.values())


def called(version: str, kind: str) -> str:
    """
    Name a kind that is not read; one that is read of others with its version.
    """
    return f"{kind} of {version}" if kind in _READ_OF_OTHERS else kind


def counted_kinds(counts: Mapping[str, int]) -> Iterator[str]:
    """
    Write how many objects there are of each kind.
    """
    for kind, number in sorted(counts.items()):
        alone = number == 1 or " of " in kind
        yield f"{number:,} {kind if alone else _several(kind)}"


def _several(kind: str) -> str:
    """
    Name several objects of a kind: Queues, PriorityClasses, Topologies.
    """
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}{'es' if kind.endswith('s') else 's'}"


def unread_words(
    labels: Mapping[str, str], annotations: Mapping[str, str], spec: Json
) -> tuple[str, ...]:
    """
    Name the words and fields of a pod that are known and not read.
    """
    fields = tuple(f"spec.{key}" for key in FIELDS if spec.get(key))
    if spec.get("preemptionPolicy") == "Never":
        fields = (*fields, NEVER)
    fields = (*fields, *_elsewhere(labels, annotations))
    if _WORDS.keys().isdisjoint(labels) and _WORDS.keys().isdisjoint(annotations):
        return fields
    words = (
        key
        for key, word in _WORDS.items()
        if (key in labels or key in annotations) and word.grouped not in annotations
    )
    return (*fields, *words)


def _elsewhere(
    labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Iterator[str]:
    """
    Name the words that stand where nobody reads them, and nowhere else.
    """
    for here, right, there in (
        (annotations, labels, _ANNOTATION),
        (labels, annotations, _LABEL),
    ):
        for key in sorted(PLACES.keys() & here.keys()):
            if PLACES[key] != there and key not in right:
                yield f"{key} as {there}"


def why_waiting(
    unread: Iterable[str],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    selector: Mapping[str, str],
) -> Iterator[str]:
    """
    Say for which of its words that are not read a pod waits.
    """
    for name in unread:
        word = _WORDS.get(name)
        if word is None:
            means = FIELDS.get(name.removeprefix("spec."))
            if means is not None:
                yield f"{name} is not planned: it means {means}"
            continue
        kind, said = "label", labels.get(name)
        if said is None:
            kind, said = "annotation", annotations[name]
        if name == _JOINT and names_gpus_only(said):
            continue
        if name == _PARTITION and only_prefers_links(said):
            continue
        is_placed = word.placed and (said in selector or HOSTNAME in selector)
        if word.waits and not is_placed:
            yield f"{kind} {name} is not planned: it means {word.means}"
