"""
Nodes whose whole GPUs are given in linked sets alone, as partitions of Koordinator.

Where there is no such node all stays the very same.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.kube.gangs.node_load import NodeLoads
from adapters.kube.objects.node_record import NodeRecord
from adapters.kube.objects.parts.free_gpus import free_gpus
from adapters.kube.objects.parts.node_devices import RegisteredGpus, both
from models.devices.gpu_parts import part_of
from models.gangs import ON_A_NODE, Gang, asking_otherwise, pod_sets
from models.linked_gpus import (
    PART,
    asked_of_links,
    is_link,
    names_of_links,
    offered_of_links,
)
from models.memory.aged_gangs import read_anew, still
from models.memory.kept import Kept
from models.nodes import Node
from models.resources import Resources, add, num_gpus, summed
from models.snapshot import Snapshot
from models.volume_slots import UNLIMITED

Names = tuple[str, ...]
_Ready = tuple[Node, Resources, Node]


@dataclass(frozen=True, slots=True)
class _LinkedNode:
    """
    How many sets of each size are free on a node, and why none is.
    """

    free: Mapping[int, int]
    said: str = ""


class LinkedSets:
    """
    Says in snapshots which sets are free, and what pods ask of them.

    Of gangs and nodes that are as they were it gives the same objects again.
    """

    def __init__(self) -> None:
        self._ready: Mapping[str, _Ready] = {}
        self._names: Names = ()
        self._asking: Kept[Gang, Gang] = Kept(self._made)
        self._linked: Mapping[str, _LinkedNode] = {}

    def look(
        self,
        nodes: Iterable[NodeRecord],
        loads: NodeLoads,
        devices: Mapping[str, RegisteredGpus],
    ) -> list[str]:
        """
        Find the free sets of all nodes, and say which nodes are closed and why.
        """
        self._linked = dict(_linked(nodes, loads, devices)) if devices else {}
        return [one.said for one in self._linked.values() if one.said]

    def applied(self, snapshot: Snapshot) -> Snapshot:
        """
        Say it of a snapshot whose nodes are those that were looked at.
        """
        if not self._linked:
            return snapshot
        gangs = still(snapshot.gangs)
        asked = {size for gang in gangs for size in _sizes(gang)}
        names = names_of_links(asked, (one.free for one in self._linked.values()))
        if names != self._names:
            self._names, self._asking = names, Kept(self._made)
        made = self._asking.of(gangs)
        there = _there(made, self._linked)
        plenty = dict.fromkeys(names, UNLIMITED)
        ready: dict[str, _Ready] = {}
        for node in snapshot.nodes:
            offered = self._offered(node.name, there) or plenty
            known = self._ready.get(node.name)
            if known is None or known[0] is not node or known[1] != offered:
                more = {**node.allocatable, **offered}
                known = node, offered, replace(node, allocatable=more)
            ready[node.name] = known
        self._ready = ready
        nodes = tuple(each for _, _, each in ready.values())
        return replace(snapshot, nodes=nodes, gangs=read_anew(snapshot.gangs, made))

    def _offered(self, node: str, there: Mapping[str, Resources]) -> Resources:
        """
        Give what a node offers of its sets, what pods of ours have of them included.
        """
        if node not in self._linked:
            return {}
        free = offered_of_links(self._linked[node].free, self._names)
        return summed([free, there[node]])

    def _made(self, gang: Gang) -> Gang:
        return replace(gang, tree=asking_otherwise(gang.tree, self._with_links))

    def _with_links(self, asked: Resources) -> Resources:
        part = part_of(asked)
        size = num_gpus(asked) if part is None else part.num_whole
        if size:
            return {**asked, **asked_of_links(size, self._names)}
        return asked if part is None else {**asked, PART: 1}


def _linked(
    nodes: Iterable[NodeRecord],
    loads: NodeLoads,
    devices: Mapping[str, RegisteredGpus],
) -> Iterator[tuple[str, _LinkedNode]]:
    """
    Find the nodes that give linked GPUs alone.
    """
    for record in nodes:
        name = record.node.name
        if name not in devices:
            continue
        gpus = both(record.devices, devices[name], record.node.labels)
        if gpus is None or not gpus.must_be_linked or gpus.partitions is None:
            continue
        sets, problem = gpus.partitions, gpus.problem or gpus.partitions.problem
        free = None if problem else free_gpus(gpus, loads.with_gpus(name))
        what = problem or "nobody knows who has which of its GPUs"
        said = f"node {name}: nothing new gets its GPUs, which must be linked: {what}"
        count = {size: sets.num_free(size, free or ()) for size in sets.by_size}
        yield name, _LinkedNode(count, said if free is None else "")


def _sizes(gang: Gang) -> Iterator[int]:
    for leaf in pod_sets(gang.tree):
        part = part_of(leaf.requests)
        size = num_gpus(leaf.requests) if part is None else part.num_whole
        if size:
            yield size


def _there(
    gangs: Iterable[Gang], nodes: Collection[str]
) -> Mapping[str, dict[str, int]]:
    """
    Add up what pods of ours that are on some nodes ask of their sets.
    """
    found: dict[str, dict[str, int]] = {node: {} for node in nodes}
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            asked = {n: v for n, v in leaf.requests.items() if is_link(n)}
            for pod in leaf.pods if asked else ():
                if pod.node in found and pod.phase in ON_A_NODE:
                    add(found[pod.node], asked)
    return found
