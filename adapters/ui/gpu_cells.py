"""
What is on each node, gang by gang: the GPUs of running, coming and leaving pods.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.devices.gpu_counts import in_gpus, shares_held
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, counts_as, part_of
from models.gangs import PodPhase, PodSet, pod_sets
from models.nodes import Node
from models.plan import Operation, Plan
from models.resources import SHARES_PER_GPU, num_gpus
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
    for gang in snapshot.gangs:
        number = gangs[gang.key]
        for leaf in pod_sets(gang.tree):
            gpus, part = num_gpus(leaf.requests), part_of(leaf.requests)
            works: Counter[int] = Counter()
            for node, how, devices in _stays(gang.namespace, leaf, steps):
                place = at.get(node)
                if place is None:
                    continue
                if how in _AFTER:
                    works[memories[node]] += 1
                there[place][number, how] += gpus
                if part is not None and devices:
                    size = _thousandths(part, memories[node])
                    parts[place] += [(number, x.device, size, how) for x in devices]
            for memory, pods in works.items():
                after += shares_held(leaf.requests, memory) * pods
    rows = [
        sorted((gang, gpus, how) for (gang, how), gpus in each.items())
        for each in there
    ]
    return GpuCells(
        rows, in_gpus(after), {at: sorted(row) for at, row in parts.items()}
    )


def _thousandths(part: GpuPart, memory: int) -> int:
    """
    Give the part of each of its devices that counts as taken.
    """
    whole = counts_as(part, (memory,) if memory else ())
    return whole * WHOLE // (SHARES_PER_GPU * max(1, part.count))


def _stays(
    namespace: str, leaf: PodSet, steps: Mapping[str, Operation]
) -> Iterator[tuple[str, str, tuple[GpuDevice, ...]]]:
    """
    Walk all places of a leaf's pods, now and by a plan: where, how, on which devices.
    """
    for pod in leaf.pods:
        step = steps.get(f"{namespace}/{pod.name}") if steps else None
        how = _NOW.get(pod.phase)
        if how is not None and pod.node is not None:
            yield pod.node, _left(how, step), pod.devices
        if step is not None and step.op != "Evict":
            yield step.node, BOUND if step.op == "Bind" else KEPT, step.devices


def _left(how: str, step: Operation | None) -> str:
    """
    Say how a pod is where it was, of which a plan makes something.
    """
    if step is None or how != RUNS:
        return how
    return {"Evict": EVICTED, "Move": MOVED}.get(step.op, how)
