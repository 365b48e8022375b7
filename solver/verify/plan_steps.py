"""
What a plan does: its operations with the pods they name, counted gang by gang.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from models.gangs import ON_A_NODE, Gang, Pod, PodPhase, PodSet, pod_sets
from models.plan import Operation

Amounts = dict[str, dict[str, int]]
Places = dict[str, dict[str, int]]
Rows = Mapping[str, Mapping[str, int]]
PLACING = frozenset({"Bind", "Reserve"})
TAKING = frozenset({"Evict", "Move"})
RECLAIM, PREEMPT = "reclaim", "preempt"
CONSOLIDATE, STALE, LEND = "consolidate", "stale", "lend"
_NONE: Rows = MappingProxyType({})
LEAVING_SECONDS = 120
"""
A pod that terminates for less than this is room for what is reserved.
"""


class Step(NamedTuple):
    """
    An operation with the pod it names, if that exists; ``again`` if named before.

    ``takes`` tells whether a pod that runs there is evicted or moved.
    """

    operation: Operation
    pod: Pod | None
    leaf: PodSet | None
    again: bool
    takes: bool = False

    @property
    def source(self) -> str | None:
        """
        The node that an Evict or a Move takes the pod from.
        """
        return _source(self.operation)


class Deeds(NamedTuple):
    """
    What the plan does with the pods of one gang: leaf to node to pods.

    ``departed`` are evicted and moved pods where they run, ``arriving`` moved ones
    where they go; ``evicted`` counts per rule and leaf.
    """

    bound: Rows = _NONE
    reserved: Rows = _NONE
    arriving: Rows = _NONE
    departed: Rows = _NONE
    evicted: Rows = _NONE

    @property
    def gets_places(self) -> bool:
        """
        Whether some pod is bound, reserved or moved somewhere.
        """
        return bool(self.bound or self.reserved or self.arriving)


def is_leaving(pod: Pod) -> bool:
    """
    Tell whether a pod terminates and may be counted on to be gone soon.
    """
    return pod.phase is PodPhase.TERMINATING and pod.seconds < LEAVING_SECONDS


def steps_of(
    operations: Iterable[Operation], gangs: Mapping[str, Gang]
) -> tuple[Step, ...]:
    """
    Find the pods that operations name.
    """
    pods: dict[str, dict[str, tuple[Pod, PodSet]]] = {}
    steps = []
    done: set[str] = set()
    for operation in operations:
        name = operation.gang
        if name not in pods:
            pods[name] = _pods(gangs[name]) if name in gangs else {}
        pod, leaf = pods[name].get(operation.pod, (None, None))
        again = operation.pod in done
        takes = not again and pod is not None and _takes(operation, pod)
        steps.append(Step(operation, pod, leaf, again, takes))
        if operation.op in PLACING or operation.op in TAKING:
            done.add(operation.pod)
    return tuple(steps)


def _takes(operation: Operation, pod: Pod) -> bool:
    return (
        operation.op in TAKING
        and pod.phase is PodPhase.RUNNING
        and pod.node == _source(operation)
    )


def _source(operation: Operation) -> str | None:
    return operation.node if operation.op == "Evict" else operation.source


def _pods(gang: Gang) -> dict[str, tuple[Pod, PodSet]]:
    prefix = f"{gang.namespace}/"
    return {
        prefix + pod.name: (pod, leaf)
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }


def deeds_of(steps: tuple[Step, ...]) -> dict[str, Deeds]:
    """
    Count what is done to the pods of each gang, as far as it can be done.
    """
    bound: dict[str, Places] = {}
    reserved: dict[str, Places] = {}
    arriving: dict[str, Places] = {}
    departed: dict[str, Places] = {}
    evicted: dict[str, Amounts] = {}
    for operation, pod, leaf, again, takes in steps:
        if pod is None or leaf is None or again:
            continue
        op, gang = operation.op, operation.gang
        if op in PLACING and pod.phase not in ON_A_NODE:
            places = bound if op == "Bind" else reserved
            _count(places, gang, leaf.name, operation.node)
        elif takes and pod.node is not None:
            _count(departed, gang, leaf.name, pod.node)
            if op == "Evict":
                _count(evicted, gang, operation.rule or "", leaf.name)
            else:
                _count(arriving, gang, leaf.name, operation.node)
    return {
        gang: Deeds(
            bound=bound.get(gang, _NONE),
            reserved=reserved.get(gang, _NONE),
            arriving=arriving.get(gang, _NONE),
            departed=departed.get(gang, _NONE),
            evicted=evicted.get(gang, _NONE),
        )
        for gang in sorted(bound.keys() | reserved.keys() | departed.keys())
    }


def _count(counts: dict[str, Places], gang: str, outer: str, inner: str) -> None:
    places = counts.get(gang)
    if places is None:
        counts[gang] = {outer: {inner: 1}}
    else:
        row = places.setdefault(outer, {})
        row[inner] = row.get(inner, 0) + 1
