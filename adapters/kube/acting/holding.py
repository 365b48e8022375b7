"""
Holding and releasing gangs, pausing and resuming a scheduler, in a person's own name.

All of it is annotations on objects that are there; the scheduler itself writes none.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.acting.pause import NAMESPACES
from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.dialects.notes import moment
from adapters.kube.gangs.holds import HOLD, Words, told
from adapters.kube.objects.fields import FieldError, mapping, text, texts
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.source import ClusterSource
from models.gangs import FINISHED, pod_sets
from models.why.reasons import told_words

_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
_PODS = Resource(group="", version="v1", plural="pods", kind="Pod")


@dataclass(frozen=True, slots=True)
class Carrier:
    """
    An object on which a hold or a pause stands, and the annotations that it has.
    """

    resource: Resource
    namespace: str
    name: str
    notes: Mapping[str, str]

    def __str__(self) -> str:
        space = f"{self.namespace}/" if self.namespace else ""
        return f"{self.resource.kind} {space}{self.name}"


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
    return [own, *(pod for pod in pods if HOLD in pod.notes)]


def _of_pod(pod: PodRecord) -> Carrier:
    return Carrier(_PODS, pod.namespace, pod.name, pod.annotations)


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
        return carrier_of(kinds[kind], raw)
    return None


def carrier_of(resource: Resource, raw: Raw) -> Carrier:
    """
    Give an object as one that may carry a hold or a pause.
    """
    meta = mapping(raw, "metadata")
    notes = texts(meta, "annotations")
    return Carrier(resource, text(meta, "namespace"), text(meta, "name"), notes)


def namespace_named(transport: Transport, name: str) -> Carrier:
    """
    Ask for the namespace on which a pause stands, or would.
    """
    path, rule = path_of(NAMESPACES, name=name), rule_of(NAMESPACES, "get")
    return carrier_of(NAMESPACES, transport.call("GET", path, rule=rule))


def stood(carriers: Iterable[Carrier], words: Words, why: str) -> str | None:
    """
    Say by whom, since when and why before, where no new reason is given.
    """
    known = None if why else _known(carriers, words)
    return None if known is None else told_words(told(known.notes, words) or {})


def _known(carriers: Iterable[Carrier], words: Words) -> Carrier | None:
    """
    Give the first object on which these words stand.
    """
    return next((c for c in carriers if told(c.notes, words) is not None), None)


def put(
    transport: Transport,
    carriers: Sequence[Carrier],
    words: Words,
    why: str,
    now: float,
) -> None:
    """
    Write on objects why, by whom and since when.

    What stands on one of them already goes for all, until there is another reason.
    """
    known = _known(carriers, words)
    said: dict[str, str | None]
    if known is None or why:
        said = dict(zip(words, (why, who_asks(transport), moment(now)), strict=True))
    else:
        said = {word: known.notes.get(word) for word in words}
    for carrier in carriers:
        if any(carrier.notes.get(word) != said[word] for word in words):
            annotate(transport, carrier, said)


def take_away(transport: Transport, carriers: Iterable[Carrier], words: Words) -> None:
    """
    Take the words away from objects.
    """
    for carrier in carriers:
        annotate(transport, carrier, dict.fromkeys(words))


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
