"""
Devices by claim: what pods ask for of them, and what nodes offer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.claims.claim_users import ClaimUsers
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.device_requests import DeviceClaim
from adapters.kube.claims.device_rows import DeviceRows
from adapters.kube.claims.said_gpus import Claimable, SaidGpus
from adapters.kube.dialects.protocol import Part
from adapters.kube.gangs.workloads.leaves import Member
from adapters.kube.gangs.workloads.trees import leaf_paths
from adapters.kube.objects.constraints import selector_terms
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.pod_record import PodClaim, PodRecord
from models.gangs import FINISHED, PodPhase
from models.neighbours import Near, Neighbours
from models.nodes import HOSTNAME, NodeDemand, Terms
from models.resources import CLAIMED_DEVICES, CLAIMED_GPUS, Resources

UNLIMITED = 2**20
_MOST_USERS = 256


@dataclass(frozen=True, slots=True)
class ClaimedDevices:
    """
    The claims of some pods, and the rows that stand for what they ask for.

    ``faults`` are items that cannot be evaluated; ``shared`` are the claims that
    several pods wait for, each with the row that stands for it.  ``shares`` is what
    items count as GPUs, ``had`` what claims by name do that have their devices, and
    ``said`` what slices say of the GPUs of nodes.
    """

    users: ClaimUsers = field(default_factory=ClaimUsers)
    rows: DeviceRows = field(default_factory=DeviceRows)
    faults: Mapping[Item, str] = field(default_factory=dict)
    shared: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[Item, int] = field(default_factory=dict)
    had: Mapping[str, int] = field(default_factory=dict)
    offered: Mapping[str, Resources] = field(default_factory=dict)
    said: Mapping[str, SaidGpus] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    _requests: dict[frozenset[tuple[str, int]], Resources] = field(
        default_factory=dict, compare=False
    )
    _demands: dict[NodeDemand, NodeDemand] = field(default_factory=dict, compare=False)

    def claiming(self, pod: PodRecord) -> PodRecord:
        """
        Give a pod that claims what it asks for of extended resources by class.
        """
        return self.users.extended.claiming(pod)

    def facts(self, pods: Iterable[PodRecord]) -> object:
        """
        Give what decides of the devices of some pods, to compare.
        """
        return tuple(
            (
                self.unsupported(pod),
                self.fault(pod),
                placed.requests,
                placed.demand.volumes,
                self.near(pod),
            )
            for pod in map(self.claiming, pods)
            if pod.claims and pod.phase not in FINISHED
            for placed in [self.placed(pod)]
        )

    def unsupported(self, pod: PodRecord) -> str | None:
        """
        Say what of a pod's claims is not planned, with the field.

        While it waits, that is no matter of a claim that has its devices.
        """
        for claim, spec, fault in self.users.specs(self.claiming(pod)):
            if pod.node is None and claim is not None and claim.held is not None:
                continue
            items = self.users.items(spec) if spec and not fault else ()
            for why in (fault, *(self.faults.get(item) for item in items)):
                if why:
                    return f"pod {pod.name}, {why}"
        return None

    def lacking(self, pods: Iterable[PodRecord]) -> Iterator[str]:
        """
        Walk the waiting pods whose claims are not there yet.
        """
        for pod in map(self.claiming, pods):
            if pod.claims and pod.phase is PodPhase.PENDING:
                fault = self.fault(pod)
                if fault is not None:
                    yield f"pod {pod.name}, {fault}"

    def fault(self, pod: PodRecord) -> str | None:
        """
        Say what a pod's claims lack before it can be planned; nothing where none do.
        """
        for entry in pod.claims:
            if why := self._lacks(pod, entry):
                return f"claim {entry.name} {why}"
        return None

    def _lacks(self, pod: PodRecord, entry: PodClaim) -> str:
        claim = self.users.claim(pod, entry)
        if entry.claim == "" or (entry.asked and claim is None):
            return ""
        if claim is None:
            is_planned = not pod.uid and self.users.template(pod, entry) is not None
            what = (
                f"({entry.claim}) does not exist" if entry.claim else "is not made yet"
            )
            return "" if is_planned else what
        if claim.is_leaving:
            return "is being deleted"
        is_made = bool(entry.template and pod.uid and claim.owners)
        is_own = pod.uid in claim.owners or self.users.is_of_group(pod, claim)
        if is_made and not is_own:
            return "is not the one made for this pod"
        if len(claim.users) >= _MOST_USERS and pod.uid not in claim.users:
            return f"has {len(claim.users)} users already, which is the most"
        return ""

    def near(self, pod: PodRecord) -> str:
        """
        Name the claim that a pod waits for together with others; "" where it does not.
        """
        for entry in pod.claims:
            claim = self.users.claim(pod, entry)
            if claim is not None and claim.key in self.shared:
                return claim.key
        return ""

    def beside(self, pod: PodRecord, said: Neighbours) -> Neighbours:
        """
        Keep pods that wait for one claim together on one node.
        """
        key = self.near(pod)
        if not key or said.near is not None:
            return said
        name = f"claim {key}"
        near = Near(name, (HOSTNAME,))
        return replace(said, selected=(*said.selected, name), near=near)

    def placed(self, pod: PodRecord, *, at_most: bool = False) -> PodRecord:
        """
        Give a pod that asks for its devices, and demands nodes where it has some.

        It counts as what it has, or ``at_most`` as what it could get instead.  Who
        could get more than it has does not move: elsewhere it might.
        """
        asked = self.taken(pod)
        gpus, most = self._gpus(pod)
        terms = _where_held(self.users, pod)
        if at_most:
            gpus = most
        elif pod.node is not None and gpus < most:
            terms.append(())
        if asked or gpus:
            more = {CLAIMED_GPUS: gpus} if gpus else {}
            wanted = {**pod.requests, **asked, **more}
            key = frozenset(wanted.items())
            pod = replace(pod, requests=self._requests.setdefault(key, wanted))
        if terms:
            found = tuple(sorted({*pod.demand.volumes, *terms}, key=repr))
            demand = replace(pod.demand, volumes=found)
            pod = replace(pod, demand=self._demands.setdefault(demand, demand))
        return pod

    def taken(self, pod: PodRecord) -> Resources:
        """
        Give the rows that a pod counts in: where it runs, all that it would give back.
        """
        given = self.rows.given.get(pod.key)
        return self.asked(pod) if given is None else given

    def asked(self, pod: PodRecord) -> dict[str, int]:
        """
        Give the rows that a pod counts in.
        """
        numbers: Counter[Item] = Counter()
        shared: dict[str, int] = {}
        for claim, spec, fault in self.users.specs(pod):
            if claim is not None and claim.key in self.shared:
                shared[self.shared[claim.key]] = 1
            elif spec and not fault and self.users.carries(pod, claim):
                numbers.update(self.users.items(spec))
        known = {i: n for i, n in numbers.items() if i not in self.faults}
        return {**self.rows.asked(known), **shared}

    def _gpus(self, pod: PodRecord) -> tuple[int, int]:
        """
        Count what a pod claims as GPUs, and the most that it could get instead.

        A claim of several pods counts with the first of them.
        """
        gpus = most = 0
        for claim, spec, fault in self.users.specs(pod):
            if not self.users.pays(pod, claim):
                continue
            items = self.users.items(spec) if spec and not fault else {}
            asked = sum(self.shares.get(item, 0) * n for item, n in items.items())
            had = asked if claim is None else self.had.get(claim.key, asked)
            gpus, most = gpus + had, most + max(asked, had)
        return gpus, most

    @property
    def of_nodes(self) -> Mapping[str, Claimable]:
        """
        Give what can be claimed of each node, and what is said of its GPUs.
        """
        tied, said, none = self.rows.tied, self.said, SaidGpus()
        of = self.offered.items()
        return {x: Claimable(n, tied(x, n), said.get(x, none)) for x, n in of}

    @property
    def counts_gpus(self) -> bool:
        """
        Tell whether anything that is claimed counts as GPUs.
        """
        return any(self.shares.values()) or any(self.had.values())


def _where_held(users: ClaimUsers, pod: PodRecord) -> list[Terms]:
    """
    Say where a pod can use what its claims have already.

    One that runs starts anew where it is moved, with what is not its alone.
    """
    found: list[Terms] = []
    for entry in pod.claims:
        claim = users.claim(pod, entry)
        if claim is None or claim.held is None or claim.selector is None:
            continue
        if pod.node is not None and pod.uid in claim.owners:
            continue
        try:
            where = "status.allocation.nodeSelector"
            found.append(selector_terms(claim.selector, where))
        except FieldError:
            found.append(())
    return found


def shared_row(claim: DeviceClaim) -> str:
    """
    Name the row of a claim that several pods wait for.
    """
    return f"{CLAIMED_DEVICES}shared.{claim.namespace}.{claim.name}"


def offers(
    rows: DeviceRows,
    there: Mapping[str, Sequence[Mapping[str, int]]],
    waiting: Sequence[tuple[str, Resources, str | None]],
    gpus: Mapping[str, int],
) -> dict[str, Resources]:
    """
    Say what nodes offer: what is free, what our pods there have, and room for sharers.

    Parameters
    ----------
    rows
        What is free.
    there
        The rows of our pods on each node whose claims have their devices.
    waiting
        Of each shared claim that has none yet, the oldest first, its row, what it asks
        for, and the node where users of it are already.
    gpus
        What the devices of each node count as GPUs, where that is counted.
    """
    found: dict[str, Resources] = {}
    known: dict[tuple[int, tuple[str, ...], int], Resources] = {}
    for node, free in rows.offered.items():
        mine = [each for each in waiting if each[2] in {None, node}]
        number = gpus.get(node, 0)
        key = id(free), tuple(row for row, *_ in mine), number
        if key not in known:
            left = _kept_back(free, mine, [row for row, *_ in waiting])
            known[key] = {**left, CLAIMED_GPUS: number} if number else left
        left = known[key]
        for asked in there.get(node, ()):
            for name, n in asked.items():
                left = {**left, name: left.get(name, 0) + n}
        found[node] = left
    return found


def _kept_back(
    free: Resources,
    mine: Iterable[tuple[str, Resources, str | None]],
    rows: Iterable[str],
) -> Resources:
    """
    Keep room on a node for each claim that fits; of its row there is plenty then.
    """
    left = {**free, **dict.fromkeys(rows, 0)}
    for row, asked, _ in mine:
        if all(left.get(name, 0) >= n for name, n in asked.items()):
            left[row] = UNLIMITED
            for name, n in asked.items():
                left[name] -= n
    return left


def with_devices(
    devices: ClaimedDevices, members: list[Member], part: Part
) -> list[Member]:
    """
    Let pods ask for the devices that they claim.

    Those of one leaf stay alike where their tree says an order of leaves.
    """
    claiming = [devices.claiming(member.pod) for member in members]
    if not any(pod.claims for pod in claiming):
        return members
    is_ordered = any(leaf.after for _, leaf in leaf_paths(part))
    placed = [
        replace(
            m,
            pod=devices.placed(pod, at_most=is_ordered),
            neighbours=devices.beside(pod, m.neighbours),
        )
        if pod.claims and pod.phase not in FINISHED
        else m
        for m, pod in zip(members, claiming, strict=True)
    ]
    return _alike(placed) if is_ordered else placed


def _alike(members: Sequence[Member]) -> list[Member]:
    """
    Let the pods of each leaf with claims count in rows as much as any of them does.
    """
    most: dict[str, dict[str, int]] = {}
    for m in members:
        own = most.setdefault(m.leaf, {})
        for name, amount in m.pod.requests.items():
            if name.startswith(CLAIMED_DEVICES):
                own[name] = max(own.get(name, 0), amount)
    return [
        replace(m, pod=replace(m.pod, requests={**m.pod.requests, **most[m.leaf]}))
        if m.pod.claims and m.pod.phase not in FINISHED
        else m
        for m in members
    ]
