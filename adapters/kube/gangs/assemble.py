"""
Objects to one snapshot: pods and claims to gangs, pods of others to load.

The order of the dialects, and what each means by what it leaves out, is data in
``dialects/table.py``.  What is wrong with one object is a fault of that object alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.api.resources import Raw
from adapters.kube.dialects.protocol import Claim, Dialect, Objects
from adapters.kube.gangs.budgets import budgets_of
from adapters.kube.gangs.build import GangMaker
from adapters.kube.gangs.made_up import made_up
from adapters.kube.gangs.membership import Grouped, Memberships
from adapters.kube.gangs.owners import without_pods
from adapters.kube.gangs.queues import Homes, queues_of, topologies_of
from adapters.kube.gangs.summary import Summary
from adapters.kube.objects.anti_affinity import FOREIGN, separations
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.device_parts import SharedGpus, devices_held
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.node_pool import WHOLE, NodePool
from adapters.kube.objects.node_record import NodeRecord, node_record
from adapters.kube.objects.pod_reader import Reducer, described
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.unread import counted_kinds
from adapters.machine.garbage import no_collection
from models.gangs import Gang, PodPhase, pod_sets
from models.nodes import Node
from models.reasons import counted
from models.resources import add, is_gpu, largest, num_gpus
from models.snapshot import Snapshot

SCHEDULERS = ("phalanx",)
_MOST_FAULTS = 50
_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)


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
    made = made_up(objects, pods)
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
    Makes snapshots; it remembers what pods said, so that the next one is quick.
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
        self._memberships = Memberships(self._dialects)

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
        """
        with no_collection():
            return self._assembled(pods, nodes, objects, now, faults)

    def _assembled(
        self,
        pods: Iterable[PodRecord],
        nodes: Iterable[NodeRecord],
        objects: Objects,
        now: float,
        faults: Iterable[str],
    ) -> Assembled:
        warnings = list(faults)
        ours, others = self._parted(pods)
        nodes = [record for record in nodes if self._pool.owns(record.node.labels)]
        grouped = self._memberships.grouped(ours, others, objects, warnings)
        for key in [k for k, group in grouped.items() if not self._is_ours(group)]:
            del grouped[key]
        everybody = {FOREIGN: others} | {k: g.pods for k, g in grouped.items()}
        apart = separations(everybody)
        said = queues_of(self._dialects, objects, warnings)
        topologies = topologies_of(self._dialects, objects, warnings)
        homes = Homes(said)
        maker = GangMaker(objects, homes, apart, now, (*ours, *others))
        gangs = sorted(
            (maker.gang(group) for group in grouped.values()),
            key=lambda gang: (gang.namespace, gang.name),
        )
        warnings += maker.warnings
        queues = said.usable + homes.made(warnings)
        warnings += _passed_over(objects, ours, others)
        records = list(_loaded(nodes, ours, others, gangs, warnings))
        budgets = list(budgets_of(objects, everybody, warnings))
        summary = self._summary(ours, others, objects, warnings)
        snapshot = Snapshot(
            nodes=tuple(sorted(records, key=lambda node: node.name)),
            gangs=tuple(gangs),
            queues=tuple(sorted(queues, key=lambda queue: queue.name)),
            topologies=tuple(topologies),
            budgets=tuple(sorted(budgets, key=lambda budget: budget.name)),
            warnings=tuple(summary.sentences()),
        )
        claims = {key: group.claim for key, group in grouped.items()}
        return Assembled(snapshot=snapshot, summary=summary, claims=claims)

    def _parted(
        self, pods: Iterable[PodRecord]
    ) -> tuple[list[PodRecord], list[PodRecord]]:
        """
        Part our pods from those of others; who leaves without a place is gone already.
        """
        ours: list[PodRecord] = []
        others: list[PodRecord] = []
        names = frozenset(self._schedulers)
        for pod in pods:
            if pod.scheduler not in names or not self._pool.owns(pod.labels):
                if pod.phase not in _FINISHED:
                    others.append(pod)
            elif pod.node is not None or pod.phase is not PodPhase.TERMINATING:
                ours.append(pod)
        return ours, others

    def _is_ours(self, group: Grouped) -> bool:
        """
        Tell whether a gang is of our pool: its pods say so, else its own labels.
        """
        if group.members or group.claim.source is None:
            return True
        meta = group.claim.source.get("metadata")
        labels = meta.get("labels") if isinstance(meta, Mapping) else None
        return self._pool.owns(labels or {})

    def _summary(
        self,
        ours: Sequence[PodRecord],
        others: Sequence[PodRecord],
        objects: Objects,
        warnings: Iterable[str],
    ) -> Summary:
        load: dict[str, int] = {}
        ignored: dict[str, int] = {}
        for pod in others:
            counts = ignored if pod.node is None else load
            counts[pod.scheduler] = counts.get(pod.scheduler, 0) + 1
        return Summary(
            schedulers=self._schedulers,
            ours=len(ours),
            load=load,
            ignored=ignored,
            missing=tuple(
                f"{resource.plural}.{resource.group}"
                for dialect in self._dialects
                for resource in dialect.resources
                if (resource.group, resource.kind) not in objects.by_kind
            ),
            warnings=tuple(dict.fromkeys(warnings)),
        )


