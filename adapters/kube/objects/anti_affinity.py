"""
Pods that must not share a host: what is ``exclusive``, and what we do not model of it.

Kubernetes means this both ways: a pod that keeps others off its host keeps off theirs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from adapters.kube.objects.constraints import selects
from adapters.kube.objects.fields import FieldError, Json
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase

_FIELD = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)
FOREIGN = ""


def concerned(pods: Iterable[PodRecord]) -> tuple[bool, set[str]]:
    """
    Name the namespaces whose pods some pods keep off their hosts; or they are all.
    """
    spaces: set[str] = set()
    everywhere = False
    for pod in pods:
        if pod.apart:
            spaces.add(pod.namespace)
        for rule in pod.repels:
            spaces.add(pod.namespace)
            named = rule["namespaces"]
            everywhere = everywhere or named is None
            spaces.update(cast("Iterable[str]", named or ()))
    return everywhere, spaces


@dataclass(slots=True)
class Separations:
    """
    Pods that want a host of their own in their gang, and why gangs cannot be planned.
    """

    exclusive: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)

    def of(self, gang: str, pods: Iterable[str]) -> object:
        """
        Give what is said of one gang and its pods, to compare.
        """
        alone = frozenset(pods) & self.exclusive if self.exclusive else None
        return self.reasons.get(gang), alone


def separations(gangs: Mapping[str, Sequence[PodRecord]]) -> Separations:
    """
    Judge all required anti-affinity by host; pods of others stand under ``FOREIGN``.
    """
    found = Separations()
    rules: dict[tuple[str, str], tuple[Json, list[tuple[PodRecord, str]]]] = {}
    sizes: dict[str, int] = {}
    for gang, pods in gangs.items():
        alive = [pod for pod in pods if pod.phase not in _FINISHED]
        sizes[gang] = len(alive)
        for pod in alive:
            for selector in pod.apart:
                key = pod.namespace, repr(selector)
                rules.setdefault(key, (selector, []))[1].append((pod, gang))
    keepers = [pod for pods in gangs.values() for pod in pods if pod.repels]
    if not (rules or keepers):
        return found
    index = _Index(gangs)
    _note_repelled(keepers, index, found)
    for (namespace, _), (selector, carriers) in rules.items():
        try:
            hits = index.selected(namespace, selector)
        except FieldError as error:
            for _, gang in carriers:
                found.reasons.setdefault(gang, f"{_FIELD}: {error}")
            continue
        _judge(carriers, hits, sizes, found)
    return found


def _note_repelled(
    keepers: Iterable[PodRecord], index: "_Index", found: Separations
) -> None:
    """
    Refuse the gangs that a pod on a node keeps out of its zone, or the like.
    """
    for keeper in keepers:
        if keeper.node is None or keeper.phase in _FINISHED:
            continue
        for rule in keeper.repels:
            try:
                hits = index.repelled(rule)
            except FieldError:
                continue  # it is noted with the pod
            for pod, gang in hits:
                if gang != FOREIGN and pod.node is None:
                    what = f"pod {keeper.key} keeps pods like these away from it"
                    why = f"{_FIELD}: {what}, which is not planned"
                    found.reasons.setdefault(gang, why)


def _judge(
    carriers: Sequence[tuple[PodRecord, str]],
    hits: Sequence[tuple[PodRecord, str]],
    sizes: Mapping[str, int],
    found: Separations,
) -> None:
    """
    Judge one selector: who has it, and whom it selects.
    """
    by_gang: dict[str, list[PodRecord]] = {}
    for pod, gang in hits:
        by_gang.setdefault(gang, []).append(pod)
    own: dict[str, list[PodRecord]] = {}
    for pod, gang in carriers:
        own.setdefault(gang, []).append(pod)
    for gang, pods in own.items():
        if gang == FOREIGN:
            continue
        other = next((pods[0] for g, pods in by_gang.items() if g != gang), None)
        mine = by_gang.get(gang, [])
        if other is not None:
            what = f"keeping it apart from {other.key}, of another gang, is not planned"
            found.reasons.setdefault(gang, f"{_FIELD}: {what}")
        elif 0 < len(mine) < sizes[gang]:
            what = f"it selects {len(mine)} of the {sizes[gang]} pods of its gang"
            found.reasons.setdefault(gang, f"{_FIELD}: {what}, only all are planned")
        elif len(mine) > 1:
            found.exclusive.update(pod.key for pod in pods)
    holder = {gang: pod for pod, gang in carriers if pod.node is not None}
    for gang in by_gang:
        keeper = next((pod for g, pod in holder.items() if g != gang), None)
        if gang != FOREIGN and keeper is not None:
            what = f"pod {keeper.key} keeps pods like these off its host"
            found.reasons.setdefault(gang, f"{_FIELD}: {what}, which is not planned")


class _Index:
    """
    Unfinished pods by namespace, and by label where a selector names one.
    """

    def __init__(self, gangs: Mapping[str, Iterable[PodRecord]]) -> None:
        self._all: dict[str, list[tuple[PodRecord, str]]] = {}
        self._by_label: dict[tuple[str, str, str], list[tuple[PodRecord, str]]] = {}
        for gang, pods in gangs.items():
            for pod in pods:
                if pod.phase in _FINISHED:
                    continue
                self._all.setdefault(pod.namespace, []).append((pod, gang))
                for key, value in pod.labels.items():
                    at = pod.namespace, key, value
                    self._by_label.setdefault(at, []).append((pod, gang))

    def selected(self, namespace: str, selector: Json) -> list[tuple[PodRecord, str]]:
        """
        List the pods that a selector selects.
        """
        one = _one_label(selector)
        if one is None:
            near = self._all.get(namespace, [])
        else:
            near = self._by_label.get((namespace, *one), [])
        return [(pod, gang) for pod, gang in near if selects(selector, pod.labels)]

    def repelled(self, rule: Json) -> list[tuple[PodRecord, str]]:
        """
        List the pods that a rule over several namespaces selects.
        """
        spaces = rule["namespaces"]
        over = self._all if spaces is None else spaces
        return [hit for name in over for hit in self.selected(name, rule["selector"])]


def _one_label(selector: Json) -> tuple[str, str] | None:
    """
    Give a label that everything selected has.
    """
    said = selector.get("matchLabels")
    if isinstance(said, Mapping) and said:
        return next(iter(said.items()))
    for rule in selector.get("matchExpressions") or ():
        if not isinstance(rule, Mapping):
            continue
        values = rule.get("values")
        alone = isinstance(values, list) and len(values) == 1
        if alone and rule.get("operator") == "In":
            return str(rule.get("key")), str(rule["values"][0])
    return None
