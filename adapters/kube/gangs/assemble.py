"""
Objects to one snapshot: pods and claims to gangs, pods of others to load.

The order of the dialects, and what each means by what it leaves out, is data in
``dialects/table.py``.  What is wrong with one object is a fault of that object alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Claim, Dialect, Objects
from adapters.kube.gangs.cluster_gangs import ClusterGangs
from adapters.kube.gangs.cluster_rules import (
    ClusterRules,
    Levels,
    levels_of,
    rules_of,
)
from adapters.kube.gangs.devices.handed_over import HandedOver
from adapters.kube.gangs.devices.linked_sets import LinkedSets
from adapters.kube.gangs.devices.part_gangs import PartGangs, contracts_in
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.gangs.namespace_gangs import NamespaceLook
from adapters.kube.gangs.node_load import AskedOfNodes, NodeLoads
from adapters.kube.gangs.node_trees import NodeTrees, trees_of
from adapters.kube.gangs.summary import Summary
from adapters.kube.gangs.workloads.made_up import made_up
from adapters.kube.gangs.workloads.made_up_groups import with_groups
from adapters.kube.gangs.workloads.passed_over import said_of
from adapters.kube.gangs.workloads.ray_jobs import with_clusters
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.node_pool import WHOLE, NodePool
from adapters.kube.objects.node_record import NodeRecord, node_record
from adapters.kube.objects.object_names import described
from adapters.kube.objects.parts.kai_parts import gpus_of_instances
from adapters.kube.objects.parts.node_devices import (
    DEVICES,
    RegisteredGpus,
    koordinator_devices,
)
from adapters.kube.objects.parts.part_keys import KAI
from adapters.kube.objects.pod_reader import Reducer
from adapters.kube.objects.pod_record import PodRecord
from adapters.machine.garbage import no_collection
from models.memory.aged_gangs import AgedGangs
from models.memory.kept import Kept
from models.queues import say_parts
from models.snapshot import Snapshot

SCHEDULERS = ("phalanx",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """
    A snapshot, what was left out of it, and the claim that each gang was made of.
    """

    snapshot: Snapshot
    summary: Summary
    claims: Mapping[str, Claim] = field(default_factory=dict)


def snapshot_of(
    objects: Objects,
    dialects: Sequence[Dialect],
    now: float,
    schedulers: Sequence[str] = (),
) -> Assembled:
    """
    Make a snapshot of raw objects, those of pods and nodes among them.

    Where a workload has no pods yet they are made up.
    """
    reducer = Reducer()
    faults: list[str] = []
    nodes: list[NodeRecord] = []
    pods = _read(reducer, objects.of("", "Pod"), faults)
    objects = with_clusters(objects)
    made = made_up(objects, pods)
    objects = with_groups(objects, made.groups)
    pods += _read(reducer, made.pods, faults)
    faults += made.warnings
    for raw in objects.of("", "Node"):
        try:
            nodes.append(node_record(raw))
        except FieldError as error:
            faults.append(f"{described(raw)} is left out: {error}")
    assembler = Assembler(dialects, schedulers)
    return assembler.assembled(pods, nodes, objects, now, faults)


def _read(reducer: Reducer, raws: Iterable[Raw], faults: list[str]) -> list[PodRecord]:
    pods: list[PodRecord] = []
    for raw in raws:
        try:
            pods.append(reducer.pod(raw))
        except FieldError as error:
            faults.append(f"{described(raw)} is left out: {error}")
    return pods


class Assembler:
    """
    Makes snapshots; what it keeps of the one before makes the next one quick.

    What is kept decides nothing: an assembler that has kept nothing gives the same.
    """

    def __init__(
        self,
        dialects: Sequence[Dialect],
        schedulers: Sequence[str] = (),
        pool: NodePool = WHOLE,
    ) -> None:
        self._dialects = tuple(dialects)
        self._pool = pool
        self._schedulers = tuple(schedulers) or SCHEDULERS
        self.forget()

    def forget(self) -> None:
        """
        Drop all that is kept.
        """
        self._gangs = ClusterGangs(self._dialects, self._schedulers, self._pool)
        self._loads = NodeLoads(self._gangs.is_ours)
        self._parts = PartGangs()
        self._links = LinkedSets()
        self._handed = HandedOver()
        self._devices = Kept(koordinator_devices)
        self._rules: ClusterRules | None = None
        self._levels: Levels | None = None
        self._trees: NodeTrees | None = None

    def assembled(
        self,
        pods: Iterable[PodRecord],
        nodes: Iterable[NodeRecord],
        objects: Objects,
        now: float,
        faults: Iterable[str] = (),
    ) -> Assembled:
        """
        Make a snapshot of records and of the raw objects of all other kinds.

        Time is counted in whole seconds.  Where it breaks, all that is kept is dropped.
        """
        made: Assembled | None = None
        try:
            with no_collection():
                made = self._assembled(pods, nodes, objects, int(now), list(faults))
        finally:
            if made is None:
                self.forget()
        return made

    def _assembled(
        self,
        pods: Iterable[PodRecord],
        nodes: Iterable[NodeRecord],
        objects: Objects,
        now: int,
        warnings: list[str],
    ) -> Assembled:
        gangs, nodes = self._gangs, self._owned(nodes)
        trees = self._trees = trees_of(objects, nodes, self._trees)
        objects = trees.without_faulty(objects)
        placed = self._handed.placed(pods, objects)
        self._loads.pods_changed(*gangs.pods_changed(placed))
        wide = gangs.objects_changed(objects, nodes)
        rules = rules_of(self._dialects, gangs.shared(wide), wide, self._rules)
        self._levels = levels = levels_of(self._dialects, wide, self._levels)
        gangs.make(wide, rules, now, anew=rules is not self._rules)
        self._rules, looks = rules, gangs.looks()
        of_all = (*rules.warnings, *levels.warnings, *trees.found.warnings)
        warnings += _said_of_looks(looks, of_all)
        guests = sum(look.gangs.guests for look in looks)
        queues = rules.usable(guests, warnings)
        warnings += said_of(wide.unread, [look.groups.passed for look in looks])
        devices = self._said_devices(wide)
        asked = self._asked(looks, trees, devices)
        ready = self._loads.nodes(nodes, asked, warnings=warnings)
        warnings += self._links.look(nodes, self._loads, devices)
        budgets = gangs.budgets(warnings)
        summary = self._summary(looks, objects, [*warnings, *gangs.devices.warnings])
        snapshot = Snapshot(
            nodes=ready,
            gangs=_joined(looks, now),
            queues=tuple(sorted(queues, key=lambda queue: queue.name)),
            topologies=levels.topologies,
            budgets=tuple(sorted(budgets, key=lambda budget: budget.name)),
            warnings=tuple(summary.sentences()),
        )
        snapshot = self._with_devices(snapshot, asked, wide)
        return Assembled(snapshot=snapshot, summary=summary, claims=_claims(looks))

    def _with_devices(
        self, snapshot: Snapshot, asked: AskedOfNodes, wide: Objects
    ) -> Snapshot:
        """
        Say what parts and whole GPUs count together, and which of them are linked.
        """
        instances = bool(wide.of(BIND_REQUESTS.group, "Queue")) and any(
            gpus_of_instances(node.allocatable) for node in snapshot.nodes
        )
        counts = self._gangs.devices.counts_gpus or say_parts(snapshot.queues)
        if asked.contracts or counts or instances:
            snapshot = self._parts.applied(snapshot, self._loads, instances=instances)
        return self._links.applied(snapshot)

    def _said_devices(self, wide: Objects) -> dict[str, RegisteredGpus]:
        """
        Give what Device objects say, by node.
        """
        found = self._devices.of(wide.of(DEVICES.group, DEVICES.kind))
        return dict(one for one in found if one is not None)

    def _asked(
        self,
        looks: Sequence[NamespaceLook],
        trees: NodeTrees,
        devices: Mapping[str, RegisteredGpus],
    ) -> AskedOfNodes:
        """
        Say what gangs ask of all nodes, and what Device objects say of theirs.
        """
        asked = self._gangs.asked_of_nodes(trees.found.places)
        contracts = contracts_in(name for look in looks for name in look.gangs.parts)
        if not contracts:
            return asked
        binder = KAI in contracts and self._handed.is_served
        return replace(asked, contracts=contracts, devices=devices, binder=binder)

    def _owned(self, nodes: Iterable[NodeRecord]) -> list[NodeRecord]:
        if not self._pool.key:
            return list(nodes)
        return [record for record in nodes if self._pool.owns(record.node.labels)]

    def _summary(
        self,
        looks: Sequence[NamespaceLook],
        objects: Objects,
        warnings: Iterable[str],
    ) -> Summary:
        load: Counter[str] = Counter()
        ignored: Counter[str] = Counter()
        for look in looks:
            load.update(look.groups.passed.load)
            ignored.update(look.groups.passed.ignored)
        return Summary(
            schedulers=self._schedulers,
            ours=sum(look.groups.num_ours for look in looks),
            load=dict(sorted(load.items())),
            ignored=dict(sorted(ignored.items())),
            missing=tuple(
                f"{resource.plural}.{resource.group}"
                for dialect in self._dialects
                for resource in dialect.resources
                if (resource.group, resource.kind) not in objects.by_kind
            ),
            warnings=tuple(dict.fromkeys(warnings)),
        )


def _joined(looks: Sequence[NamespaceLook], now: int) -> AgedGangs:
    """
    Put the gangs of all namespaces together.
    """
    gangs = chain.from_iterable(look.gangs.gangs for look in looks)
    seen = chain.from_iterable(look.gangs.seen for look in looks)
    return AgedGangs(tuple(gangs), tuple(seen), now)


def _said_of_looks(
    looks: Sequence[NamespaceLook], of_all: Iterable[str]
) -> Iterator[str]:
    """
    Say what is wrong with groups, then with the whole cluster, then with gangs.
    """
    yield from (said for look in looks for said in look.groups.warnings)
    yield from of_all
    yield from (said for look in looks for said in look.gangs.warnings)


def _claims(looks: Sequence[NamespaceLook]) -> dict[str, Claim]:
    """
    Give the claim that each gang was made of.
    """
    claims: dict[str, Claim] = {}
    for look in looks:
        claims.update(look.gangs.claims)
    return claims