def _empty(found: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """
    Say which workloads are not planned, since none of their pods is there.
    """
    names = sorted(f"{kind} {namespace}/{name}" for namespace, kind, name in found)
    if names:
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        yield (
            f"no pods are there of {', '.join(names[:3])}{more}: they are not planned, "
            "so submit or save the pods too"
        )


def _unread(objects: Objects, ours: Iterable[PodRecord]) -> Iterator[str]:
    """
    Count what is known and not read: kinds of objects, and words of our pods.
    """
    words = Counter(word for pod in ours for word in pod.unread)
    parts = [*counted_kinds(objects.unread)]
    parts += [
        f"{counted(number, 'pod')} with {word}"
        for word, number in sorted(words.items())
    ]
    if parts:
        yield f"not read: {', '.join(parts)}"


def _passed_over(
    objects: Objects, ours: Sequence[PodRecord], others: Sequence[PodRecord]
) -> Iterator[str]:
    """
    Say what is there and plays no part, or not all that it should.
    """
    yield from _empty(without_pods(objects, (*ours, *others)))
    yield from _unread(objects, ours)
    yield from _half_read(others)


def _half_read(others: Iterable[PodRecord]) -> Iterator[str]:
    """
    Say which running pods of others are counted, though not all of them can be read.

    One sentence for each fault: a tenant may have any number of such pods.
    """
    by_fault: dict[str, list[str]] = {}
    for pod in others:
        if pod.invalid and pod.node is not None and not pod.uncounted:
            by_fault.setdefault(pod.invalid[0], []).append(pod.key)
    for fault, names in list(by_fault.items())[:_MOST_FAULTS]:
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        yield f"pod {names[0]}{more} is counted, but cannot be read whole: {fault}"
    if (left := len(by_fault) - _MOST_FAULTS) > 0:
        yield f"running pods have {left:,} more faults of this kind"


def _loaded(
    nodes: Iterable[NodeRecord],
    ours: Iterable[PodRecord],
    others: Iterable[PodRecord],
    gangs: Iterable[Gang],
    warnings: list[str],
) -> Iterator[Node]:
    """
    Give the nodes with the load of others; what cannot be counted closes its node.
    """
    used, shared = _load(ours, others)
    closed: dict[str, PodRecord] = {}
    for pods in (ours, others):
        for pod in pods:
            if pod.uncounted and pod.node is not None and pod.phase not in _FINISHED:
                closed.setdefault(pod.node, pod)
    by_name = _asks_for_names(gangs)
    for record in nodes:
        node = record.node
        warnings += [f"node {node.name}: {fault}" for fault in record.invalid]
        labels = node.labels
        if by_name:
            labels = {**labels, NAME_FIELD: node.name}
        closer = closed.get(node.name)
        if closer is not None:
            what = f"nothing new goes there, since pod {closer.key} cannot be counted"
            warnings.append(f"node {node.name}: {what}: {closer.uncounted[0]}")
        load = used.get(node.name, {})
        for name in filter(is_gpu, node.allocatable):
            if amount := min(shared.get(node.name, 0), node.allocatable[name]):
                add(load, {name: amount})
        yield replace(
            node,
            used={name: min(amount, largest(name)) for name, amount in load.items()},
            labels=labels,
            unschedulable=node.unschedulable or closer is not None,
        )


def _load(
    ours: Iterable[PodRecord], others: Iterable[PodRecord]
) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """
    Sum up what others have on each node, and the GPUs there of which pods have parts.

    GPUs of our own pods with parts are counted with their gangs already.
    """
    used: dict[str, dict[str, int]] = {}
    shared: dict[str, list[SharedGpus]] = {}
    counted: dict[str, int] = {}
    for pod in others:
        if pod.node is None:
            continue
        asked = pod.requests
        if pod.shared is not None:
            shared.setdefault(pod.node, []).append(pod.shared)
        if pod.shared is not None and pod.shared.is_whole:
            asked = {name: n for name, n in asked.items() if not is_gpu(name)}
        add(used.setdefault(pod.node, {}), asked)
    for pod in ours:
        if pod.node is None or pod.shared is None or pod.phase in _FINISHED:
            continue
        shared.setdefault(pod.node, []).append(pod.shared)
        if pod.shared.is_whole:
            counted[pod.node] = counted.get(pod.node, 0) + num_gpus(pod.requests)
    more = {
        name: max(0, devices_held(pods) - counted.get(name, 0))
        for name, pods in shared.items()
    }
    return used, more


def _asks_for_names(gangs: Iterable[Gang]) -> bool:
    """
    Tell whether a pod asks for nodes by name and not by label.
    """
    demands = {leaf.demand for gang in gangs for leaf in pod_sets(gang.tree)}
    return any(rule.key == NAME_FIELD for d in demands for rule in d.rules())
