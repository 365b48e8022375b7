"""
The devices of a cluster from one look to the next: read again only where they changed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from adapters.kube.claims.claim_users import ClaimUsers
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.device_reading import DeviceReading
from adapters.kube.claims.device_requests import DeviceClaim, HeldDevice
from adapters.kube.claims.device_rows import device_rows
from adapters.kube.claims.extended_resources import ExtendedResources, offered_by
from adapters.kube.claims.free_devices import FreeDevices, given_twice
from adapters.kube.claims.given_back import Holder
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.devices.claimed_devices import (
    ClaimedDevices,
    offers,
)
from adapters.kube.objects.fields import mapping
from adapters.kube.objects.node_record import NodeRecord
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED, ON_A_NODE
from models.resources import Resources, summed

GROUP = "resource.k8s.io"
DEVICE_KINDS = tuple(
    (GROUP, kind)
    for kind in (
        "DeviceClass",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "DeviceTaintRule",
    )
)
READ_KINDS = ("DeviceClass", "ResourceSlice", "DeviceTaintRule")
"""
What says which devices there are.
"""
_MOST_PIECES = 64
_POD_GROUP = ("scheduling.k8s.io", "PodGroup")


class DeviceRoom:
    """
    What was read of devices and claims, and what was made of it last.
    """

    def __init__(self) -> None:
        self._reading = DeviceReading()
        self._extended = ExtendedResources()

    @property
    def by_class(self) -> Collection[str]:
        """
        Name the extended resources that are had as devices of classes only.
        """
        return self._extended.names

    def see(self, wide: Objects, nodes: Iterable[NodeRecord]) -> None:
        """
        Take the classes that there are, and what nodes offer themselves.
        """
        classes = wide.of(GROUP, "DeviceClass")
        self._reading.read_classes(classes)
        self._extended = ExtendedResources()
        if classes:
            claims = self._reading.claims(wide.of(GROUP, "ResourceClaim"))
            offered = offered_by(each.node for each in nodes)
            classes_now = self._reading.classes
            self._extended = ExtendedResources(classes_now, offered, claims.values())

    def look(
        self,
        wide: Objects,
        ours: Iterable[PodRecord],
        others: Iterable[PodRecord],
        together: Mapping[str, str] = MappingProxyType({}),
        units: Mapping[str, str] = MappingProxyType({}),
    ) -> ClaimedDevices:
        """
        Say what pods ask of devices, and what nodes offer; ``ours`` are to be planned.

        ``together`` names by pod the gang of those that leave with all of it, ``units``
        the gangs that start together.
        """
        claiming = self._extended.claiming
        mine = [x for x in map(claiming, ours) if x.claims and x.phase not in FINISHED]
        if not mine:
            return ClaimedDevices()
        self._reading.read(*(wide.of(GROUP, kind) for kind in READ_KINDS))
        users = self._users(wide, mine, map(claiming, others), together, units)
        free, claims = self._reading.free, users.claims.values()
        first = _items(users, sorted(mine, key=lambda pod: _turn(pod, running=False)))
        free.see(first)
        held = [each for claim in claims for each in claim.held or ()]
        bins, closed = free.bins(held)
        leaving = free.leaving(_holders(users, mine), held)
        rows = device_rows(free.items, free.singles, bins, first, leaving)
        closed |= rows.closed
        unused = (f"devices of node {name}: {closed[name]}" for name in sorted(closed))
        twice = _given_twice(free, users.claims)
        warnings = *free.pools.warnings, *free.told, *unused, *twice
        shared, had = _shared(users, mine), _had(users, mine, free)
        faults = {**free.faults, **rows.left_out}
        found = ClaimedDevices(users, rows, faults, shared, free.shares, had)
        return replace(_on_nodes(found, mine, free), warnings=warnings)

    def _users(
        self,
        wide: Objects,
        ours: Sequence[PodRecord],
        others: Iterable[PodRecord],
        together: Mapping[str, str],
        units: Mapping[str, str],
    ) -> ClaimUsers:
        """
        Say who uses which claim, those on nodes first, then the oldest.
        """
        claims = self._reading.claims(wide.of(GROUP, "ResourceClaim"))
        made_of = list(named(wide.of(GROUP, "ResourceClaimTemplate")))
        asked = self._reading.templates([raw for _, _, raw in made_of])
        templates = {
            f"{space}/{name}": each
            for (space, name, _), each in zip(made_of, asked, strict=True)
        }
        alive = (pod for pod in others if pod.claims and pod.phase not in FINISHED)
        users: dict[str, list[str]] = {}
        leaving: dict[str, set[str]] = {}
        for pod in sorted(chain(ours, alive), key=_turn):
            for entry in pod.claims:
                if entry.claim:
                    key = f"{pod.namespace}/{entry.claim}"
                    users.setdefault(key, []).append(pod.key)
                    who = together.get(pod.key, f"pod {pod.key}")
                    leaving.setdefault(key, set()).add(who)
        groups = {
            f"{space}/{name}": str(mapping(raw, "metadata").get("uid") or "")
            for space, name, raw in named(wide.of(*_POD_GROUP))
        }
        stay = frozenset(key for key, units in leaving.items() if len(units) > 1)
        return ClaimUsers(claims, templates, users, groups, stay, units, self._extended)


def _turn(pod: PodRecord, *, running: bool = True) -> tuple[bool, float, str]:
    return (pod.node is None) is running, pod.created or 0.0, pod.key


def _items(users: ClaimUsers, pods: Iterable[PodRecord]) -> Sequence[Item]:
    """
    List the kinds of items that pods ask for, each once, in the order of the pods.
    """
    found = (
        item
        for pod in pods
        for _, spec, fault in users.specs(pod)
        if spec and not fault
        for item in users.items(spec)
    )
    return [*dict.fromkeys(found)]


def _shared(users: ClaimUsers, pods: Iterable[PodRecord]) -> frozenset[str]:
    """
    Name the claims without devices that several pods use.
    """
    claims = (users.claim(pod, entry) for pod in pods for entry in pod.claims)
    return frozenset(
        claim.key
        for claim in claims
        if claim is not None and claim.held is None and claim.spec is not None
        if len(users.users.get(claim.key, ())) > 1
    )


def _given_twice(free: FreeDevices, claims: Mapping[str, DeviceClaim]) -> Iterator[str]:
    """
    Name the devices of which claims have more than there is, with some of the claims.
    """
    for (_, pool, device), keys in sorted(given_twice(free, claims).items()):
        who = " and ".join(f"claim {key}" for key in sorted(keys)[:2])
        yield f"device {device} of {pool} is given away more than there is, to {who}"


def _on_nodes(
    found: ClaimedDevices, pods: Sequence[PodRecord], free: FreeDevices
) -> ClaimedDevices:
    """
    Say what nodes offer, and what of them pods have in common.
    """
    of_nodes = free.nodes.items() if found.counts_gpus else ()
    there = {node: own.shares for node, own in of_nodes}
    pieces, tied = _pieces(found, pods)
    return replace(
        found,
        offered=_offered(found, pods, there),
        said={node: own.said for node, own in of_nodes},
        pieces=pieces,
        tied=tied,
    )


def _holders(users: ClaimUsers, pods: Sequence[PodRecord]) -> Iterator[Holder]:
    """
    Walk who has devices of nodes: pods for themselves, claims for several of them.
    """
    yield from _alone(users, pods)
    yield from _staying(users, pods)


def _alone(users: ClaimUsers, pods: Iterable[PodRecord]) -> Iterator[Holder]:
    """
    Walk the pods on nodes that alone use all the claims they have, with their devices.
    """
    for pod in pods:
        if pod.phase not in ON_A_NODE or pod.node is None:
            continue
        claims = [users.claim(pod, entry) for entry in pod.claims if entry.claim != ""]
        if all(
            claim is not None
            and claim.held is not None
            and len(users.users.get(claim.key, ())) == 1
            for claim in claims
        ):
            held = (each for claim in claims if claim for each in claim.held or ())
            yield Holder(pod.key, pod.node, tuple(held), (pod.key,))


def _staying(users: ClaimUsers, pods: Iterable[PodRecord]) -> Iterator[Holder]:
    """
    Walk the claims that stay while any of their pods does, where all of these are ours.

    Who waits for one counts on the devices that it has.
    """
    there: dict[str, list[PodRecord]] = {}
    held: dict[str, tuple[HeldDevice, ...]] = {}
    for pod in pods:
        for claim in (users.claim(pod, entry) for entry in pod.claims):
            if claim is None or claim.held is None or claim.key not in users.stay:
                continue
            if pod.phase in ON_A_NODE and pod.node is not None:
                there.setdefault(claim.key, []).append(pod)
                held[claim.key] = claim.held
    for key, some in there.items():
        if len(some) == len(users.users[key]):
            who = tuple(pod.key for pod in some)
            yield Holder(f"claim {key}", some[0].node or "", held[key], who)


def _pieces(
    found: ClaimedDevices, pods: Iterable[PodRecord]
) -> tuple[dict[str, tuple[Resources, ...]], dict[str, tuple[int, ...]]]:
    """
    Say what pods of each node give back together, and by pod to which of it it is tied.

    What each of them gives back alone is left out.
    """
    known = {pod.key: pod for pod in pods}
    pieces: dict[str, tuple[Resources, ...]] = {}
    tied: dict[str, tuple[int, ...]] = {}
    for node, every in found.rows.tied.items():
        for who, together in every:
            alone = (found.taken(known[x.key]) for x in who if x.is_pod)
            each = summed(alone)
            more = {row: n - each.get(row, 0) for row, n in together.items()}
            more = {row: n for row, n in more.items() if n > 0}
            number = len(pieces.get(node, ()))
            if more and number < _MOST_PIECES:
                pieces[node] = (*pieces.get(node, ()), more)
                for key in {key for holder in who for key in holder.pods}:
                    tied[key] = (*tied.get(key, ()), number)
    return pieces, tied


def _had(
    users: ClaimUsers, pods: Iterable[PodRecord], free: FreeDevices
) -> dict[str, int]:
    """
    Count as GPUs what the claims of some pods have, by the names of the claims.
    """
    found = {}
    for pod in pods:
        for entry in pod.claims:
            claim = users.claim(pod, entry)
            if claim is None or claim.held is None or claim.key in found:
                continue
            if (number := free.had(claim.held)) is not None:
                found[claim.key] = number
    return found


def _offered(
    found: ClaimedDevices, pods: Iterable[PodRecord], gpus: Mapping[str, int]
) -> Mapping[str, Resources]:
    """
    Say what nodes offer.
    """
    there: dict[str, list[Resources]] = {}
    for pod in pods:
        if pod.phase in ON_A_NODE and pod.node is not None:
            has_all = all(
                claim is None or claim.held is not None
                for claim, _, _ in found.users.specs(pod)
            )
            if has_all and (asked := found.taken(pod)):
                there.setdefault(pod.node, []).append(asked)
    return offers(found.rows, there, gpus)
