"""
How many volumes each node still takes of a driver: what is attached, and what is kept.

Volumes of one pod are counted with it.  One that several share takes a slot of every
node that has it for good, whoever leaves, and one on each node where one is kept for
those who wait and may be there, first for those who may be on the fewest nodes; where
no slot is left for that, none of them goes there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.gangs.storage.pod_volumes import Claim, Volumes
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import Gang, PodPhase, pod_sets
from models.nodes import Node, NodeDemand
from models.resources import Resources
from models.volume_slots import UNLIMITED, is_volume_slot, slot_parts, volume_slots

_MOST_SHARED = 32
_LONGEST = 200
_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)


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
    A volume of a driver on a node; it ``counts`` by itself where no gang counts it.
    """

    node: str
    driver: str
    claim: Claim
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
            if pod.volumes and pod.phase not in _FINISHED:
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
    Walk the volumes with a limit that pods of one namespace have on their nodes.
    """
    for pods, mine in ((ours, True), (others, False)):
        for pod in pods:
            if pod.node is None or pod.phase in _FINISHED:
                continue
            for claim in dict.fromkeys(pod.volumes):
                at = pod.namespace, claim
                if driver := volumes.limited_driver(at):
                    counts = at in shared or not mine
                    yield Attached(pod.node, driver, at, counts)


def slots_of_nodes(
    there: Iterable[Attached],
    limits: Mapping[str, Mapping[str, int]],
    kept: Mapping[str, Sequence[str]],
    asked: Collection[str],
) -> SlotsOfNodes:
    """
    Say what all nodes offer of the slots and shared volumes that are ``asked``.

    Of shared ones slots are ``kept`` by node, for the first of them first.
    """
    if not asked:
        return SlotsOfNodes()
    here: dict[tuple[str, str], list[Attached]] = {}
    for each in there:
        here.setdefault((each.node, each.driver), []).append(each)
    drivers: dict[str, list[str]] = {}
    for name in sorted(asked):
        drivers.setdefault(slot_parts(name)[0], []).append(name)
    found: dict[str, SlotsOfNode] = {}
    for node, limit_of in limits.items():
        offered: dict[str, int] = {}
        used: dict[str, int] = {}
        for driver, names in drivers.items():
            if driver not in limit_of:
                offered |= dict.fromkeys(names, UNLIMITED)
                continue
            limit, slots = limit_of[driver], volume_slots(driver)
            mine = kept.get(node, ())
            have = _shared_there(here.get((node, driver), ()), limit, mine, names)
            offered[slots], used[slots] = limit, len(have)
            for name in names:
                if claim := slot_parts(name)[1]:
                    offered[name] = UNLIMITED if claim in have else 0
        found[node] = SlotsOfNode(offered, used)
    return SlotsOfNodes(found, SlotsOfNode(dict.fromkeys(sorted(asked), UNLIMITED)))


def kept_on_nodes(
    shared: Sequence[SharedClaim], gangs: Iterable[Gang], nodes: Iterable[Node]
) -> dict[str, list[str]]:
    """
    Name for each node the shared claims of waiting pods that may be there.
    """
    waiting = {"/".join(each.claim): at for at, each in enumerate(shared) if each.waits}
    if not waiting:
        return {}
    demands: dict[str, set[NodeDemand]] = {claim: set() for claim in waiting}
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            for name in filter(is_volume_slot, leaf.requests):
                if (claim := slot_parts(name)[1]) in demands:
                    demands[claim].add(leaf.demand)
    found: dict[str, list[str]] = {}
    number: Counter[str] = Counter()
    for node in nodes:
        named = replace(node, labels={**node.labels, NAME_FIELD: node.name})
        some = [x for x in waiting if any(one.allows(named) for one in demands[x])]
        found[node.name] = some
        number.update(some)
    return {
        node: sorted(some, key=lambda claim: (number[claim], waiting[claim]))
        for node, some in found.items()
    }


def _shared_there(
    there: Iterable[Attached], limit: int, kept: Sequence[str], names: Sequence[str]
) -> set[str]:
    """
    Name the claims that take a slot of a node by themselves, or one is kept for.
    """
    have = {"/".join(each.claim) for each in there if each.counts}
    free = limit - len(have) - sum(not each.counts for each in there)
    asked = {slot_parts(name)[1] for name in names}
    new = [claim for claim in kept if claim in asked and claim not in have]
    return have | set(new[: max(0, free)])
