"""
What is on each node, gang by gang: the GPUs of running, coming and leaving pods.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.gangs import PodPhase, pod_sets
from models.nodes import Node
from models.plan import Operation, Plan
from models.resources import num_gpus
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
    """

    rows: Sequence[Sequence[tuple[int, int, str]]]
    after: int


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
    for key, gpus, node, how in _placed(snapshot, steps):
        place = at.get(node)
        if place is not None:
            there[place][gangs[key], how] += gpus
    rows = [
        sorted((gang, gpus, how) for (gang, how), gpus in each.items())
        for each in there
    ]
    after = sum(gpus for row in rows for _, gpus, how in row if how in _AFTER)
    return GpuCells(rows, after)


def _placed(
    snapshot: Snapshot, steps: Mapping[str, Operation]
) -> Iterable[tuple[str, int, str, str]]:
    """
    Walk all places of pods: gang, GPUs, node, and how it is there.
    """
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            gpus = num_gpus(leaf.requests)
            for pod in leaf.pods:
                step = steps.get(f"{gang.namespace}/{pod.name}") if steps else None
                if pod.node is not None:
                    how = _NOW.get(pod.phase)
                    if how is not None:
                        yield gang.key, gpus, pod.node, _left(how, step)
                if step is not None and step.op != "Evict":
                    how = BOUND if step.op == "Bind" else KEPT
                    yield gang.key, gpus, step.node, how


def _left(how: str, step: Operation | None) -> str:
    """
    Say how a pod is where it was, of which a plan makes something.
    """
    if step is None or how != RUNS:
        return how
    return {"Evict": EVICTED, "Move": MOVED}.get(step.op, how)
