"""
How many volumes each node still takes of a driver: what is attached, and what is kept.

Volumes of one pod are counted with it.  One that several share takes a slot of every
node that has it for good, whoever leaves; while pods wait for it, one is kept for it on
each node that has enough for all who wait.  Nodes on which there may be too few are
scarce: planning is told who needs slots of the driver, and how many each node has.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from adapters.kube.gangs.storage.pod_volumes import Claim, Volumes
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED, MOST_PODS
from models.neighbours import ReachedVolumes
from models.resources import Resources
from models.volume_slots import UNLIMITED, slot_parts, volume_slots

Reached = tuple[ReachedVolumes, ...]
_MOST_SHARED = 32
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class SharedClaim:
    """
    A claim that several unfinished pods use, since when the oldest of ours waits.
    """

    waits: bool
    since: float
    claim: Claim


@dataclass(frozen=True, slots=True)
class Attached:
    """
    A volume of a driver that a pod has on its node, or waits for where it has none.

    The pod is of ours if ``mine``; it ``counts`` by itself where no gang counts it.
    """

    pod: PodRecord
    driver: str
    claim: Claim
    mine: bool
    counts: bool


@dataclass(frozen=True, slots=True)
class SlotsOfNode:
    """
    What a node offers of slots and shared volumes, and what is used beside our pods.
    """

    offered: Resources = field(default_factory=dict)
    used: Resources = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SlotsOfNodes:
    """
    The slots of all nodes; ``others`` are those of nodes without a limit.
    """

    of_node: Mapping[str, SlotsOfNode] = field(default_factory=dict)
    others: SlotsOfNode = field(default_factory=SlotsOfNode)

    def of(self, node: str) -> SlotsOfNode:
        """
        Give the slots of one node.
        """
        return self.of_node.get(node, self.others)

    def beside(self, free: Mapping[str, Resources]) -> "SlotsOfNodes":
        """
        Offer free volumes beside the slots.
        """
        if not free:
            return self
        found = dict(self.of_node)
        for node, amounts in free.items():
            known = self.of(node)
            found[node] = replace(known, offered={**known.offered, **amounts})
        return replace(self, of_node=found)


def shared_claims(
    ours: Iterable[PodRecord], others: Iterable[PodRecord]
) -> Iterator[SharedClaim]:
    """
    List the claims of a namespace that several unfinished pods use.
    """
    users: dict[Claim, list[tuple[PodRecord, bool]]] = {}
    for pods, mine in ((ours, True), (others, False)):
        for pod in pods:
            if pod.volumes and pod.phase not in FINISHED:
                for claim in dict.fromkeys(pod.volumes):
                    users.setdefault((pod.namespace, claim), []).append((pod, mine))
    for key, using in users.items():
        if len(using) > 1:
            ages = [pod.created or 0.0 for pod, mine in using if mine and not pod.node]
            yield SharedClaim(bool(ages), min(ages, default=0.0), key)


def first_shared(found: Iterable[SharedClaim]) -> tuple[SharedClaim, ...]:
    """
    Give the shared claims that are counted as such; of all others each pod counts.
    """
    named = (each for each in found if len("/".join(each.claim)) <= _LONGEST)
    turns = sorted(named, key=lambda x: (not x.waits, x.since, x.claim))
    return tuple(turns[:_MOST_SHARED])


def attached(
    ours: Iterable[PodRecord],
    others: Iterable[PodRecord],
    volumes: Volumes,
    shared: Collection[Claim],
) -> Iterator[Attached]:
    """
    Walk the volumes with a limit that pods of one namespace have, or wait for.
    """
    for pods, mine in ((ours, True), (others, False)):
        for pod in pods:
            if not (mine or pod.node) or pod.phase in FINISHED:
                continue
            for claim in dict.fromkeys(pod.volumes):
                at = pod.namespace, claim
                if driver := volumes.limited_driver(at):
                    counts = at in shared or not mine
                    yield Attached(pod, driver, at, mine, counts)


class SlotsThatCome:
    """
    The slots that pods need which wait: what each asks for, and how many it needs.
    """

    def __init__(self, pods: Sequence[tuple[Resources, int]]) -> None:
        self._pods = pods
        self._known: dict[frozenset[tuple[str, int]], int] = {}
        self.total = sum(number for _, number in pods)

    def most(self, offered: Resources) -> int:
        """
        Bound the slots that can come to a node at once, by all that it offers.
        """
        key = frozenset(offered.items())
        if key not in self._known:
            some = (self._by(name, amount) for name, amount in offered.items())
            self._known[key] = min(some, default=self.total)
        return self._known[key]

    def _by(self, resource: str, amount: int) -> int:
        asked = sorted(asks.get(resource, 0) for asks, _ in self._pods)
        fit = bisect_right([*accumulate(asked)], amount)
        return sum(sorted((number for _, number in self._pods), reverse=True)[:fit])


class SlotRoom:
    """
    The slots of all nodes, given what is ``there`` and the ``limits`` of nodes.

    ``waiting`` are shared claims for which pods of ours wait, ``scarce`` the nodes with
    too few slots for all who wait and fit there at once, each with a driver.  What is
    there is asked for once, and only where slots matter.
    """

    def __init__(
        self,
        there: Callable[[], Iterable[Attached]] = tuple,
        limits: Mapping[str, Mapping[str, int]] | None = None,
        shared: Iterable[SharedClaim] = (),
        offered: Mapping[str, Resources] | None = None,
    ) -> None:
        self._ask = there
        self._limits, self._offered = limits or {}, offered or {}
        self.waiting: dict[str, dict[Claim, str]] = {}
        self.scarce: frozenset[tuple[str, str]] = frozenset()
        waits = {each.claim for each in shared if each.waits}
        if waits:
            self._look(waits)
        self.told = frozenset(driver for _, driver in self.scarce)

    def _look(self, waits: Collection[Claim]) -> None:
        """
        Find for which claims with a limit pods wait, and where that may be too many.
        """
        alone: dict[str, dict[str, tuple[Resources, int]]] = {}
        for each in self._attached:
            if each.claim in waits:
                kind = volume_slots(each.driver, "/".join(each.claim))
                self.waiting.setdefault(each.driver, {})[each.claim] = kind
            if not (each.pod.node or each.counts):
                pods, pod = alone.setdefault(each.driver, {}), each.pod
                pods[pod.key] = pod.requests, pods.get(pod.key, ({}, 0))[1] + 1
        come = {driver: SlotsThatCome([*x.values()]) for driver, x in alone.items()}
        self.scarce = frozenset(
            (node, driver)
            for node, limit_of in self._limits.items()
            for driver in limit_of.keys() & self.waiting.keys()
            if self._is_scarce(node, driver, come.get(driver))
        )

    @cached_property
    def _attached(self) -> tuple[Attached, ...]:
        return tuple(self._ask())

    @cached_property
    def _here(self) -> dict[tuple[str, str], list[Attached]]:
        """
        Give what pods have on each node of each driver.
        """
        found: dict[tuple[str, str], list[Attached]] = {}
        for each in self._attached:
            if each.pod.node:
                found.setdefault((each.pod.node, each.driver), []).append(each)
        return found

    def _is_scarce(self, node: str, driver: str, come: "SlotsThatCome | None") -> bool:
        """
        Tell whether not all who wait could have a slot of a node at once.
        """
        have, single = self._there(node, driver)
        more = len(self.waiting[driver].keys() - have.keys())
        left = self._limits[node][driver] - len(have) - single - more
        if come is None or not more:
            return more > 0 > left
        return come.total > left and come.most(self._offered.get(node, {})) > left

    def _there(self, node: str, driver: str) -> tuple[dict[Claim, bool], int]:
        """
        Give the claims that count by themselves, and whether others have them, too.

        Count beside these the volumes that our gangs count.
        """
        have: dict[Claim, bool] = {}
        single = 0
        for each in self._here.get((node, driver), ()):
            single += not each.counts
            if each.counts:
                have[each.claim] = have.get(each.claim, False) or not each.mine
        return have, single

    def kinds(self) -> dict[Claim, str]:
        """
        Say what slots each shared claim needs of which planning is told.
        """
        rows = (self.waiting[driver] for driver in sorted(self.told))
        return {at: kind for row in rows for at, kind in row.items()}

    def of_nodes(self, asked: Collection[str]) -> SlotsOfNodes:
        """
        Say what all nodes offer of the slots and shared volumes that are ``asked``.
        """
        if not asked:
            return SlotsOfNodes()
        drivers: dict[str, list[str]] = {}
        for name in sorted(asked):
            drivers.setdefault(slot_parts(name)[0], []).append(name)
        found: dict[str, SlotsOfNode] = {}
        for node, limit_of in self._limits.items():
            offered: dict[str, int] = {}
            used: dict[str, int] = {}
            for driver, names in drivers.items():
                if driver not in limit_of:
                    offered |= dict.fromkeys(names, UNLIMITED)
                    continue
                have = {"/".join(at) for at in self._taking(node, driver)}
                slots = volume_slots(driver)
                offered[slots], used[slots] = limit_of[driver], len(have)
                for name in names:
                    if claim := slot_parts(name)[1]:
                        offered[name] = UNLIMITED if claim in have else 0
            found[node] = SlotsOfNode(offered, used)
        return SlotsOfNodes(found, SlotsOfNode(dict.fromkeys(sorted(asked), UNLIMITED)))

    def _taking(self, node: str, driver: str) -> set[Claim]:
        """
        Name the claims that have a slot of a node whatever is planned, or it is kept.

        What only pods of ours have of a scarce node, they are planned to have.
        """
        have, waiting = self._there(node, driver)[0], self.waiting.get(driver, {})
        if (node, driver) not in self.scarce:
            return {*have, *waiting}
        return {at for at, others in have.items() if others or at not in waiting}

    def beside(
        self, free: Mapping[str, Reached], nodes: Iterable[str]
    ) -> Mapping[str, Reached]:
        """
        Say of which slots planning is told on each of some nodes, beside free volumes.
        """
        if not self.told:
            return free
        return {
            node: tuple(sorted([*free.get(node, ()), *self._reached(node)]))
            for node in nodes
        }

    def _reached(self, node: str) -> Iterator[ReachedVolumes]:
        for driver in sorted(self.told):
            slots, waiting = volume_slots(driver), self.waiting[driver]
            kinds = tuple(sorted([slots, *waiting.values()]))
            if (node, driver) not in self.scarce:
                # As many as there may be pods: files can say no larger number.
                yield ReachedVolumes(f"{slots} elsewhere", kinds, MOST_PODS)
                continue
            taken = self._taking(node, driver)
            have, single = self._there(node, driver)
            there = len(have.keys() - taken) + single
            for at in sorted(taken & waiting.keys()):
                yield ReachedVolumes(f"{waiting[at]} at {node}", (waiting[at],), 1)
            most = self._limits[node][driver] - len(taken)
            if (left := max(most, there)) > 0:
                yield ReachedVolumes(f"{slots} at {node}", kinds, left)
