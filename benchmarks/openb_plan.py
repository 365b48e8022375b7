"""
openb as one round: all pods of its list wait at once for its nodes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.contract import FOLDER
from benchmarks.contract_devices import OpenbPlan
from benchmarks.devices import used_row
from benchmarks.openb import NODES, pods_of, sorted_rows
from benchmarks.openb_nodes import OpenbPod
from benchmarks.planned import planned
from benchmarks.rows import Range, Row
from models.devices.gpu_parts import WHOLE, GpuPart, with_shares
from models.gangs import Gang, Pod, PodSet
from models.nodes import Node
from models.policy import Policy, Tier
from models.resources import CPU, GPU, MEMORY, PODS, Resources
from models.snapshot import Snapshot

_MIB = 2**20
_MOST_PODS = 110


def measure_openb_plan(contract: OpenbPlan) -> Iterator[Row]:
    """
    Hold what the pods of a list use of the GPUs against what they could use at most.
    """
    root = (FOLDER.parents[1] / contract.folder).resolve()
    if not (root / "openb").is_dir():
        yield Row(name=contract.name, skipped=f"no openb in {root}")
        return
    snapshot = waiting(root, contract.workload)
    plan = planned(snapshot, contract.policy)
    greedy = planned(snapshot, contract.policy, "greedy")
    facts = {
        "pods": len(snapshot.gangs),
        "bound": sum(step.op == "Bind" for step in plan.operations),
        "bound by greedy": sum(step.op == "Bind" for step in greedy.operations),
    }
    most = _proven(snapshot, contract.policy)
    plans = plan, greedy
    row = used_row(contract.name, snapshot, plans, facts, contract.at_most, most)
    in_time = Range(what="seconds", value=row.seconds["total"], limit=contract.seconds)
    yield replace(row, ranges=(*row.ranges, in_time))


def _proven(snapshot: Snapshot, policy: Policy) -> float:
    """
    Give the GPUs that no plan uses more of, as a round proves that only counts these.
    """
    only = Tier.model_construct(name="gpus", gap=None, after=None, gpus=None, pods=())
    plan = planned(snapshot, policy.model_copy(update={"tiers": (only,)}))
    line = next(tier for tier in plan.tiers if tier.name == "gpus")
    return line.bound / line.pieces


def waiting(root: Path, workload: str) -> Snapshot:
    """
    Let all pods of a workload wait, the first of the list the oldest.
    """
    pods = pods_of(root, workload)
    return Snapshot(
        nodes=tuple(map(_node, sorted_rows(root / "openb" / NODES, "sn"))),
        gangs=tuple(_gang(at, pod, len(pods)) for at, pod in enumerate(pods)),
    )


def _node(row: Mapping[str, Any]) -> Node:
    offer = {
        CPU: int(row["cpu_milli"]),
        MEMORY: int(row["memory_mib"]) * _MIB,
        GPU: int(row["gpu"]),
        PODS: _MOST_PODS,
    }
    return Node(
        name=str(row["sn"]),
        allocatable=with_shares(offer, ()),
        labels={"model": str(row["model"])},
    )


def _gang(at: int, pod: OpenbPod, number: int) -> Gang:
    name = f"pod-{at:05d}"
    tree = PodSet(
        name="",
        minimum=1,
        replicas=1,
        requests=with_shares(_requests(pod), ()),
        pods=(Pod(name),),
    )
    return Gang(name=name, tree=tree, age=number - at)


def _requests(pod: OpenbPod) -> Resources:
    requests = {CPU: pod.cpu, MEMORY: pod.memory * _MIB, PODS: 1}
    if 0 < pod.milli < WHOLE:
        part = GpuPart(cores=pod.milli, share=pod.milli)
        return {**requests, part.resource: 1}
    return {**requests, GPU: pod.devices} if pod.devices else requests
