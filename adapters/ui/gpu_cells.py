"""
What is on each node, gang by gang: the GPUs of running, coming and leaving pods.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.devices.gpu_counts import in_gpus, shares_held
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, counts_as, part_of
from models.gangs import PodPhase, pod_sets
from models.nodes import Node
from models.plan import Operation, Plan
from models.resources import SHARES_PER_GPU, Resources, num_gpus
from models.snapshot import Snapshot

RUNS, ENDS, PROMISED, BOUND, EVICTED, MOVED, KEPT = "r", "t", "p", "b", "e", "m", "k"
"""
How pods are there: they run, terminate, have a place promised by an earlier round; or
by this plan are bound, evicted, moved away, have a place kept for them.
"""
_NOW = {
    PodPhase.RUNNING: RUNS,
    PodPhase.TERMINATING: ENDS,
    PodPhase.RESERVED: PROMISED,
}
_AFTER = frozenset({RUNS, BOUND})


class _Walked(Protocol):
    def walk(self) -> Iterator[tuple[int, Node]]:
        """
        Walk the nodes with the number of their group.
        """


@dataclass(frozen=True, slots=True)
class GpuCells:
    """
    For each node what is there: gang, GPUs, how; and the GPUs at work after a plan.

    ``parts`` are those of devices below a whole one: gang, device, thousandths, how.
    """

    rows: Sequence[Sequence[tuple[int, int, str]]]
    after: float
    parts: Mapping[int, Sequence[tuple[int, int, int, str]]]


def cells_of(
    snapshot: Snapshot,
    nodes: _Walked,
    gangs: Mapping[str, int],
    plan: Plan | None,
) -> GpuCells:
    """
    Gather what is on each node, now and by a plan.
    """
    at = {node.name: place for place, (_, node) in enumerate(nodes.walk())}
    there: list[defaultdict[tuple[int, str], int]] = [defaultdict(int) for _ in at]
    steps = {} if plan is None else {step.pod: step for step in plan.operations}
    parts: defaultdict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
    memories = {node.name: node.gpu_memory for _, node in nodes.walk()}
    after = 0
    for stay in _placed(snapshot, steps):
        place = at.get(stay.node)
        if place is None:
            continue
        gang = gangs[stay.gang]
        if stay.how in _AFTER:
            after += shares_held(stay.requests, memories[stay.node])
        there[place][gang, stay.how] += num_gpus(stay.requests)
        part = part_of(stay.requests)
        if part is not None and stay.devices:
            size = _thousandths(part, memories[stay.node])
            parts[place] += [
                (gang, each.device, size, stay.how) for each in stay.devices
            ]
    rows = [
        sorted((gang, gpus, how) for (gang, how), gpus in each.items())
        for each in there
    ]
    return GpuCells(
        rows, in_gpus(after), {at: sorted(row) for at, row in parts.items()}
    )


@dataclass(frozen=True, slots=True)
class PodStay:
    """
    A pod's place: whose it is, where, what it asks for, how, and on which devices.
    """

    gang: str
    node: str
    requests: Resources
    how: str
    devices: tuple[GpuDevice, ...]


def _thousandths(part: GpuPart, memory: int) -> int:
    """
    Give the part of each of its devices that counts as taken.
    """
    whole = counts_as(part, (memory,) if memory else ())
    return whole * WHOLE // (SHARES_PER_GPU * max(1, part.count))


def _placed(snapshot: Snapshot, steps: Mapping[str, Operation]) -> Iterable[PodStay]:
    """
    Walk all places of pods, now and by a plan.
    """
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                step = steps.get(f"{gang.namespace}/{pod.name}") if steps else None
                how = _NOW.get(pod.phase) if pod.node is not None else None
                if how is not None and pod.node is not None:
                    left = _left(how, step)
                    yield PodStay(gang.key, pod.node, leaf.requests, left, pod.devices)
                if step is not None and step.op != "Evict":
                    how = BOUND if step.op == "Bind" else KEPT
                    node, devices = step.node, step.devices
                    yield PodStay(gang.key, node, leaf.requests, how, devices)


def _left(how: str, step: Operation | None) -> str:
    """
    Say how a pod is where it was, of which a plan makes something.
    """
    if step is None or how != RUNS:
        return how
    return {"Evict": EVICTED, "Move": MOVED}.get(step.op, how)
