"""
ElasticQuota of Koordinator and of scheduler-plugins, read as queues.

Koordinator's form a tree of shares; those of scheduler-plugins lie side by side, one
for a namespace, below the sum of their minimums.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Any, TypeVar

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.coscheduling.gangs import GroupNotes
from adapters.kube.dialects.coscheduling.keys import (
    PREEMPTIBLE,
    QUOTA_NAME,
    SIGS,
    X_K8S,
)
from adapters.kube.dialects.gpu_quotas import counted, say_parts
from adapters.kube.dialects.notes import closed, named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import FieldError, mapping, shown, texts
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.requests import check_name
from models.documents.written import MOST
from models.errors import QuantityError
from models.queues import Queue, QueueResource
from models.resources import LARGEST_TOTAL, parse_quantity
from models.why.reasons import Reason

ELASTIC_QUOTA = "ElasticQuota"
ROOT = "koordinator-root-quota"
DEFAULT = "koordinator-default-quota"
TOP = "elastic-quotas"
UNBOUNDED = "default"
_PREFIX = "quota.scheduling.koordinator.sh"
PARENT = f"{_PREFIX}/parent"
LENT = f"{_PREFIX}/allow-lent-resource"
WEIGHT = f"{_PREFIX}/shared-weight"
NAMESPACES = f"{_PREFIX}/namespaces"
Amounts = Mapping[str, int]
_SHAPES = {dict: "a JSON object", list: "a JSON list"}
T = TypeVar("T", dict[str, object], list[object])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quota:
    """
    One ElasticQuota as read; what cannot be read closes it.
    """

    name: str
    namespace: str
    least: Amounts = field(default_factory=dict)
    most: Amounts = field(default_factory=dict)
    weight: Amounts = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    readable: bool = True

    @property
    def called(self) -> str:
        """
        What it is called in a sentence.
        """
        return f"{ELASTIC_QUOTA} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """
    All ElasticQuotas of a cluster, and the queue of every pod by them.
    """

    shares: Mapping[str, _Quota] = field(default_factory=dict)
    spaces: Mapping[str, _Quota] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)

    def queue_of(self, pod: PodRecord) -> str | None:
        """
        Name the queue of a pod; none where there are no ElasticQuotas at all.
        """
        if self.shares:
            own = pod.labels.get(QUOTA_NAME)
            return own or self.owners.get(pod.namespace, DEFAULT)
        if self.spaces:
            quota = self.spaces.get(pod.namespace)
            return UNBOUNDED if quota is None else _space(quota)
        return None

    def queue_of_gang(self, pods: Sequence[PodRecord], notes: GroupNotes) -> str | None:
        """
        Name the queue of a gang; pods that name two of them stop it.
        """
        queues = {self.queue_of(pod): pod for pod in reversed(pods)}
        if len(queues) > 1:
            (one, pod), (two, second), *_ = reversed(queues.items())
            what = f"pod {pod.key} is in {one}, pod {second.key} in {two}"
            notes.refuse(Reason.CONFIG_CONFLICT, f"label {QUOTA_NAME}", what)
        return next(reversed(queues), None)


def is_preemptible(pods: Sequence[PodRecord]) -> bool | None:
    """
    Tell whether a gang may be preempted: not where a pod of it says so; else unsaid.
    """
    said = any(pod.labels.get(PREEMPTIBLE) == "false" for pod in pods)
    return False if said else None


def quotas_for_pods(objects: Objects) -> Quotas:
    """
    Give the quotas, read once as long as the objects are the same.
    """
    raws = objects.of(SIGS, ELASTIC_QUOTA), objects.of(X_K8S, ELASTIC_QUOTA)
    return objects.memo.made_once("quotas", raws, partial(quotas_of, objects))


def quotas_of(objects: Objects, warnings: list[str] | None = None) -> Quotas:
    """
    Read the ElasticQuotas of both systems.

    Of two that claim one place the first by namespace and name holds; the other one,
    and one that cannot be read, is told in ``warnings``.
    """
    told: list[str] = [] if warnings is None else warnings
    shares: dict[str, _Quota] = {}
    for quota in _all(objects.of(SIGS, ELASTIC_QUOTA), told):
        first = shares.setdefault(quota.name, quota)
        if first is not quota:
            told.append(f"{quota.called} is left out: {first.called} has its name")
    spaces: dict[str, _Quota] = {}
    for quota in _all(objects.of(X_K8S, ELASTIC_QUOTA), told):
        first = spaces.setdefault(quota.namespace, quota)
        if first is not quota:
            told.append(f"{quota.called} is left out: {first.called} has its namespace")
    owners: dict[str, str] = {}
    for quota in shares.values():
        for space in quota.namespaces:
            owner = owners.setdefault(space, quota.name)
            if owner != quota.name:
                what = f"pods of the namespace {space} are in {owner}"
                told.append(f"{quota.called}: annotation {NAMESPACES}: {what}")
    return Quotas(shares=shares, spaces=spaces, owners=owners)


def koordinator_queues(objects: Objects, warnings: list[str]) -> list[Queue]:
    """
    Read Koordinator's tree: min is the quota, max the limit, shared-weight the weight.

    A quota whose unused part may not be lent keeps all of its min.

    Every quota lies below another or at the top; pods without one go to the default
    quota, which exists without bounds where no object of that name does.
    """
    ours = {(SIGS, ELASTIC_QUOTA): objects.of(SIGS, ELASTIC_QUOTA)}
    shares = quotas_of(Objects(by_kind=ours), warnings).shares
    if not shares:
        return []
    weights = _weights(shares)
    queues = [
        Queue(
            name=name,
            parent=_parent(quota),
            open=quota.readable,
            resources={
                resource: QueueResource(
                    quota=quota.least.get(resource, 0),
                    limit=quota.most.get(resource),
                    weight=weights[name].get(resource, 1),
                    lend=0 if _keeps(quota) and quota.least.get(resource) else None,
                )
                for resource in sorted({*quota.least, *quota.most, *quota.weight})
            },
        )
        for name, quota in sorted(shares.items())
        if name != ROOT
    ]
    if DEFAULT not in shares:
        queues.append(Queue(name=DEFAULT))
    return queues


def _keeps(quota: _Quota) -> bool:
    return quota.labels.get(LENT) == "false"


def _parent(quota: _Quota) -> str | None:
    parent = quota.labels.get(PARENT) or ROOT
    return None if parent == ROOT else parent


def plugin_queues(objects: Objects, warnings: list[str]) -> list[Queue]:
    """
    Read the quotas of scheduler-plugins, one for a namespace.

    What all of them use together stays within the sum of their minimums.  A namespace
    without one has no bounds.
    """
    ours = {(X_K8S, ELASTIC_QUOTA): objects.of(X_K8S, ELASTIC_QUOTA)}
    spaces = quotas_of(Objects(by_kind=ours), warnings).spaces
    if not spaces:
        return []
    named_anywhere = sorted({r for q in spaces.values() for r in (*q.least, *q.most)})
    top = {
        resource: QueueResource(quota=total, limit=total)
        for resource in named_anywhere
        for total in [sum(q.least.get(resource, 0) for q in spaces.values())]
    }
    queues = [Queue(name=UNBOUNDED), Queue(name=TOP, resources=top)]
    for quota in spaces.values():
        rules = {
            resource: QueueResource(
                quota=quota.least.get(resource, 0), limit=quota.most.get(resource)
            )
            for resource in named_anywhere
        }
        name = _space(quota)
        queues.append(
            Queue(name=name, parent=TOP, open=quota.readable, resources=rules)
        )
    return sorted(queues, key=lambda queue: queue.name)


def _space(quota: _Quota) -> str:
    """
    Name the queue of a namespace's quota.
    """
    return f"{quota.namespace}.{quota.name}"


def _all(raws: Iterable[Raw], warnings: list[str]) -> list[_Quota]:
    """
    Read quotas, the first by name before the others.
    """
    every = list(named(raws))
    parts = say_parts(said for *_, raw in every for said in _said(raw))
    found = [_quota(raw, at, warnings, parts=parts) for *at, raw in every]
    return sorted(found, key=lambda q: (q.namespace, q.name))


def _said(raw: Raw) -> Iterator[Mapping[str, Any]]:
    """
    Walk what a quota says of resources anywhere.
    """
    with suppress(FieldError):
        spec = mapping(raw, "spec")
        yield mapping(spec, "min")
        yield mapping(spec, "max")
        notes = texts(mapping(raw, "metadata"), "annotations", "metadata")
        yield _json(notes, WEIGHT, dict)


def _quota(raw: Raw, at: Sequence[str], warnings: list[str], *, parts: bool) -> _Quota:
    namespace, name = at
    try:
        meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
        notes = texts(meta, "annotations", "metadata")
        most = _bounds(spec, "max", parts=parts)
        return _Quota(
            name=name,
            namespace=namespace,
            least=_bounds(spec, "min", parts=parts),
            most=most,
            weight=_weight(notes, parts=parts) or most,
            labels=texts(meta, "labels", "metadata"),
            namespaces=_namespaces(notes),
        )
    except FieldError as error:
        warnings.append(closed(f"{namespace}/{name}", error, ELASTIC_QUOTA))
        return _Quota(name=name, namespace=namespace, readable=False)


def _weight(notes: Mapping[str, str], *, parts: bool) -> Amounts:
    said = {WEIGHT: _json(notes, WEIGHT, dict)}
    return _bounds(said, WEIGHT, "metadata.annotations", parts=parts)


def _namespaces(notes: Mapping[str, str]) -> tuple[str, ...]:
    said = _json(notes, NAMESPACES, list)
    for space in said:
        if not isinstance(space, str):
            what = f"{shown(space)} is not a namespace"
            raise FieldError(f"metadata.annotations.{NAMESPACES}", what)
    return tuple(map(str, said))


def _json(notes: Mapping[str, str], key: str, kind: type[T]) -> T:
    """
    Read an annotation that holds JSON; nothing where it is not said.
    """
    said = notes.get(key)
    if not said:
        return kind()
    place = f"metadata.annotations.{key}"
    try:
        value = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise FieldError(place, f"{shown(said)} is not JSON") from error
    if not isinstance(value, kind):
        raise FieldError(place, f"{shown(said)} is not {_SHAPES[kind]}")
    return value


def _bounds(raw: Raw, key: str, place: str = "spec", *, parts: bool) -> Amounts:
    """
    Read quantities of a quota; what is more than any cluster holds bounds nothing.
    """
    found: dict[str, int] = {}
    for name, value in mapping(raw, key, place).items():
        where = f"{place}.{key}.{name}"
        check_name(name, where)
        if type(value) not in {int, str, float}:
            raise FieldError(where, f"{shown(value)} is not a quantity")
        try:
            of = counted(name, parts=parts)
            amount = parse_quantity(of, str(value), up=False, most=2**80)
        except QuantityError as error:
            raise FieldError(where, str(error)) from error
        if amount <= LARGEST_TOTAL:
            found[of] = amount
    return found


def _weights(shares: Mapping[str, _Quota]) -> dict[str, dict[str, int]]:
    """
    Give every quota's weights in small whole numbers with the same ratios.

    A quota that has no weight and no max for a resource weighs as much as the heaviest.
    """
    names = {r for quota in shares.values() for r in quota.weight}
    found: dict[str, dict[str, int]] = {name: {} for name in shares}
    for resource in names:
        said = [q.weight[resource] for q in shares.values() if resource in q.weight]
        heaviest = max(said)
        unit = max(gcd(*said), -(-heaviest // MOST), 1)
        for name, quota in shares.items():
            weight = quota.weight.get(resource, heaviest)
            found[name][resource] = max(weight // unit, 1 if weight else 0)
    return found
