"""
Who gets which devices of its node, for the pods that are bound next.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.kube.acting.devices.claims_now import ClaimsNow
from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.allocation import allocation
from adapters.kube.claims.dealing import dealt
from adapters.kube.claims.device_choices import Options, options_of
from adapters.kube.claims.device_items import items_of
from adapters.kube.claims.device_requests import DeviceClaim, HeldDevice
from adapters.kube.claims.extended_resources import (
    offered_by,
    told_of,
)
from adapters.kube.claims.free_devices import FreeDevices
from adapters.kube.objects.fields import FieldError, mapping, records, text
from adapters.kube.objects.pod_record import PodClaim, PodRecord
from adapters.kube.watch.cache import Cache
from models.plan import Operation

_GROUPS = "scheduling.k8s.io"


@dataclass(frozen=True, slots=True)
class Grant:
    """
    What is to be written into one claim: for whom, and its devices where it has none.

    One for extended resources may have to be made first, and is ``told`` to its pod.
    ``steps`` bind those who use it.
    """

    key: str
    raw: Raw
    users: tuple[Mapping[str, str], ...]
    steps: frozenset[Operation]
    allocation: Mapping[str, Any] | None = None
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Use:
    """
    A claim of a pod that is to be bound.
    """

    step: Operation
    pod: PodRecord
    entry: PodClaim
    claim: DeviceClaim


class DeviceDealer:
    """
    Deals devices by what the cache holds, and by what we have ``written`` since.
    """

    def __init__(self, cache: Cache, written: dict[str, Raw]) -> None:
        self._cache = cache
        self.now = ClaimsNow(cache, written)

    def claiming(self, steps: Iterable[Operation]) -> set[str]:
        """
        Name the pods that claim devices of their node, themselves or by class.
        """
        if self.now.held("DeviceClass"):
            self.now.read()
        return {step.pod for step in steps for pod in self._pods(step) if pod.claims}

    def _pods(self, step: Operation) -> list[PodRecord]:
        """
        Give the pod that is to be bound, with what it claims by class on its node.
        """
        node = self._cache.node(step.node) if step.node else None
        offered = offered_by([node.node]) if node else ()
        pods = self._cache.pods_named([step.pod])
        return [self.now.extended.claiming(pod, offered) for pod in pods]

    def deal(
        self, steps: Sequence[Operation]
    ) -> dict[Operation, tuple[Grant, ...] | str]:
        """
        Say what is written for each pod, or why it gets nothing.

        A claim of several pods is written with the first of them, for all.
        """
        raws = self.now.read()
        claims = self.now.reading.claims(list(raws.values()))
        found: dict[Operation, tuple[Grant, ...] | str] = dict.fromkeys(steps, ())
        uses = self._uses(steps, raws, claims, found)
        given = self._given(uses, claims)
        for key, users in uses.items():
            first = users[0]
            what = given.get(key)
            if isinstance(what, str):
                found |= {use.step: what for use in users}
            elif isinstance(had := found[first.step], tuple):
                who = {each["uid"]: each for each in map(self._user, users)}
                mine = frozenset(use.step for use in users)
                told, to = _told(first), tuple(who.values())
                grant = Grant(key, raws[key], to, mine, what, told)
                found[first.step] = (*had, grant)
        _spread(uses, found)
        return found

    def _uses(
        self,
        steps: Sequence[Operation],
        raws: dict[str, Raw],
        claims: dict[str, DeviceClaim],
        found: dict[Operation, tuple[Grant, ...] | str],
    ) -> dict[str, list[_Use]]:
        """
        Give the pods that get each claim; say in ``found`` why others do not.

        A claim has its devices on one node: that of the first of its pods.
        """
        uses: dict[str, list[_Use]] = {}
        for step in steps:
            for pod in self._pods(step):
                for entry in pod.claims:
                    if entry.claim == "":
                        continue
                    key = f"{pod.namespace}/{entry.claim}"
                    if entry.asked and key not in claims:
                        raw = self.now.extended.made_for(pod, entry.asked)
                        claim = self.now.reading.claim(raw)
                        key = claim.key
                        raws[key], claims[key] = raw, claim
                    if key not in claims or claims[key].unread:
                        found[step] = f"claim {entry.name} is not there to be read"
                        continue
                    there = uses.setdefault(key, [])
                    if there and there[0].step.node != step.node:
                        where = f"node {there[0].step.node}"
                        found[step] = f"claim {key} is for pods on {where}"
                        continue
                    there.append(_Use(step, pod, entry, claims[key]))
        return uses

    def _given(
        self, uses: Mapping[str, Sequence[_Use]], claims: Mapping[str, DeviceClaim]
    ) -> dict[str, Mapping[str, Any] | str | None]:
        """
        Give each claim without devices some of its node; say why it gets none.
        """
        found: dict[str, Mapping[str, Any] | str | None] = {}
        by_node: dict[str, list[DeviceClaim]] = {}
        for key, users in uses.items():
            claim = users[0].claim
            node = users[0].step.node
            if claim.held is not None:
                found[key] = None
            elif claim.spec is None:
                found[key] = f"claim {key}: {claim.fault}"
            else:
                by_node.setdefault(node, []).append(claim)
        free = self.now.reading.free
        specs = [c.spec for some in by_node.values() for c in some if c.spec]
        free.see(each.item for spec in specs for each in items_of(spec))
        held = [each for claim in claims.values() for each in claim.held or ()]
        for node, some in by_node.items():
            found |= dict(_dealt(free, node, some, held))
        return found

    def _user(self, use: _Use) -> Mapping[str, str]:
        """
        Say for whom a claim is reserved: the pod, or its PodGroup where that names it.
        """
        group = self._group(use.pod)
        if group is not None and _names(group, use.entry):
            meta = mapping(group, "metadata")
            return {
                "apiGroup": _GROUPS,
                "resource": "podgroups",
                "name": use.pod.group,
                "uid": text(meta, "uid", "metadata"),
            }
        return {"resource": "pods", "name": use.pod.name, "uid": use.pod.uid}

    def _group(self, pod: PodRecord) -> Raw | None:
        if not pod.group:
            return None
        return self.now.held("PodGroup").get(f"{pod.namespace}/{pod.group}")

    def reserved_for(
        self, pods: Iterable[PodRecord]
    ) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """
        List the claims that are reserved for some pods, or for the groups of these.

        Each with the uids, and the pods that each uid stands for.
        """
        raws = self.now.read()
        claims = self.now.reading.claims(list(raws.values()))
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for pod in pods:
            group = self._group(pod)
            for entry in self.now.extended.claiming(pod).claims:
                claim = claims.get(f"{pod.namespace}/{entry.claim}")
                if claim is None:
                    continue
                is_made = claim.is_extended and pod.uid in claim.owners
                if is_made or pod.uid in claim.users:
                    found.setdefault(claim.key, []).append((pod.uid, (pod.key,)))
                meta = {} if group is None else mapping(group, "metadata")
                uid = text(meta, "uid", "metadata")
                if uid and uid in claim.users:
                    mates = tuple(
                        mate.key
                        for mate in self._cache.pods_that(lambda pod: pod.claims)
                        if (mate.namespace, mate.group) == (pod.namespace, pod.group)
                    )
                    found.setdefault(claim.key, []).append((uid, mates))
        return found


def _dealt(
    free: FreeDevices,
    node: str,
    claims: Sequence[DeviceClaim],
    held: Iterable[HeldDevice],
) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """
    Deal the devices of one node.
    """
    bins = free.of_node(node, held) if node in free.nodes else ()
    wanted: list[tuple[str, list[Options]]] = []
    for claim in claims:
        asked = items_of(claim.spec) if claim.spec else ()
        faults = [free.faults[each.item] for each in asked if each.item in free.faults]
        if isinstance(bins, str) or faults:
            yield claim.key, f"claim {claim.key}: {faults[0] if faults else bins}"
        else:
            items = [
                options_of(each.item, free.singles)
                for each in asked
                for _ in range(each.times)
            ]
            wanted.append((claim.key, items))
    ways = {} if isinstance(bins, str) else dealt(bins, wanted)
    for claim in claims:
        if claim.key in ways and claim.spec is not None:
            mine = ways[claim.key]
            share = lambda: str(uuid.uuid4())  # noqa: E731 - it is given by name
            yield claim.key, allocation(claim.spec, mine, node, share)
        elif any(claim.key == key for key, _ in wanted):
            what = f"its devices are not free on node {node} any more"
            yield claim.key, f"claim {claim.key}: {what}"


def _spread(
    uses: Mapping[str, Sequence[_Use]],
    found: dict[Operation, tuple[Grant, ...] | str],
) -> None:
    """
    Let nobody be bound with a claim that is not written, since its first user is not.
    """
    left = True
    while left:
        left = False
        for first, *others in uses.values():
            why = found[first.step]
            for use in others:
                if isinstance(why, str) and not isinstance(found[use.step], str):
                    found[use.step], left = why, True


def _told(use: _Use) -> dict[str, Any] | None:
    """
    Say what a pod is told of the claim that is made for its extended resources.
    """
    return told_of(use.entry.asked, use.claim.name) if use.entry.asked else None


def _names(group: Raw, entry: PodClaim) -> bool:
    """
    Tell whether a PodGroup has the same claim as a pod, so that it is the group's.
    """
    try:
        own = records(mapping(group, "spec"), "resourceClaims", "spec")
    except FieldError:
        return False
    for each in own:
        template = each.get("resourceClaimTemplateName") or ""
        name = each.get("resourceClaimName")
        is_same = name == entry.claim if name else template == entry.template
        if each.get("name") == entry.name and is_same:
            return True
    return False
