"""
Snapshots as files: the records people write, with everything that is not a default.

Reading what is written here gives the same snapshot, but for the uids of pods.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from adapters.files.neighbour_records import (
    free_volumes_written,
    neighbours_written,
    others_written,
)
from adapters.files.recorded_times import (
    kind_document,
    run_time_levels_document,
    run_times_document,
)
from adapters.files.writing.demand_writer import demand_record
from adapters.files.writing.device_writer import (
    device_records,
    gpu_record,
    mig_record,
    taken_records,
)
from adapters.files.writing.queue_writer import amount_record, keep_said, queue_record
from models.devices.gpu_parts import (
    is_reckoned,
    part_of,
    with_claimed,
    with_claimed_of_others,
)
from models.documents.written import is_name
from models.gangs import (
    DisruptionBudget,
    Gang,
    Group,
    MatchPolicy,
    Pod,
    PodPhase,
    PodSet,
    Tree,
)
from models.host_ports import is_host_port, ports_of
from models.nodes import HOSTNAME, Node
from models.resources import (
    DEFAULT_PODS,
    MODEL_MARK,
    PODS,
    Resources,
)
from models.snapshot import Snapshot
from models.topology import TopologyDemand

Record = dict[str, Any]
_ORDER = {
    phase: at
    for at, phase in enumerate(
        (
            PodPhase.RUNNING,
            PodPhase.TERMINATING,
            PodPhase.RESERVED,
            PodPhase.SUCCEEDED,
            PodPhase.FAILED,
            PodPhase.GATED,
            PodPhase.PENDING,
        )
    )
}
_PLACED = {
    PodPhase.RUNNING: ("running", "for"),
    PodPhase.TERMINATING: ("terminating", "since"),
    PodPhase.RESERVED: ("reserved", ""),
}
_COUNTED = (PodPhase.SUCCEEDED, PodPhase.FAILED, PodPhase.GATED)


def snapshot_document(
    snapshot: Snapshot, source: str = "", observed: str = ""
) -> Record:
    """
    Write a snapshot as plain values, with whence and when it is.
    """
    given = {
        "nodes": [_node(node) for node in snapshot.nodes],
        "topologies": [
            {"name": t.name, "levels": list(t.levels)} for t in snapshot.topologies
        ],
        "queues": [queue_record(queue) for queue in snapshot.queues],
        "gangs": [_gang(gang) for gang in snapshot.gangs],
        "budgets": [_budget(budget) for budget in snapshot.budgets],
    }
    head: Record = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
    if observed:
        head["observed"] = observed
    if source:
        head["source"] = source
    said: Record = {word: list_ for word, list_ in given.items() if list_}
    if snapshot.unchanged_for is not None:
        said["unchangedFor"] = snapshot.unchanged_for
    said |= keep_said(
        held=snapshot.held or None,
        alsoWaiting=[
            {"gpus": gpus, "gangs": gangs} for gpus, gangs in snapshot.also_waiting
        ],
        runTimes=run_times_document(snapshot.run_times),
        runTimeLevels=run_time_levels_document(snapshot.run_times),
    )
    return {**head, "given": said}


def _amounts(resources: Resources, **unsaid: int) -> Record:
    return {
        name: amount_record(name, amount)
        for name, amount in sorted(resources.items())
        if unsaid.get(name) != amount
        and not is_host_port(name)
        and not is_reckoned(name)
        and MODEL_MARK not in name
    }


def _used(node: Node) -> Record:
    """
    Write what others use of a node, ports of it too where somebody asks for them.
    """
    ports = {
        name: amount
        for name, amount in sorted(node.used.items())
        if amount and is_host_port(name) and name in node.allocatable
    }
    used = with_claimed_of_others(node.used, node.taken, node.gpu_memory)
    return {**_amounts({k: v for k, v in used.items() if v}), **ports}


def _node(node: Node) -> Record:
    labels = {
        key: value
        for key, value in sorted(node.labels.items())
        if (key, value) != (HOSTNAME, node.name)
    }
    return {
        "name": node.name,
        "allocatable": _amounts(with_claimed(node.allocatable), **{PODS: DEFAULT_PODS}),
        **keep_said(
            labels=labels,
            taints=[
                keep_said(key=t.key, value=t.value, effect=t.effect)
                for t in node.taints
            ],
            unschedulable=node.unschedulable,
            used=_used(node),
            tied=list(map(_amounts, node.tied)),
            gpuModel=node.gpu_model,
            gpuMemory=node.gpu_memory or None,
            mig=mig_record(node.mig),
            taken=taken_records(node.taken),
            others=others_written(node),
            freeVolumes=free_volumes_written(node),
        ),
    }


def _budget(budget: DisruptionBudget) -> Record:
    return {
        "name": budget.name,
        "gangs": list(budget.gangs),
        "allowed": budget.allowed,
    }


def _gang(gang: Gang) -> Record:
    """
    Write one gang; its root is written into it.
    """
    return {
        "name": gang.name,
        **keep_said(
            namespace=gang.namespace if gang.namespace != "default" else None,
            queue=_queue_of(gang),
            priority=gang.priority or None,
        ),
        **({} if gang.preemptible else {"preemptible": False}),
        **_history(gang),
        **_refused(gang),
        **_tree(gang.tree, gang.name, is_root=True),
    }


def _history(gang: Gang) -> Record:
    """
    Write what is known of a gang beside its pods: how it is matched, and its times.
    """
    policy = gang.match_policy
    waits = policy is MatchPolicy.WAITING_AND_RUNNING
    return keep_said(
        age=gang.age or None,
        group=list(gang.mates),
        matchPolicy=None if waits else str(policy),
        mode=gang.mode if gang.mode != "Strict" else None,
        onceSatisfied=gang.once_satisfied,
        timedOut=gang.timed_out,
        backoff=gang.backoff or None,
        minResources=_amounts(gang.min_resources),
        waitingTime=gang.waiting_time,
        maxRuntime=gang.max_runtime,
        staleAfter=gang.stale_after,
        staleSince=gang.stale_since,
        evictedAgo=gang.evicted_ago,
        passedOver=gang.passed_over or None,
        heldFor=gang.held_for or None,
        heldFirst=gang.held_first,
        lentBy=list(gang.lent_by),
        runsLike=kind_document(gang.runs_like) if gang.runs_like else None,
    )


def _refused(gang: Gang) -> Record:
    if gang.refused is None:
        return {}
    facts = dict(gang.refused.facts)
    return {"refused": {"reason": str(gang.refused.reason), "facts": facts}}


def _queue_of(gang: Gang) -> str | None:
    """
    Give the queue as it is written; what is no name is none, and its gang is refused.
    """
    return gang.queue if is_name(gang.queue) and gang.queue != "default" else None


def _tree(
    tree: Tree, stem: str, *, is_root: bool = False, beneath: bool = False
) -> Record:
    """
    Write a node of a gang's tree; ``beneath`` a minPods leaves say all their pods.
    """
    name: Record = {} if is_root else {"name": tree.name}
    if isinstance(tree, PodSet):
        pods = {"replicas": tree.replicas} if beneath else {}
        return {**name, **_leaf(tree, stem), **pods}
    gang = stem if is_root else stem.removesuffix(f"-{tree.name}")
    below = beneath or tree.min_pods > 0
    return {
        **name,
        **keep_said(topology=_topology(tree.topology)),
        **_minimums(tree),
        "groups": [
            _tree(child, f"{gang}-{child.name}", beneath=below)
            for child in tree.children
        ],
    }


def _minimums(group: Group) -> Record:
    if group.min_pods:
        least = {"minGroups": group.min_groups} if group.min_groups else {}
        return {**least, "minPods": group.min_pods}
    if group.min_groups == len(group.children):
        return {}
    return {"minGroups": group.min_groups}


def _leaf(leaf: PodSet, stem: str) -> Record:
    pods = in_file_order(leaf.pods)
    names = [pod.name for pod in pods]
    usual = [f"{stem}-{index}" for index in range(len(pods))]
    record: Record = {"min": leaf.minimum}
    if leaf.replicas != leaf.minimum:
        record["replicas"] = leaf.replicas
    if len(pods) != leaf.replicas:
        record["created"] = len(pods)
    if names != usual:
        record["names"] = names
    for phase in _COUNTED:
        number = sum(pod.phase is phase for pod in pods)
        if number:
            record[phase.value.lower()] = number
    requests = {k: v for k, v in leaf.requests.items() if v or k == PODS}
    return {
        **record,
        **keep_said(
            gates=list(leaf.gates),
            requests=_amounts(with_claimed(requests), **{PODS: 1}),
            gpu=gpu_record(part_of(leaf.requests)),
            **demand_record(leaf.demand),
            hostPorts=list(map(_port, ports_of(leaf.requests))),
            exclusive=leaf.exclusive,
            after=list(leaf.after),
            topology=_topology(leaf.topology),
            **neighbours_written(leaf.neighbours),
        ),
        **keep_said(**{word: list(_entries(pods, phase)) for phase, word in _words()}),
    }


def _port(port: tuple[int, str, str]) -> int | Record:
    number, protocol, address = port
    if protocol == "TCP" and not address:
        return number
    said = protocol if protocol != "TCP" else None
    return {"port": number, **keep_said(protocol=said, address=address)}


def _words() -> Iterator[tuple[PodPhase, str]]:
    for phase, (word, _) in _PLACED.items():
        yield phase, word


def in_file_order(pods: Iterable[Pod]) -> list[Pod]:
    """
    Sort pods as a file counts them: by phase, and otherwise as they are.
    """
    return sorted(pods, key=lambda pod: _ORDER[pod.phase])


def _entries(pods: Sequence[Pod], phase: PodPhase) -> Iterator[Record]:
    clock = _PLACED[phase][1]
    here = [pod for pod in pods if pod.phase is phase]
    for (node, seconds, devices, tied), several in groupby(
        here, lambda p: (p.node, p.seconds, p.devices, p.tied)
    ):
        number = len(list(several))
        entry: Record = {"node": node}
        if devices:
            entry["devices"] = device_records(devices)
        if tied:
            entry["tied"] = list(tied)
        if number > 1:
            entry["pods"] = number
        if seconds and clock:
            entry[clock] = seconds
        yield entry


def _topology(demand: TopologyDemand | None) -> Record | None:
    if demand is None:
        return None
    return keep_said(
        name=demand.topology, required=demand.required, preferred=demand.preferred
    )


def usual_names(gang: Gang) -> Gang:
    """
    Give a gang's pods the names that files give them.
    """
    return replace(gang, tree=_renamed(gang.tree, gang.name, gang.name))


def _renamed(tree: Tree, gang: str, stem: str) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_renamed(c, gang, f"{gang}-{c.name}") for c in tree.children)
        return replace(tree, children=children)
    pods = in_file_order(tree.pods)
    named = (replace(p, name=f"{stem}-{i}", uid=None) for i, p in enumerate(pods))
    return replace(tree, pods=tuple(named))
