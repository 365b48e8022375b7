"""
Holding and releasing gangs, pausing and resuming a scheduler, in a person's own name.

All of it is annotations on objects that are there; the scheduler itself writes none.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.dialects.notes import moment
from adapters.kube.gangs.holds import HELD_BY, HELD_SINCE, HOLD
from adapters.kube.objects.fields import FieldError, mapping, text, texts
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.source import ClusterSource
from models.gangs import FINISHED, pod_sets

_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
_PODS = Resource(group="", version="v1", plural="pods", kind="Pod")


@dataclass(frozen=True, slots=True)
class Carrier:
    """
    An object on which a gang is held, and whether it says so now.
    """

    resource: Resource
    namespace: str
    name: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.namespace}/{self.name}"


def carriers_of(source: ClusterSource, key: str) -> list[Carrier]:
    """
    List where a gang is held: its own object and the pods that say so; else its pods.

    ``source`` has assembled the gang.
    """
    made, view = source.made, source.view
    if made is None or view is None:
        return []
    gang = next(gang for gang in made.snapshot.gangs if gang.key == key)
    keys = {f"{gang.namespace}/{p.name}" for s in pod_sets(gang.tree) for p in s.pods}
    pods = [
        _of_pod(pod)
        for pod in view.pods
        if pod.key in keys and pod.phase not in FINISHED
    ]
    own = _own_object(source, made.claims[key].source)
    if own is None:
        return pods
    return [own, *(pod for pod in pods if pod.holds)]


def _of_pod(pod: PodRecord) -> Carrier:
    return Carrier(_PODS, pod.namespace, pod.name, HOLD in pod.annotations)


def _own_object(source: ClusterSource, raw: Raw | None) -> Carrier | None:
    """
    Find the object that a gang was read from, where there is one.
    """
    if raw is None or source.view is None:
        return None
    kinds = {(r.resource.group, r.resource.kind): r.resource for r in source.reflectors}
    for kind, raws in source.view.objects.by_kind.items():
        if not any(each.get("metadata") is raw.get("metadata") for each in raws):
            continue
        meta = mapping(raw, "metadata")
        holds = HOLD in texts(meta, "annotations")
        namespace, name = text(meta, "namespace"), text(meta, "name")
        return Carrier(kinds[kind], namespace, name, holds)
    return None


def hold(transport: Transport, carriers: list[Carrier], why: str, now: float) -> None:
    """
    Write on objects why, by whom and since when a gang is held.
    """
    words = {HOLD: why, HELD_BY: who_asks(transport), HELD_SINCE: moment(now)}
    for carrier in carriers:
        annotate(transport, carrier, words)


def release(transport: Transport, carriers: list[Carrier]) -> Iterator[Carrier]:
    """
    Take the hold away where it stands, and name each such object.
    """
    nothing = dict.fromkeys((HOLD, HELD_BY, HELD_SINCE))
    for carrier in carriers:
        if carrier.holds:
            annotate(transport, carrier, nothing)
            yield carrier


def annotate(
    transport: Transport, carrier: Carrier, words: Mapping[str, str | None]
) -> None:
    """
    Write annotations, or take them away.
    """
    path = path_of(carrier.resource, carrier.namespace, carrier.name)
    body: Raw = {"metadata": {"annotations": dict(words)}}
    rule = rule_of(carrier.resource, "patch")
    transport.call("PATCH", path, body, rule=rule)


def who_asks(transport: Transport) -> str:
    """
    Give the name under which the server knows us, else that of this machine's user.
    """
    try:
        answer = transport.call("POST", _REVIEWS, _REVIEW)
        info = mapping(mapping(answer, "status"), "userInfo")
        return text(info, "username") or _user()
    except (ClusterError, FieldError):
        return _user()


def _user() -> str:
    return os.environ.get("USER") or "somebody"
