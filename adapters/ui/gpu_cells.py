"""
What is on each node, gang by gang: the GPUs of running, coming and leaving pods.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from models.devices.gpu_counts import in_gpus, shares_asked, shares_held
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, counts_as, part_of
from models.gangs import Gang, PodPhase, PodSet, pod_sets
from models.memory.aged_gangs import still
from models.memory.kept import Kept
from models.nodes import Node
from models.plan import Operation, Plan
from models.resources import GPU_SHARE, SHARES_PER_GPU, num_gpus
from models.snapshot import Snapshot

RUNS, ENDS, PROMISED, BOUND, EVICTED, MOVED, KEPT = "r", "t", "p", "b", "e", "m", "k"
"""
How pods are there: they run, terminate, have a place promised by an earlier round; or
by this plan are bound, evicted, moved away, have a place kept for them.
"""
_MOST_SIZES = 1024
_OTHERS, _TAKEN = -1, "o"
"""
Pods of others, and how these are there.
"""
_NOW = {
    PodPhase.RUNNING: RUNS,
    PodPhase.TERMINATING: ENDS,
    PodPhase.RESERVED: PROMISED,
}
_BEFORE = frozenset({RUNS, EVICTED, MOVED})
_AFTER = frozenset({RUNS, BOUND, MOVED})
"""
What is at work before a plan, and after it; what is moved is counted where it was.
"""


class _Walked(Protocol):
    def walk(self) -> Iterator[tuple[int, Node]]:
        """
        Walk the nodes with the number of their group.
        """


_Stay = tuple[str, str, int, tuple[int, int], tuple[tuple[int, int], ...]]
"""
A place of a pod: on which node, how, whole GPUs, in 1/7000 of one all that it holds
there and what its queue counts, and the thousandths of each device of which it has a
part.
"""


@dataclass(frozen=True, slots=True)
class GpuCells:
    """
    For each node what is there: gang, GPUs, how; and the GPUs at work after a plan.

    ``parts`` are those of devices below a whole one: gang, device, thousandths, how.
    Of each gang ``before`` and ``then`` are what it has at work before the plan and
    after it, in 1/7000 of a GPU, as queues count it: on nodes that have vanished, too.
    """

    rows: Sequence[Sequence[tuple[int, int, str]]]
    after: float
    parts: Mapping[int, Sequence[tuple[int, int, int, str]]]
    before: Mapping[int, int]
    then: Mapping[int, int]


class StaysMemo:
    """
    Where pods of gangs are that stay, while no plan makes something of them.

    It may be dropped at any time.
    """

    def __init__(self) -> None:
        self._memories: Mapping[str, int] = {}
        self._stays: Kept[Gang, tuple[_Stay, ...]] = Kept(self._make)

    def _make(self, gang: Gang) -> tuple[_Stay, ...]:
        return tuple(_stays(gang, self._memories, {}))

    def of(self, snapshot: Snapshot, plan: Plan | None) -> Iterator[Iterable[_Stay]]:
        """
        Walk the gangs of a snapshot, each with all places of its pods.
        """
        memories = {node.name: node.gpu_memory for node in snapshot.nodes}
        if memories != self._memories:
            self._memories, self._stays = memories, Kept(self._make)
        steps = {} if plan is None else {step.pod: step for step in plan.operations}
        moved = {step.gang for step in steps.values()}
        gangs = still(snapshot.gangs)
        for gang, stays in zip(gangs, self._stays.of(gangs), strict=True):
            yield _stays(gang, memories, steps) if gang.key in moved else stays


def cells_of(
    snapshot: Snapshot, nodes: _Walked, plan: Plan | None, memo: StaysMemo
) -> GpuCells:
    """
    Gather what is on each node, now and by a plan.
    """
    found = _Gathered([node for _, node in nodes.walk()])
    for at, stays in enumerate(memo.of(snapshot, plan)):
        found.add(at, stays)
    return found.cells()


def parts_of_others(node: Node) -> list[tuple[int, int]]:
    """
    Give the parts of devices that others have, in 1/7000, where parts are counted.
    """
    shared = [x for x in node.taken if x.contract and GPU_SHARE in node.used]
    return [
        (x.device, counts_as(GpuPart(x.contract, x.cores, memory=x.memory), (memory,)))
        for memory in [node.gpu_memory]
        for x in shared
    ]


class _Gathered:
    """
    What was found on the nodes so far, a leaf at a time.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._at = {node.name: place for place, node in enumerate(nodes)}
        self._there = [defaultdict[tuple[int, str], int](int) for _ in nodes]
        self._parts = defaultdict[int, list[tuple[int, int, int, str]]](list)
        self._after = 0
        self._before, self._then = Counter[int](), Counter[int]()

    def add(self, gang: int, stays: Iterable[_Stay]) -> None:
        """
        Add the places of a gang's pods.
        """
        for node, how, gpus, (held, counts), parts in stays:
            place = self._at.get(node)
            if how in _BEFORE:
                self._before[gang] += counts
            if how in _AFTER:
                self._then[gang] += counts
                self._after += 0 if place is None else held
            if place is None:
                continue
            self._there[place][gang, how] += gpus
            if parts:
                self._parts[place] += [(gang, at, size, how) for at, size in parts]

    def cells(self) -> GpuCells:
        """
        Give what was found, sorted.
        """
        rows = [
            sorted((gang, gpus, how) for (gang, how), gpus in each.items())
            for each in self._there
        ]
        for at, node in enumerate(self._nodes):
            for device, share in parts_of_others(node):
                size = share * WHOLE // SHARES_PER_GPU
                self._parts[at].append((_OTHERS, device, size, _TAKEN))
        parts = {at: sorted(row) for at, row in self._parts.items()}
        after = in_gpus(self._after)
        return GpuCells(rows, after, parts, self._before, self._then)


@lru_cache(_MOST_SIZES)
def _thousandths(part: GpuPart, memory: int) -> int:
    """
    Give the part of each of its devices that counts as taken.
    """
    whole = counts_as(part, (memory,) if memory else ())
    return whole * WHOLE // (SHARES_PER_GPU * max(1, part.count))


def _stays(
    gang: Gang, memories: Mapping[str, int], steps: Mapping[str, Operation]
) -> Iterator[_Stay]:
    """
    Walk all places of a gang's pods, now and by a plan.
    """
    for leaf in pod_sets(gang.tree):
        asked, part = leaf.requests, part_of(leaf.requests)
        counts = shares_asked(asked)
        gpus = num_gpus(asked) if part else counts // SHARES_PER_GPU
        for node, how, devices in _places(gang.namespace, leaf, steps):
            memory = memories.get(node, 0)
            size = _thousandths(part, memory) if part is not None and devices else 0
            parts = tuple([(x.device, size) for x in devices]) if part else ()
            yield node, how, gpus, (shares_held(asked, memory), counts), parts


def _places(
    namespace: str, leaf: PodSet, steps: Mapping[str, Operation]
) -> Iterator[tuple[str, str, tuple[GpuDevice, ...]]]:
    """
    Walk the places of a leaf's pods: on which node, how, and on which devices.
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
