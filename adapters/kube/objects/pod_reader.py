"""
Raw pods to records: everything a round needs of a pod, and nothing else.

A value that cannot be read is a fault of that pod alone: it is noted in the record.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any
from weakref import WeakValueDictionary

from adapters.kube.objects.claim_names import pod_claims
from adapters.kube.objects.constraints import (
    demand_of,
    ephemeral_of,
    host_ports_of,
    unsupported_of,
    volumes_of,
)
from adapters.kube.objects.extended_asks import ExtendedAsk, extended_asks
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    seconds,
    shown,
    text,
    texts,
    tried,
    whole,
)
from adapters.kube.objects.object_names import is_label, is_subdomain
from adapters.kube.objects.parts.device_parts import (
    KEPT_FOR_IT,
    SharedGpus,
    asked_by_annotation,
    shared_by,
)
from adapters.kube.objects.parts.kai_parts import asks
from adapters.kube.objects.parts.kai_parts import words as kai_words
from adapters.kube.objects.parts.part_keys import KAI, wishes
from adapters.kube.objects.parts.part_words import NOTHING, PodPart, part_asked
from adapters.kube.objects.pod_life import deleted, listed, pod_phase, said_of
from adapters.kube.objects.pod_record import Owner, PodRecord
from adapters.kube.objects.pod_terms import NO_TERMS, PodTerms, terms_of
from adapters.kube.objects.requests import Resized, requests_of
from adapters.kube.objects.run_limit import run_limit
from adapters.kube.objects.shared_texts import SharedTexts
from adapters.kube.objects.unread_fields import unread_words, why_waiting
from models.nodes import ANYWHERE, NodeDemand
from models.resources import PODS, Resources

_LONGEST = 253
_LONGEST_KEY = 8192
_MOST_LETTERS = 16_384
_KEPT_LETTERS = 512
_Words = tuple[Mapping[str, str], Mapping[str, str]]  # labels and annotations
_UNREAD = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _Wants:
    """
    What the pods of one template have in common.
    """

    requests: Resources
    written: Resources = field(default_factory=dict)
    part: PodPart | None = None
    gpus: tuple[int, ...] = ()
    demand: NodeDemand = ANYWHERE
    terms: PodTerms = NO_TERMS
    unsupported: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    extended: tuple[ExtendedAsk, ...] = ()

    def shared(self, said: Mapping[str, str]) -> SharedGpus | None:
        """
        Say of which devices a pod that runs has parts.
        """
        if self.part is not None and self.part.part.contract == KAI:
            return KEPT_FOR_IT
        return shared_by(said, self.written)

    def unplanned(self, said: Mapping[str, str]) -> Iterator[str]:
        """
        Name the annotations about GPUs that are not planned.
        """
        yield from asked_by_annotation(said)
        if self.part is not None:
            yield from wishes(self.part.part.contract, said)


class Reducer:
    """
    Reduces raw pods; what the pods of one template have in common is one object.

    Each is known as long as a pod has it: gangs that come and go leave nothing.
    """

    def __init__(self) -> None:
        self._wants: WeakValueDictionary[str, _Wants] = WeakValueDictionary()
        self._owners: WeakValueDictionary[Hashable, Owner] = WeakValueDictionary()
        self._texts = SharedTexts()

    def pod(self, raw: Json) -> PodRecord:
        """
        Reduce one pod; what is wrong with it is listed in ``invalid``.

        Raises
        ------
        FieldError
            When its name or its place cannot be read.
        """
        meta, spec, status = (mapping(raw, w) for w in ("metadata", "spec", "status"))
        name, namespace = checked(meta)
        node = text(spec, "nodeName", "spec") or None
        if node is not None and not is_subdomain(node):
            raise FieldError("spec.nodeName", f"{shown(node)} is not a node's name")
        found, faults = self._found(meta, spec, status)
        labels, said = found.get("labels", _NONE), found.get("annotations", _NONE)
        wants = self._wanted(spec, status, namespace, (labels, said))
        unread = unread_words(labels, said, spec)
        waits = why_waiting(unread, labels, said, dict(wants.demand.selector))
        alone = (*wants.unplanned(said), *waits)
        return PodRecord(
            namespace=intern(namespace),
            name=name,
            node=intern(node) if node else None,
            phase=pod_phase(meta, spec, status),
            template=wants,
            requests=wants.requests,
            demand=wants.demand,
            terms=wants.terms,
            unsupported=(*alone, *wants.unsupported) if alone else wants.unsupported,
            invalid=tuple(dict.fromkeys((*faults, *wants.invalid))),
            uncounted=wants.uncounted,
            part=wants.part,
            gpus=wants.gpus,
            extended=wants.extended,
            shared=wants.shared(said) if node else None,
            unread=unread,
            said="" if node else said_of(status),
            **found,
        )

    def _found(
        self, meta: Json, spec: Json, status: Json
    ) -> tuple[dict[str, Any], list[str]]:
        """
        Read the fields that each have a reader, and say which cannot be read.
        """
        faults: list[str] = []
        found: dict[str, Any] = {}
        for word, read in _READERS.items():
            try:
                found[word] = read(meta, spec, status)
            except FieldError as error:
                faults.append(str(error))
        for word in ("labels", "annotations"):
            if word in found:
                found[word] = self._texts.of(found[word])
        if (owner := found.get("owner")) is not None:
            which = owner.api_version, owner.kind, owner.name, owner.uid
            found["owner"] = self._owners.setdefault(which, owner)
        return found, faults

    def _wanted(
        self, spec: Json, status: Json, namespace: str, words: _Words
    ) -> _Wants:
        given = _resized(status)
        key = _template(spec, namespace, words, given)
        if len(key) > _LONGEST_KEY:
            # A tenant may write another megabyte of affinity into each of many pods.
            return _wants(spec, namespace, words, given)
        found = self._wants.get(key)
        if found is None:
            found = self._wants[key] = _wants(spec, namespace, words, given)
        return found


_NONE: Mapping[str, str] = {}


def pod_record(raw: Json) -> PodRecord:
    """
    Reduce one pod by itself.
    """
    return Reducer().pod(raw)


def named(meta: Json) -> tuple[str, str]:
    """
    Give the name and the namespace of an object, or say that it has none.
    """
    name = text(meta, "name", "metadata")
    if not name:
        raise FieldError("metadata.name", "the object has no name")
    return name, text(meta, "namespace", "metadata") or "default"


def checked(meta: Json) -> tuple[str, str]:
    """
    Give the name and the namespace of an object that a plan is to name.

    No server takes others than these; a file may hold anything.
    """
    name, namespace = named(meta)
    for word, value, is_fit in (
        ("name", name, is_subdomain(name)),
        ("namespace", namespace, is_label(namespace)),
    ):
        if not is_fit:
            what = f"{shown(value)} is not a valid Kubernetes name"
            raise FieldError(f"metadata.{word}", what)
    return name, namespace


def _template(spec: Json, namespace: str, words: _Words, given: Resized) -> str:
    """
    Write what decides a pod's wants; pods of one template write the same.
    """
    parts: list[object] = [
        spec.get("nodeSelector"),
        spec.get("affinity"),
        spec.get("tolerations"),
        spec.get("topologySpreadConstraints"),
        spec.get("resources"),
        spec.get("overhead"),
        spec.get("hostNetwork"),
    ]
    for word in ("containers", "initContainers"):
        parts.append(word)
        parts.extend(
            (
                entry.get("name"),
                entry.get("resources"),
                entry.get("ports"),
                entry.get("restartPolicy"),
            )
            if isinstance(entry, Mapping)
            else entry
            for entry in listed(spec, word)
        )
    if spec.get("affinity") or spec.get("topologySpreadConstraints"):
        parts += [namespace, words[0]]
    if asks(words[1]):
        parts.append(kai_words(words[1]))
    if given.containers or given.whole:
        parts += [given.in_vain, given.whole]
        parts += [[each.get(key) for key in _RESIZED] for each in given.containers]
    return repr(parts)


_RESIZED = ("name", "allocatedResources", "resources")


def _resized(status: Json) -> Resized:
    """
    Read what the node has given a pod and its containers, where it says so.
    """
    containers = [
        entry
        for word in ("containerStatuses", "initContainerStatuses")
        for entry in listed(status, word)
        if isinstance(entry, Mapping) and any(map(entry.get, _RESIZED[1:]))
    ]
    whole = {key: status[key] for key in _RESIZED[1:] if status.get(key)}
    in_vain = any(
        isinstance(each, Mapping)
        and (each.get("type"), each.get("reason")) == ("PodResizePending", "Infeasible")
        for each in listed(status, "conditions")
    )
    return Resized(containers=containers, whole=whole, in_vain=in_vain)


def _wants(spec: Json, namespace: str, words: _Words, given: Resized) -> _Wants:
    labels, said = words
    faults: list[str] = []
    uncounted: list[str] = []
    no_ports: Resources = {}
    asked = tried(lambda: requests_of(spec, given, faults), {PODS: 1}, uncounted)
    ports = tried(lambda: host_ports_of(spec), no_ports, faults)
    part = tried(lambda: part_asked(spec, asked, said), NOTHING, faults)
    no_words: tuple[str, ...] = ()
    no_asks: tuple[ExtendedAsk, ...] = ()
    extended = tried(lambda: extended_asks(spec), no_asks, [])  # as requests say
    faults += part.invalid
    return _Wants(
        requests={**(part.requests or asked), **ports},
        written=asked,
        part=part.part,
        gpus=part.gpus,
        demand=tried(lambda: demand_of(spec), ANYWHERE, faults),
        terms=tried(lambda: terms_of(spec, namespace, labels), NO_TERMS, faults),
        unsupported=(
            *part.unsupported,
            *tried(lambda: tuple(unsupported_of(spec)), no_words, faults),
        ),
        invalid=tuple(dict.fromkeys((*uncounted, *faults))),
        uncounted=tuple(uncounted),
        extended=extended,
    )


def _strings(meta: Json, key: str) -> Mapping[str, str]:
    """
    Keep labels or annotations; where they are many letters, of each its beginning.

    A server takes 256 KiB of a pod, which ten thousand of a tenant must not cost us;
    and nothing of what is read is nearly as long.
    """
    found = {
        intern(name): value
        for name, value in texts(meta, key, "metadata").items()
        if name not in _UNREAD
    }
    if sum(map(len, found.values())) <= _MOST_LETTERS:
        return found
    return {
        name: value if len(value) <= _KEPT_LETTERS else f"{value[:_KEPT_LETTERS]}…"
        for name, value in found.items()
    }


def _owner(meta: Json) -> Owner | None:
    place = "metadata.ownerReferences"
    for raw in records(meta, "ownerReferences", "metadata"):
        if raw.get("controller") is True:
            if not text(raw, "name", place):
                raise FieldError(f"{place}.name", "the controller has no name")
            return Owner(
                api_version=intern(text(raw, "apiVersion", place)),
                kind=intern(text(raw, "kind", place)),
                name=text(raw, "name", place),
                uid=text(raw, "uid", place),
            )
    return None


def _group(spec: Json) -> str:
    group = mapping(spec, "schedulingGroup", "spec")
    return text(group, "podGroupName", "spec.schedulingGroup")


def _scheduler(spec: Json) -> str:
    return intern(text(spec, "schedulerName", "spec") or "default-scheduler")


_Reader = Callable[[Json, Json, Json], object]
_READERS: Mapping[str, _Reader] = {
    "uid": lambda meta, _, __: text(meta, "uid", "metadata"),
    "created": lambda meta, _, __: seconds(meta, "creationTimestamp", "metadata"),
    "deleted": lambda meta, _, __: deleted(meta),
    "started": lambda _, __, status: seconds(status, "startTime", "status"),
    "scheduler": lambda _, spec, __: _scheduler(spec),
    "labels": lambda meta, _, __: _strings(meta, "labels"),
    "annotations": lambda meta, _, __: _strings(meta, "annotations"),
    "owner": lambda meta, _, __: _owner(meta),
    "priority": lambda _, spec, __: whole(spec, "priority", "spec"),
    "priority_class": lambda _, spec, __: text(spec, "priorityClassName", "spec"),
    "gates": lambda _, spec, __: tuple(
        text(gate, "name", "spec.schedulingGates")
        for gate in records(spec, "schedulingGates", "spec")
    ),
    "group": lambda _, spec, __: _group(spec),
    "volumes": lambda meta, spec, _: volumes_of(spec, str(meta.get("name"))),
    "run_limit": lambda meta, spec, _: run_limit(meta, spec),
    "ephemeral": lambda meta, spec, _: ephemeral_of(spec, str(meta.get("name"))),
    "claims": lambda _, spec, status: pod_claims(spec, status),
}
