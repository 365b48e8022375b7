"""
Gangs that ask for parts of GPUs: what they count, their devices, why some must wait.

Where nobody asks for a part all stays the very same.
"""

from collections.abc import Iterable
from dataclasses import replace

from adapters.kube.gangs.devices.shared_devices import Devices
from adapters.kube.gangs.node_load import NodeLoads
from adapters.kube.objects.parts.kai_parts import gpus_of_instances
from adapters.kube.objects.parts.part_keys import KAI
from models.devices.gpu_parts import (
    part_named,
    part_of,
    with_shares,
    with_shares_of_others,
)
from models.gangs import (
    Gang,
    Group,
    Pod,
    PodPhase,
    PodSet,
    Tree,
    asking_otherwise,
    pod_sets,
)
from models.memory.aged_gangs import read_anew
from models.memory.aged_gangs import still as as_read
from models.memory.kept import Kept
from models.nodes import Node
from models.queues import with_shared_gpus
from models.resources import GPU_SHARE, SHARES_PER_GPU, Resources
from models.snapshot import Snapshot
from models.why.reasons import Reason, Waiting

_NO_BINDER = (
    "no node has GPUs that KAI can share, or KAI's binder is not installed (there is "
    "no kind BindRequest of scheduling.run.ai)"
)


def contracts_in(parts: Iterable[str]) -> frozenset[str]:
    """
    Name the contracts of some parts.
    """
    return frozenset(part_named(name).contract for name in parts)


class PartGangs:
    """
    Says in snapshots what parts and whole GPUs count together, as files do.

    Of gangs that are as they were it gives the same objects again.
    """

    def __init__(self) -> None:
        self._memories: frozenset[int] = frozenset()
        self._readable: frozenset[str] = frozenset()
        self._instances = False
        self._counted: Kept[Gang, Gang] = Kept(self._made)
        self._placed: dict[int, tuple[Gang, Devices, Gang]] = {}

    def applied(
        self, snapshot: Snapshot, loads: NodeLoads, *, instances: bool
    ) -> Snapshot:
        """
        Say it of a snapshot whose nodes were made by ``loads``.

        Where queues are KAI's, MIG ``instances`` count as they do there.
        """
        devices, readable = loads.devices, loads.contracts
        memories = frozenset(node.gpu_memory for node in snapshot.nodes)
        known = self._memories, self._readable, self._instances
        if (memories, readable, instances) != known:
            self._memories, self._readable = memories, readable
            self._instances = instances
            self._counted = Kept(self._made)
        counted = self._counted.of(as_read(snapshot.gangs))
        still = [self._with_devices(gang, devices) for gang in counted]
        there = set(map(id, still))
        self._placed = {at: x for at, x in self._placed.items() if id(x[2]) in there}
        return replace(
            snapshot,
            nodes=tuple(map(self._counting, snapshot.nodes)),
            gangs=read_anew(snapshot.gangs, still),
            queues=tuple(map(with_shared_gpus, snapshot.queues)),
        )

    def _made(self, gang: Gang) -> Gang:
        tree = asking_otherwise(gang.tree, self._asking)
        refused = gang.refused or self._why_not(gang)
        return replace(gang, tree=tree, refused=refused)

    def _asking(self, asked: Resources) -> Resources:
        return self._with_instances(with_shares(asked, self._memories))

    def _counting(self, node: Node) -> Node:
        used = with_shares_of_others(node.used, node.taken, node.gpu_memory)
        return replace(
            node,
            allocatable=self._with_instances(with_shares(node.allocatable, ())),
            used=self._with_instances(used),
        )

    def _with_instances(self, counted: Resources) -> Resources:
        more = gpus_of_instances(counted) * SHARES_PER_GPU if self._instances else 0
        had = counted.get(GPU_SHARE, 0)
        return {**counted, GPU_SHARE: had + more} if more else counted

    def _why_not(self, gang: Gang) -> Waiting | None:
        """
        Say why parts of a gang that waits cannot be planned.
        """
        names = {
            part.contract
            for leaf in pod_sets(gang.tree)
            if any(pod.phase is PodPhase.PENDING for pod in leaf.pods)
            and (part := part_of(leaf.requests)) is not None
        }
        if len(names) > 1:
            what = f"its pods ask for parts of GPUs in {' and in '.join(sorted(names))}"
            return Waiting(Reason.UNSUPPORTED_CONSTRAINT, {"detail": what})
        for name in names - self._readable:
            what = f"no node says which of its GPUs may be shared under {name}"
            what = what if name != KAI else _NO_BINDER
            return Waiting(Reason.UNSUPPORTED_CONSTRAINT, {"detail": what})
        return None

    def _with_devices(self, gang: Gang, devices: Devices) -> Gang:
        """
        Say which devices the placed pods of a gang have.
        """
        if not devices:
            return gang
        mine = {
            pod.name: devices[f"{gang.namespace}/{pod.name}"]
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.node and f"{gang.namespace}/{pod.name}" in devices
        }
        if not mine:
            return gang
        known = self._placed.get(id(gang))
        if known is None or known[0] is not gang or known[1] != mine:
            made = replace(gang, tree=_placed(gang.tree, mine))
            known = self._placed[id(gang)] = gang, mine, made
        return known[2]


def _placed(tree: Tree, devices: Devices) -> Tree:
    if isinstance(tree, Group):
        children = tuple(_placed(child, devices) for child in tree.children)
        return replace(tree, children=children)
    return _leaf_placed(tree, devices)


def _leaf_placed(leaf: PodSet, devices: Devices) -> PodSet:
    def placed(pod: Pod) -> Pod:
        found = devices.get(pod.name)
        return pod if found is None else replace(pod, devices=found)

    return replace(leaf, pods=tuple(map(placed, leaf.pods)))
