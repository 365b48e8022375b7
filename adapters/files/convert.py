"""
Checked files to records: names given, defaults filled in, equal things shared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from adapters.files.checking.across_file import expanded
from adapters.files.checking.device_checks import asks_for_parts
from adapters.files.checking.gang_checks import leaves_of
from adapters.files.gang_records import FileGangMaker, host_ports
from adapters.files.neighbour_records import free_volumes_of, others_of
from adapters.files.recorded_times import record_of
from models.devices.gpu_models import split, with_models, with_sums
from models.devices.gpu_parts import (
    MigDevices,
    TakenDevice,
    part_of,
    with_shares,
    with_shares_of_others,
)
from models.documents.place_specs import MigSpec, TakenSpec
from models.documents.queue_specs import QueueSpec, QuotaSpec
from models.documents.scenario import (
    BudgetSpec,
    Given,
    TopologySpec,
)
from models.documents.written import quota_amount
from models.gangs import DisruptionBudget, Gang, pod_sets
from models.host_ports import ports_offered
from models.memory.usage_hours import parse_usage
from models.names import nearest
from models.nodes import HOSTNAME, Node, Taint
from models.queues import Queue, QueueResource, say_parts, with_shared_gpus
from models.resources import CLAIMED_GPUS, DEFAULT_PODS, PODS, Resources
from models.snapshot import Snapshot
from models.topology import Topology
from models.why.reasons import counted, does, listed

_MOST_NAMED = 3


def make_snapshot(given: Given) -> Snapshot:
    """
    Build the snapshot of a file that has no faults.
    """
    return with_models(_plain_snapshot(given))


def _plain_snapshot(given: Given) -> Snapshot:
    """
    Build the snapshot as it is written, without what is reckoned of models.
    """
    nodes, gangs = sorted(_nodes(given), key=lambda node: node.name), _gangs(given)
    queues = sorted(_queues(given), key=lambda q: q.name)
    told = (
        *_warnings(given),
        *_of_no_model(queues, gangs),
        *_bound_nowhere(nodes, queues, gangs),
        *_lost(nodes, gangs),
    )
    return Snapshot(
        nodes=tuple(nodes),
        gangs=gangs,
        queues=tuple(queues),
        topologies=tuple(
            sorted(map(_topology, given.topologies), key=lambda t: t.name)
        ),
        budgets=tuple(sorted(map(_budget, given.budgets), key=lambda b: b.name)),
        unchanged_for=given.unchanged_for,
        held=given.held,
        also_waiting=tuple(each.pair for each in given.also_waiting),
        run_times=record_of(given.run_times, given.run_time_levels),
        warnings=told,
    )


def _gangs(given: Given) -> tuple[Gang, ...]:
    names = [topology.name for topology in given.topologies]
    only = names[0] if len(names) == 1 else None
    maker = FileGangMaker(only, _memories(given) if _has_parts(given) else None)
    gangs = [maker.gang(spec, name) for spec in given.gangs for name in expanded(spec)]
    gangs.sort(key=lambda gang: (gang.namespace, gang.name))
    return tuple(gangs)


def _has_parts(given: Given) -> bool:
    """
    Tell whether gangs or queues say a part of a GPU, or GPUs are had by claim.
    """
    claimed = any(CLAIMED_GPUS in node.allocatable for node in given.nodes)
    asked = claimed or any(map(asks_for_parts, given.gangs))
    return asked or say_parts(map(_queue, given.queues))


def _memories(given: Given) -> frozenset[int]:
    return frozenset(node.gpu_memory for node in given.nodes)


def _nodes(given: Given) -> Iterable[Node]:
    offers: dict[int, Resources] = {}
    has_parts = _has_parts(given)
    leaves = (leaf for gang in given.gangs for _, leaf in leaves_of(gang, ()))
    ports = ports_offered({name for leaf in leaves for name in host_ports(leaf)})
    for spec in given.nodes:
        offer = offers.get(id(spec.allocatable))
        if offer is None:
            offer = {PODS: DEFAULT_PODS, **spec.allocatable, **ports}
            offer = with_shares(offer, ()) if has_parts else offer
            offers[id(spec.allocatable)] = offer
        taints = tuple(
            Taint(key=t.key, value=t.value, effect=t.effect) for t in spec.taints
        )
        mig, taken = _mig(spec.mig), _taken(spec.taken)
        used = spec.used
        if has_parts:
            used = with_shares_of_others(used, taken, spec.gpu_memory)
        for name in expanded(spec):
            yield Node(
                name=name,
                allocatable=offer,
                used=used,
                tied=tuple(spec.tied),
                labels={HOSTNAME: name, **spec.labels},
                taints=taints,
                unschedulable=spec.unschedulable,
                gpu_model=spec.gpu_model,
                gpu_memory=spec.gpu_memory,
                mig=mig,
                taken=taken,
                others=others_of(spec.others),
                volumes=free_volumes_of(spec.volumes),
            )


def _mig(spec: MigSpec | None) -> MigDevices | None:
    if spec is None:
        return None
    return MigDevices(spec.model, tuple(sorted(spec.devices)))


def _taken(specs: Iterable[TakenSpec]) -> tuple[TakenDevice, ...]:
    found = (
        TakenDevice(x.device, x.contract or "", x.cores or 0, x.memory or 0)
        for x in specs
    )
    return tuple(sorted(found))


def _queues(given: Given) -> Iterable[Queue]:
    """
    Make the queues; what they say of GPUs holds for parts of them too, if they count.
    """
    queues = map(_queue, given.queues)
    return map(with_shared_gpus, queues) if _has_parts(given) else queues


def _queue(spec: QueueSpec) -> Queue:
    return Queue(
        name=spec.name,
        parent=spec.parent,
        priority=spec.priority,
        open=spec.state == "Open",
        resources=_rules(spec.resources),
        preempt_min_runtime=spec.min_runtime.preempt,
        reclaim_min_runtime=spec.min_runtime.reclaim,
        usage={
            name: amount
            for name, text in spec.usage.items()
            if (amount := parse_usage(name, text))
        },
    )


def _rules(specs: Mapping[str, QuotaSpec]) -> dict[str, QueueResource]:
    """
    Read the rules; a quota of which nothing is said is that of its models, or nothing.
    """
    rules = {
        name: QueueResource(
            quota=0 if rule.quota is None else quota_amount(name, rule.quota),
            limit=quota_amount(name, rule.limit),
            weight=rule.weight,
            lend=quota_amount(name, rule.lending_limit),
            is_sum=rule.is_sum,
        )
        for resource, spec in specs.items()
        for name, rule in spec.of_models(resource)
    }
    return with_sums(rules)


def _topology(spec: TopologySpec) -> Topology:
    return Topology(name=spec.name, levels=tuple(spec.levels))


def _budget(spec: BudgetSpec) -> DisruptionBudget:
    gangs = {name if "/" in name else f"default/{name}" for name in spec.gangs}
    return DisruptionBudget(
        name=spec.name, gangs=tuple(sorted(gangs)), allowed=spec.allowed
    )


def _warnings(given: Given) -> Iterable[str]:
    relaxed = sum(spec.count for spec in given.gangs if spec.mode == "NonStrict")
    if relaxed:
        said = does(
            relaxed, "gang says NonStrict and is", "gangs say NonStrict and are"
        )
        yield f"{said} planned as Strict: part of a gang is never held"


def _of_no_model(queues: Iterable[Queue], gangs: Iterable[Gang]) -> Iterable[str]:
    """
    Say whose parts of GPUs no rule for a model bounds (decision 0031).
    """
    if not any(split(name)[1] for queue in queues for name in queue.resources):
        return
    leaves = ((gang, leaf) for gang in gangs for leaf in pod_sets(gang.tree))
    found = {gang.key: None for gang, leaf in leaves if part_of(leaf.requests)}
    if found:
        yield (
            "parts of GPUs count in what queues may have of all GPUs, and in what they "
            f"may have of no single model: {listed([*found], 'gang')}"
        )


def _bound_nowhere(
    nodes: Iterable[Node], queues: Iterable[Queue], gangs: Iterable[Gang]
) -> Iterable[str]:
    """
    Name what queues bound and nobody has or asks for, where another name is like it.
    """
    offered = {name for node in nodes for name in node.allocatable}
    bound = Counter(split(name)[0] for queue in queues for name in queue.resources)
    meant = {name: nearest(name, offered) for name in bound if name not in offered}
    if not any(meant.values()):
        return
    asked = {x for gang in gangs for leaf in pod_sets(gang.tree) for x in leaf.requests}
    for name in sorted(name for name in meant if meant[name] and name not in asked):
        number = does(bound[name], "queue bounds", "queues bound")
        yield f"{number} {name}, which no node offers; is {meant[name]} meant?"


def _lost(nodes: Sequence[Node], gangs: Iterable[Gang]) -> Iterable[str]:
    """
    Name the nodes of pods that are not there, and what may have been meant.
    """
    known = {node.name for node in nodes}
    pods = (pod for gang in gangs for leaf in pod_sets(gang.tree) for pod in leaf.pods)
    lost = Counter(pod.node for pod in pods if pod.node and pod.node not in known)
    for name, number in sorted(lost.items())[:_MOST_NAMED]:
        stem = name.rpartition("-")[0]
        found = stem if stem in known else nearest(name, known)
        hint = f"; is {found} meant?" if found else ""
        yield f"{counted(number, 'pod')} on {name}, which is not among the nodes{hint}"
    if len(lost) > _MOST_NAMED:
        yield f"and pods on {len(lost) - _MOST_NAMED} more nodes that are not there"
