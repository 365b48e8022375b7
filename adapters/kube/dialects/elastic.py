"""
ElasticQuota of Koordinator and of scheduler-plugins, read as queues.

Koordinator's form a tree of shares; those of scheduler-plugins lie side by side, one
for a namespace, below the sum of their minimums.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import TypeVar

from adapters.kube.dialects.base import Objects, Raw
from adapters.kube.dialects.groups import Notes
from adapters.kube.dialects.judged import named
from adapters.kube.dialects.words import PREEMPTIBLE, QUOTA_NAME, SIGS, X_K8S
from adapters.kube.pods import PodRecord
from adapters.kube.raw import FieldError, mapping, texts
from models.errors import QuantityError
from models.queues import Queue, QueueResource
from models.reasons import Reason
from models.resources import LARGEST_TOTAL, parse_quantity
from models.written import MOST

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

    def queue_of_gang(self, pods: Sequence[PodRecord], notes: Notes) -> str | None:
        """
        Name the queue of a gang; pods that name two of them stop it.
        """
        queues = {self.queue_of(pod): pod for pod in reversed(pods)}
        if len(queues) > 1:
            (one, pod), (two, second), *_ = reversed(queues.items())
            what = f"pod {pod.key} is in {one}, pod {second.key} in {two}"
            notes.refuse(Reason.CONFIG_CONFLICT, f"label {QUOTA_NAME}", what)
        queue = next(reversed(queues), None)
        quota = self.shares.get(queue) if queue else None
        if quota is not None and quota.labels.get(LENT) == "false":
            where = f"ElasticQuota {quota.namespace}/{quota.name}: label {LENT}"
            notes.warn(where, "false is not obeyed: what is unused may be borrowed")
        return queue


def is_preemptible(pods: Sequence[PodRecord]) -> bool | None:
    """
    Tell whether a gang may be preempted: not where a pod of it says so; else unsaid.
    """
    said = any(pod.labels.get(PREEMPTIBLE) == "false" for pod in pods)
    return False if said else None


def quotas_of(objects: Objects) -> Quotas:
    """
    Read the ElasticQuotas of both systems.
    """
    shares = {quota.name: quota for quota in _all(objects.of(SIGS, ELASTIC_QUOTA))}
    spaces = {q.namespace: q for q in _all(objects.of(X_K8S, ELASTIC_QUOTA))}
    owners = {
        space: name
        for name, quota in sorted(shares.items(), reverse=True)
        for space in quota.namespaces
    }
    return Quotas(shares=shares, spaces=spaces, owners=owners)


def koordinator_queues(objects: Objects) -> list[Queue]:
    """
    Read Koordinator's tree: min is the quota, max the limit, shared-weight the weight.

    Every quota lies below another or at the top; pods without one go to the default
    quota, which exists without bounds where no object of that name does.
    """
    shares = quotas_of(objects).shares
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


def _parent(quota: _Quota) -> str | None:
    parent = quota.labels.get(PARENT) or ROOT
    return None if parent == ROOT else parent


def plugin_queues(objects: Objects) -> list[Queue]:
    """
    Read the quotas of scheduler-plugins, one for a namespace.

    What all of them use together stays within the sum of their minimums.  A namespace
    without one has no bounds.
    """
    spaces = quotas_of(objects).spaces
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


def _all(raws: Iterable[Raw]) -> list[_Quota]:
    """
    Read quotas, last the first by name: that one is kept where two claim one place.
    """
    found = [_quota(raw, name, namespace) for namespace, name, raw in named(raws)]
    return sorted(found, key=lambda q: (q.namespace, q.name), reverse=True)


def _quota(raw: Raw, name: str, namespace: str) -> _Quota:
    try:
        meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
        notes = texts(meta, "annotations", "metadata")
        most = _bounds(mapping(spec, "max", "spec"))
        return _Quota(
            name=name,
            namespace=namespace,
            least=_bounds(mapping(spec, "min", "spec")),
            most=most,
            weight=_bounds(_json(notes.get(WEIGHT, ""), dict)) or most,
            labels=texts(meta, "labels", "metadata"),
            namespaces=tuple(map(str, _json(notes.get(NAMESPACES, ""), list))),
        )
    except (FieldError, QuantityError):
        return _Quota(name=name, namespace=namespace, readable=False)


def _json(text: str, kind: type[T]) -> T:
    if not text:
        return kind()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FieldError("metadata.annotations", "is not JSON") from error
    if not isinstance(value, kind):
        raise FieldError("metadata.annotations", "is not what it should be")
    return value


def _bounds(raw: Raw) -> Amounts:
    """
    Read quantities of a quota; what is more than any cluster holds bounds nothing.
    """
    found: dict[str, int] = {}
    for name, value in raw.items():
        if type(value) not in {int, str, float}:
            raise FieldError(name, "is not a quantity")
        amount = parse_quantity(name, str(value), up=False, most=2**80)
        if amount <= LARGEST_TOTAL:
            found[name] = amount
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
