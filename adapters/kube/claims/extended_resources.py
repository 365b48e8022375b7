"""
Extended resources by class: a pod asks for an amount, and gets devices of a class.

Where no node offers the resource itself, the pod is planned as if it had a claim, which
is made just before it is bound.  Whose claim that is its owner and an annotation say.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from adapters.kube.claims.device_requests import (
    ClaimSpec,
    Classes,
    DeviceAsk,
    DeviceClaim,
    DeviceClass,
    Request,
)
from adapters.kube.objects.extended_asks import EXTENDED, IMPLICIT, ExtendedAsk
from adapters.kube.objects.pod_record import PodClaim, PodRecord
from models.nodes import Node

API = "resource.k8s.io/v1"
_CALLED = "<extended-resources>"
_BETWEEN = "-extended-resources-"
_LONGEST = 253
_LETTERS = 8
_Mapping = dict[str, str]


@dataclass(frozen=True, slots=True)
class _DeviceRequest:
    """
    A request of the claim: so many devices of the class of a resource.
    """

    name: str
    resource: str
    count: int


class ExtendedResources:
    """
    The extended resources that classes stand for, and the claims made for pods.

    What nodes have ``offered`` themselves is not among them.
    """

    def __init__(
        self,
        classes: Classes | None = None,
        offered: Collection[str] = (),
        claims: Iterable[DeviceClaim] = (),
    ) -> None:
        found = _by_resource(classes or {})
        self._classes = {name: of for name, of in found.items() if name not in offered}
        self._made = {
            owner: claim.name
            for claim in claims
            if claim.is_extended
            for owner in claim.owners
        }
        self._specs: dict[tuple[ExtendedAsk, ...], ClaimSpec | str] = {}

    @property
    def names(self) -> Collection[str]:
        """
        Name the resources.
        """
        return self._classes.keys()

    def claiming(self, pod: PodRecord, offered: Collection[str] = ()) -> PodRecord:
        """
        Give a pod that claims what it asks for of these resources, and no longer asks.

        What its node has ``offered`` itself it has there.
        """
        if not self._classes or pod.part is not None:
            return pod
        asked = tuple(
            one
            for one in pod.extended
            if one.resource in self._classes and one.resource not in offered
        )
        if not asked:
            return pod
        gone = {one.resource for one in asked}
        rest = {name: n for name, n in pod.requests.items() if name not in gone}
        made = self._made.get(pod.uid) if pod.uid else None
        claims = (*pod.claims, PodClaim(_CALLED, made, asked=asked))
        return replace(pod, requests=rest, claims=claims, extended=())

    def spec(self, asked: tuple[ExtendedAsk, ...]) -> ClaimSpec | str:
        """
        Say what the claim of a pod asks for, or why that is not known.
        """
        known = self._specs.get(asked)
        if known is None:
            known = self._specs[asked] = self._spec(asked)
        return known

    def _spec(self, asked: Sequence[ExtendedAsk]) -> ClaimSpec | str:
        requests = []
        for one in _requests(asked)[0]:
            of = self._classes[one.resource]
            if isinstance(of, str):
                return f"extended resource {one.resource}: {of}"
            ask = DeviceAsk(of, place=f"requests {one.name}", called=one.name)
            requests.append(Request(one.name, (ask,), (one.count,)))
        return ClaimSpec(tuple(requests))

    def made_for(self, pod: PodRecord, asked: Sequence[ExtendedAsk]) -> dict[str, Any]:
        """
        Write the claim that is made for a pod.
        """
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": pod.name,
            "uid": pod.uid,
            "controller": True,
        }
        meta = {
            "name": _name(pod),
            "namespace": pod.namespace,
            "annotations": {EXTENDED: "true"},
            "ownerReferences": [owner],
        }
        requests = [self._written(one) for one in _requests(asked)[0]]
        return {
            "apiVersion": API,
            "kind": "ResourceClaim",
            "metadata": meta,
            "spec": {"devices": {"requests": requests}},
        }

    def _written(self, one: _DeviceRequest) -> dict[str, Any]:
        of = self._classes[one.resource]
        exactly = {
            "deviceClassName": of.name if isinstance(of, DeviceClass) else "",
            "allocationMode": "ExactCount",
            "count": one.count,
        }
        return {"name": one.name, "exactly": exactly}


def offered_by(nodes: Iterable[Node]) -> set[str]:
    """
    Name what nodes offer themselves.
    """
    return {name for node in nodes for name, n in node.allocatable.items() if n > 0}


def told_of(asked: Sequence[ExtendedAsk], claim: str) -> dict[str, Any]:
    """
    Write what the status of a pod says of the claim that was made for it.
    """
    return {"resourceClaimName": claim, "requestMappings": _requests(asked)[1]}


def _by_resource(classes: Classes) -> dict[str, DeviceClass | str]:
    """
    Find the class of each resource: of several the newest one.
    """
    found: dict[str, DeviceClass | str] = {}
    read = [each for each in classes.values() if isinstance(each, DeviceClass)]
    read.sort(key=lambda each: each.name, reverse=True)
    for each in sorted(read, key=lambda each: each.created):
        found |= dict.fromkeys(each.resources, each)
    for name, unread in classes.items():
        if isinstance(unread, str):
            found[f"{IMPLICIT}{name}"] = unread
    return found


def _name(pod: PodRecord) -> str:
    """
    Name the claim of a pod: always the same for one pod, and not for its successor.
    """
    ending = _BETWEEN + sha256(pod.uid.encode()).hexdigest()[:_LETTERS]
    return pod.name[: _LONGEST - len(ending)].rstrip("-.") + ending


def _requests(
    asked: Sequence[ExtendedAsk],
) -> tuple[list[_DeviceRequest], list[_Mapping]]:
    """
    Make requests of what containers ask for, and say which of them each may use.
    """
    requests: list[_DeviceRequest] = []
    uses: list[_Mapping] = []
    for resource in sorted({one.resource for one in asked}):
        mine = [one for one in asked if one.resource == resource]
        lasting = [one for one in mine if not one.is_short]
        requests += [
            _DeviceRequest(one.request, resource, one.count) for one in lasting
        ]
        uses += [_use(one, one.request) for one in lasting]
        shorts = [one for one in mine if one.is_short]
        more, used = _before(shorts, lasting)
        requests += more
        uses += used
    return sorted(requests, key=lambda one: one.name), uses


def _before(
    shorts: Sequence[ExtendedAsk], lasting: Sequence[ExtendedAsk]
) -> tuple[list[_DeviceRequest], list[_Mapping]]:
    """
    Let init containers use what containers after them get, and one request more.

    They run one after the other, so that the largest of what they lack is enough.
    """
    lacks: list[tuple[ExtendedAsk, int]] = []
    uses: list[_Mapping] = []
    for one in shorts:
        left = one.count
        for later in lasting:
            if later.at > one.at and left > 0:
                uses.append(_use(one, later.request))
                left -= later.count
        if left > 0:
            lacks.append((one, left))
    if not lacks:
        return [], uses
    most, number = max(lacks, key=lambda each: each[1])
    uses += [_use(one, most.request) for one, _ in lacks]
    return [_DeviceRequest(most.request, most.resource, number)], uses


def _use(one: ExtendedAsk, request: str) -> _Mapping:
    return {
        "containerName": one.container,
        "resourceName": one.resource,
        "requestName": request,
    }
