"""
The words of coscheduling's family: which keys name a gang, and whose rules hold for it.

Koordinator, ACK and scheduler-plugins share labels, annotations and two API groups, so
every gang is given to exactly one of them, by the words that its pods and object use.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Membership, Objects
from adapters.kube.objects.fields import FieldError, mapping
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED

SIGS = "scheduling.sigs.k8s.io"
X_K8S = "scheduling.x-k8s.io"
VERSION = "v1alpha1"
POD_GROUP = "PodGroup"

PLUGIN = "scheduling.x-k8s.io/pod-group"
REFERENCE = "pod-group.scheduling.sigs.k8s.io"
LIGHT_NAME = f"{REFERENCE}/name"
LIGHT_MIN = f"{REFERENCE}/min-available"
LIGHT_GROUPS = f"{REFERENCE}/groups"
LIGHT_POLICY = f"{REFERENCE}/match-policy"
_LIGHT = (LIGHT_NAME, LIGHT_MIN, LIGHT_GROUPS, LIGHT_POLICY)
_GANG = "gang.scheduling.koordinator.sh"
GANG_NAME = f"{_GANG}/name"
GANG_MIN = f"{_GANG}/min-available"
GANG_TOTAL = f"{_GANG}/total-number"
GANG_MODE = f"{_GANG}/mode"
GANG_WAIT = f"{_GANG}/waiting-time"
GANG_GROUPS = f"{_GANG}/groups"
GANG_POLICY = f"{_GANG}/match-policy"
GANG_TIMEOUT = f"{_GANG}/timeout"
GANG_TOPOLOGY = f"{_GANG}/network-topology-spec"
GANG_INDEX = f"{_GANG}/network-topology-index"
QUOTA_NAME = "quota.scheduling.koordinator.sh/name"
PREEMPTIBLE = "quota.scheduling.koordinator.sh/preemptible"
_LABELS = (PLUGIN, REFERENCE, *_LIGHT, QUOTA_NAME, PREEMPTIBLE)
_ANNOTATIONS = (
    GANG_NAME,
    GANG_MIN,
    GANG_TOTAL,
    GANG_MODE,
    GANG_WAIT,
    GANG_GROUPS,
    GANG_POLICY,
    GANG_TIMEOUT,
    GANG_TOPOLOGY,
    LIGHT_POLICY,
)


@dataclass(frozen=True, slots=True)
class Word:
    """
    A key of pods or of a group object, as label or as annotation.
    """

    kind: Literal["label", "annotation"]
    key: str
    shown: str

    def __str__(self) -> str:
        return self.shown

    def of(self, labels: Mapping[str, str], notes: Mapping[str, str]) -> str | None:
        """
        Give what is said under this key; none where it is not there.
        """
        return (labels if self.kind == "label" else notes).get(self.key)


def label(key: str) -> Word:
    """
    Name a label.
    """
    return Word("label", key, f"label {key}")


def annotation(key: str) -> Word:
    """
    Name an annotation.
    """
    return Word("annotation", key, f"annotation {key}")


ALL_NAMES = (
    label(PLUGIN),
    label(REFERENCE),
    label(LIGHT_NAME),
    annotation(GANG_NAME),
)
"""
Where a pod names its gang; the first that is said is heard.
"""


class KeyRules(StrEnum):
    """
    Whose rules hold for a gang.
    """

    KOORDINATOR = "Koordinator"
    ACK = "ACK"
    PLUGINS = "scheduler-plugins"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGang:
    """
    A gang as it is found: its object, if it has one, its pods, and whose rules hold.

    ``speakers`` are the pods that speak for it: of those that have not ended, the first
    by name of all that say the same; where all have ended, of all.
    """

    key: str
    rules: KeyRules
    pods: tuple[PodRecord, ...] = ()
    speakers: tuple[PodRecord, ...] = ()
    group: Raw | None = None
    api_group: str = ""

    @property
    def namespace(self) -> str:
        """
        The namespace of the gang.
        """
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """
        The name of the gang in its namespace.
        """
        return self.key.partition("/")[2]


def membership(pod: PodRecord) -> Membership | None:
    """
    Give the gang that a pod names, by the first of :data:`ALL_NAMES` that it says.

    All three systems answer alike; which of them claims the gang is decided once.
    """
    name = pod.labels.get(PLUGIN) or _sigs_name(pod)
    return Membership(f"{pod.namespace}/{name}") if name else None


def _sigs_name(pod: PodRecord) -> str:
    """
    Give the gang that a pod names in the words of Koordinator and ACK; "" for none.
    """
    labels = pod.labels
    return (
        labels.get(REFERENCE)
        or labels.get(LIGHT_NAME)
        or pod.annotations.get(GANG_NAME, "")
    )


def _is_light(pod: PodRecord) -> bool:
    """
    Tell whether a pod carries a word that only ACK gives as a label.
    """
    return any(key in pod.labels for key in _LIGHT)


class Finder:
    """
    Finds the gangs of a cluster once for all three dialects, which ask it in turn.

    What was found of a gang stands as long as its pods and its objects are the same.
    """

    def __init__(self) -> None:
        self._objects: Objects | None = None
        self._members: Mapping[str, tuple[PodRecord, ...]] = {}
        self._found: dict[KeyRules | None, dict[str, tuple[_Source, FoundGang]]] = {}
        self._listed: dict[KeyRules | None, tuple[FoundGang, ...]] = {}

    def found(
        self,
        objects: Objects,
        members: Mapping[str, tuple[PodRecord, ...]],
        *,
        family: KeyRules | None = None,
    ) -> tuple[FoundGang, ...]:
        """
        List every gang of group objects and of pods, by key, and whose rules hold.

        What Koordinator and ACK both read is ACK's where labels say it, else
        Koordinator's; ``family`` says that only one of the two is there.
        """
        if objects is not self._objects or members != self._members:
            self._objects, self._members, self._listed = objects, members, {}
        if family not in self._listed:
            known = self._found.get(family, {})
            fresh = dict(_found_gangs(objects, members, family, known))
            self._found[family] = fresh
            self._listed[family] = tuple([found for _, found in fresh.values()])
        return self._listed[family]


_Source = tuple[tuple[PodRecord, ...], Raw | None, Raw | None]


def _found_gangs(
    objects: Objects,
    members: Mapping[str, tuple[PodRecord, ...]],
    family: KeyRules | None,
    known: Mapping[str, tuple[_Source, FoundGang]],
) -> Iterable[tuple[str, tuple[_Source, FoundGang]]]:
    """
    Find each gang, or give what is ``known`` of it from the same pods and objects.
    """
    sigs = _by_key(objects.of(SIGS, POD_GROUP))
    x_k8s = _by_key(objects.of(X_K8S, POD_GROUP))
    for key in sorted({*sigs, *x_k8s, *members}):
        source = members.get(key, ()), sigs.get(key), x_k8s.get(key)
        before = known.get(key)
        if before is not None and before[0] == source:
            yield key, before
        else:
            yield key, (source, _found(key, source, family))


def _found(key: str, source: _Source, family: KeyRules | None) -> FoundGang:
    pods, sigs, x_k8s = source
    speakers = _speakers(pods)
    names = any(_sigs_name(pod) for pod in speakers)
    plugin = any(PLUGIN in pod.labels for pod in speakers)
    rules, group, api_group = KeyRules.PLUGINS, x_k8s, X_K8S
    if x_k8s is None:
        is_plugin = plugin and not names
    else:
        is_plugin = plugin or not (names or _labelled(x_k8s))
    if not is_plugin:
        light = any(map(_is_light, speakers)) or _labelled(sigs)
        newer = x_k8s is not None and (light or sigs is None)
        rules = family or (KeyRules.ACK if light or newer else KeyRules.KOORDINATOR)
        if rules is KeyRules.KOORDINATOR or not newer:
            group, api_group = sigs, SIGS
    return FoundGang(
        key=key,
        rules=rules,
        pods=pods,
        speakers=speakers,
        group=group,
        api_group=api_group,
    )


def _speakers(pods: tuple[PodRecord, ...]) -> tuple[PodRecord, ...]:
    """
    Give one pod for each thing that is said: pods of one template say the same.
    """
    return _first_of_each([pod for pod in pods if pod.phase not in FINISHED]) or (
        _first_of_each(pods)
    )


def _first_of_each(pods: Iterable[PodRecord]) -> tuple[PodRecord, ...]:
    alike: dict[tuple[int, int], PodRecord] = {}
    for pod in pods:
        shared = id(pod.labels), id(pod.annotations)
        other = alike.get(shared)
        if other is None or pod.name < other.name:
            alike[shared] = pod
    said: dict[tuple[str | None, ...], PodRecord] = {}
    for pod in sorted(alike.values(), key=lambda pod: pod.name):
        labels, notes = pod.labels, pod.annotations
        words = (*map(labels.get, _LABELS), *map(notes.get, _ANNOTATIONS))
        said.setdefault(words, pod)
    return tuple(said.values())


def _labelled(group: Raw | None) -> bool:
    """
    Tell whether a group object carries ACK's labels.
    """
    if group is None:
        return False
    labels = _mapping(_mapping(group, "metadata"), "labels")
    return any(key in labels for key in _LIGHT)


def _mapping(raw: Raw, key: str) -> Raw:
    try:
        return mapping(raw, key)
    except FieldError:
        return {}


def _by_key(groups: Iterable[Raw]) -> dict[str, Raw]:
    """
    Give group objects by ``namespace/name``; one without a name is nobody's.
    """
    found: dict[str, Raw] = {}
    for namespace, name, group in named(groups):
        found.setdefault(f"{namespace}/{name}", group)
    return found
