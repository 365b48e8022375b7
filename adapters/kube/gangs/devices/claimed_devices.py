"""
Devices by claim: what pods ask for of them, and what nodes offer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.claims.claim_users import ClaimUsers
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.device_rows import DeviceRows
from adapters.kube.claims.said_gpus import Claimable, SaidGpus
from adapters.kube.objects.constraints import selector_terms
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.pod_record import PodClaim, PodRecord
from models.gangs import FINISHED, PodPhase
from models.nodes import NodeDemand, Terms
from models.resources import CLAIMED_GPUS, Resources

_MOST_USERS = 256


@dataclass(frozen=True, slots=True)
class ClaimedDevices:
    """
    The claims of some pods, and the rows that stand for what they ask for.

    ``faults`` are items that cannot be evaluated; ``shared`` are the claims that
    several pods wait for.  ``shares`` is what items count as GPUs, ``had`` what claims
    by name do that have their devices, and ``said`` what slices say of GPUs of nodes.
    Of ``pieces`` of nodes several pods have something; ``tied`` says by pod of which.
    """

    users: ClaimUsers = field(default_factory=ClaimUsers)
    rows: DeviceRows = field(default_factory=DeviceRows)
    faults: Mapping[Item, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    shares: Mapping[Item, int] = field(default_factory=dict)
    had: Mapping[str, int] = field(default_factory=dict)
    offered: Mapping[str, Resources] = field(default_factory=dict)
    said: Mapping[str, SaidGpus] = field(default_factory=dict)
    pieces: Mapping[str, tuple[Resources, ...]] = field(default_factory=dict)
    tied: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
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
                placed.tied,
                [
                    (key, self.of_claim(key), self.users.together(key))
                    for key in self.sharing(pod)
                ],
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
        if claim is None or claim.unread:
            return self.users.not_known(pod, entry)
        if claim.is_leaving:
            return "is being deleted"
        is_made = bool(entry.template and pod.uid and claim.owners)
        is_own = pod.uid in claim.owners or self.users.is_of_group(pod, claim)
        if is_made and not is_own:
            return "is not the one made for this pod"
        if len(claim.users) >= _MOST_USERS and pod.uid not in claim.users:
            return f"has {len(claim.users)} users already, which is the most"
        return ""

    def sharing(self, pod: PodRecord) -> tuple[str, ...]:
        """
        Name the claims that a pod waits for together with others.
        """
        claims = (self.users.claim(pod, entry) for entry in pod.claims)
        return tuple([x.key for x in claims if x is not None and x.key in self.shared])

    def of_claim(self, key: str) -> Resources:
        """
        Give the rows of a claim that is shared.
        """
        spec = self.users.claims[key].spec
        return self.rows.asked(
            self._known({} if spec is None else self.users.items(spec))
        )

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
        if tied := self.tied.get(pod.key):
            pod = replace(pod, tied=tied)
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
        Give the rows that a pod counts in, but for claims that it shares.
        """
        numbers: Counter[Item] = Counter()
        for claim, spec, fault in self.users.specs(pod):
            if claim is not None and claim.key in self.shared:
                continue
            if spec and not fault and self.users.carries(pod, claim):
                numbers.update(self.users.items(spec))
        return dict(self.rows.asked(self._known(numbers)))

    def _known(self, items: Mapping[Item, int]) -> dict[Item, int]:
        return {item: n for item, n in items.items() if item not in self.faults}

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
        tied, said, none = self.pieces, self.said, SaidGpus()
        of = self.offered.items()
        return {x: Claimable(n, tied.get(x, ()), said.get(x, none)) for x, n in of}

    @property
    def counts_gpus(self) -> bool:
        """
        Tell whether anything that is claimed counts as GPUs.
        """
        return any(self.shares.values()) or any(self.had.values())


def _where_held(users: ClaimUsers, pod: PodRecord) -> list[Terms]:
    """
    Say where a pod can use what its claims have already.

    One that runs starts anew where it is moved, and is not moved from what others keep.
    """
    found: list[Terms] = []
    for entry in pod.claims:
        claim = users.claim(pod, entry)
        if claim is None or claim.held is None or claim.selector is None:
            continue
        if pod.node is not None and claim.key in users.stay:
            found.append(())
        if pod.node is not None and pod.uid in claim.owners:
            continue
        try:
            where = "status.allocation.nodeSelector"
            found.append(selector_terms(claim.selector, where))
        except FieldError:
            found.append(())
    return found


def offers(
    rows: DeviceRows,
    there: Mapping[str, Sequence[Mapping[str, int]]],
    gpus: Mapping[str, int],
) -> dict[str, Resources]:
    """
    Say what nodes offer: what is free, and what our pods there have.

    Parameters
    ----------
    rows
        What is free.
    there
        The rows of our pods on each node whose claims have their devices.
    gpus
        What the devices of each node count as GPUs, where that is counted.
    """
    found: dict[str, Resources] = {}
    known: dict[tuple[int, int], Resources] = {}
    for node, free in rows.offered.items():
        number = gpus.get(node, 0)
        left = known.get((id(free), number))
        if left is None:
            left = {**free, CLAIMED_GPUS: number} if number else free
            known[id(free), number] = left
        for asked in there.get(node, ()):
            for name, n in asked.items():
                left = {**left, name: left.get(name, 0) + n}
        found[node] = left
    return found
