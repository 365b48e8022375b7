"""
Nodes with the load of others; what cannot be counted closes its node.

A node is made anew only where its record changed, or a pod that counts there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.claims.said_gpus import NOTHING, Claimable
from adapters.kube.gangs.devices.kai_groups import kai_node
from adapters.kube.gangs.devices.shared_devices import Devices, SharedNode, shared_node
from adapters.kube.gangs.storage.attached_volumes import (
    SlotsOfNode,
    SlotsOfNodes,
)
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.node_record import NodeRecord
from adapters.kube.objects.parts.device_parts import SharedGpus, devices_held
from adapters.kube.objects.parts.node_devices import RegisteredGpus, both
from adapters.kube.objects.parts.part_keys import HAMI, KAI
from adapters.kube.objects.pod_record import PodRecord
from models.devices.gpu_parts import is_part
from models.gangs import FINISHED
from models.host_ports import ports_offered
from models.neighbours import Neighbours, ReachedVolumes
from models.nodes import Node
from models.resources import (
    GPU,
    Resources,
    add,
    is_gpu,
    largest,
    num_gpus,
    summed,
)

NO_DEVICES: Devices = {}
Others = tuple[tuple[Neighbours, int], ...]
Reached = tuple[ReachedVolumes, ...]
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfNodes:
    """
    What pods ask of all nodes: names where they ask ``by_name``, and ports of hosts.

    ``slots`` are those that each has for volumes, ``volumes`` free ones that it and
    others reach, ``others`` neighbours that are there, ``places`` labels that say in
    which HyperNodes it is.  ``contracts`` are those in which parts of GPUs are asked
    for, ``devices`` what objects beside nodes say, ``claimed`` what can be claimed of
    each, and what slices say of its GPUs.  ``binder`` says that KAI's is there.
    """

    by_name: bool = False
    ports: frozenset[str] = frozenset()
    slots: SlotsOfNodes = field(default_factory=SlotsOfNodes)
    volumes: Mapping[str, Reached] = field(default_factory=dict)
    others: Mapping[str, Others] = field(default_factory=dict)
    places: Mapping[str, Labels] = field(default_factory=dict)
    contracts: frozenset[str] = frozenset()
    devices: Mapping[str, RegisteredGpus] = field(default_factory=dict)
    claimed: Mapping[str, Claimable] = field(default_factory=dict)
    binder: bool = False

    def of(self, node: str) -> "_With":
        """
        Give what one node is made with.
        """
        around = self.others.get(node, ()), self.volumes.get(node, ())
        places = self.places.get(node, {})
        claimed = self.claimed.get(node, NOTHING)
        beside = self.devices.get(node), self.contracts, claimed, self.binder
        return self.by_name, self.ports, self.slots.of(node), around, places, beside


_Shared = tuple[RegisteredGpus | None, frozenset[str], Claimable, bool]
_Around = tuple[Others, Reached]
_With = tuple[bool, frozenset[str], SlotsOfNode, _Around, Labels, _Shared]
_Made = tuple[NodeRecord, _With, Node, tuple[str, ...], Devices, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    """
    All nodes, as they were made of some records.
    """

    records: Sequence[NodeRecord]
    asked: AskedOfNodes
    nodes: tuple[Node, ...]
    warnings: Sequence[str]
    devices: Devices
    contracts: frozenset[str]


class NodeLoads:
    """
    The pods that count on each node beside those of gangs, and the nodes made so far.
    """

    def __init__(self, is_ours: Callable[[PodRecord], bool]) -> None:
        self._is_ours = is_ours
        self._pods: dict[str, dict[int, PodRecord]] = {}
        self._whole: dict[str, dict[int, PodRecord]] = {}
        self._made: dict[str, _Made] = {}
        self._last: _Nodes | None = None

    def pods_changed(
        self, gone: Iterable[PodRecord], came: Iterable[PodRecord]
    ) -> None:
        """
        Take which pods are there no more, and which are new.
        """
        for pod in gone:
            self._count_whole(pod, -1)
            if pod.node is not None and id(pod) in self._pods.get(pod.node, {}):
                there = self._pods[pod.node]
                del there[id(pod)]
                if not there:
                    del self._pods[pod.node]
                self._drop(pod.node)
        for pod in came:
            self._count_whole(pod, 1)
            if pod.node is not None and self._counts(pod):
                self._pods.setdefault(pod.node, {})[id(pod)] = pod
                self._drop(pod.node)

    def _count_whole(self, pod: PodRecord, sign: int) -> None:
        """
        Keep the pods of ours that have GPUs of a node whole.
        """
        if pod.node is None or pod.shared is not None or pod.phase in FINISHED:
            return
        if num_gpus(pod.requests) and self._is_ours(pod):
            there = self._whole.setdefault(pod.node, {})
            if sign > 0:
                there[id(pod)] = pod
            else:
                there.pop(id(pod), None)
            made = self._made.get(pod.node)
            if made is not None and made[4] is not NO_DEVICES:
                self._drop(pod.node)

    @property
    def devices(self) -> Devices:
        """
        Give the devices of which pods of ours have parts.
        """
        return {} if self._last is None else self._last.devices

    @property
    def contracts(self) -> frozenset[str]:
        """
        Name the contracts under which some node lets new pods share its devices.
        """
        return frozenset() if self._last is None else self._last.contracts

    def with_gpus(self, node: str) -> list[PodRecord]:
        """
        List the pods on a node that have GPUs, whole or in parts.
        """
        there = {**self._pods.get(node, {}), **self._whole.get(node, {})}
        return [pod for pod in there.values() if pod.has_gpus]

    def _drop(self, node: str) -> None:
        self._made.pop(node, None)
        self._last = None

    def _counts(self, pod: PodRecord) -> bool:
        """
        Tell whether a pod is load, shares devices, or keeps others off its node.
        """
        if pod.phase in FINISHED:
            return False
        odd = pod.shared is not None or bool(pod.uncounted)
        return odd or not self._is_ours(pod)

    def nodes(
        self, records: Sequence[NodeRecord], asked: AskedOfNodes, *, warnings: list[str]
    ) -> tuple[Node, ...]:
        """
        Give the nodes in order, those that are as they were as the very same.

        ``asked`` is what pods ask of all of them.
        """
        last = self._last
        if last is None or last.asked != asked or last.records != records:
            last = self._last = self._nodes(records, asked)
        warnings += last.warnings
        return last.nodes

    def _nodes(self, records: Sequence[NodeRecord], asked: AskedOfNodes) -> "_Nodes":
        known, fresh = self._made, {}
        for record in records:
            name = record.node.name
            made = known.get(name)
            wanted = asked.of(name)
            if made is None or made[0] is not record or made[1] != wanted:
                made = self._node(record, wanted)
            fresh[name] = made
        self._made = fresh
        every = [fresh[name] for name in sorted(fresh)]
        shared = [devices for *_, devices, _ in every if devices]
        return _Nodes(
            records=records,
            asked=asked,
            nodes=tuple([node for _, _, node, *_ in every]),
            warnings=[each for _, _, _, said, *_ in every for each in said],
            contracts=frozenset(contract for *_, contract in every if contract),
            devices={pod: at for devices in shared for pod, at in devices.items()},
        )

    def _node(self, record: NodeRecord, asked: _With) -> _Made:
        node = record.node
        by_name, ports, slots, (neighbours, volumes), places, more = asked
        beside, contracts, claimable, binder = more
        here = sorted(self._pods.get(node.name, {}).values(), key=_by_key)
        ours = [pod for pod in here if self._is_ours(pod)]
        others = [pod for pod in here if not self._is_ours(pod)]
        claimed, tied, said = _agreed(node, claimable)
        said += [f"node {node.name}: {fault}" for fault in record.invalid]
        closer = next((pod for pod in (*ours, *others) if pod.uncounted), None)
        if closer is not None:
            what = f"nothing new goes there, since pod {closer.key} cannot be counted"
            said.append(f"node {node.name}: {what}: {closer.uncounted[0]}")
        load, shared = _load(ours, others, _not_given(record.devices))
        for taken in (slots.used, *tied):
            add(load, taken)
        devices = both(record.devices, beside, node.labels)
        is_shared = devices is not None and devices.contract in contracts
        for name in filter(is_gpu, node.allocatable) if not is_shared else ():
            if amount := min(shared, node.allocatable[name]):
                add(load, {name: amount})
        labels = {**node.labels, **places} if places else node.labels
        offered = node.allocatable
        if ports or slots.offered or claimed:
            offered = {**offered, **ports_offered(ports), **slots.offered, **claimed}
        made = replace(
            node,
            allocatable=offered,
            used=_used(load),
            tied=tied,
            labels={**labels, NAME_FIELD: node.name} if by_name else labels,
            others=neighbours,
            volumes=volumes,
            unschedulable=node.unschedulable or closer is not None,
        )
        found = SharedNode(made, NO_DEVICES, _rivals(devices, contracts, node.name))
        if is_shared or (devices is None and KAI in contracts):
            found = self._shared(made, devices, (ours, others), is_served=binder)
        told = *said, *found.said
        return record, asked, found.node, told, found.devices, found.contract

    def _shared(
        self,
        made: Node,
        devices: RegisteredGpus | None,
        pods: tuple[Sequence[PodRecord], Sequence[PodRecord]],
        *,
        is_served: bool,
    ) -> SharedNode:
        """
        Say what is left of a node's GPUs that pods share, in a contract or as KAI does.
        """
        ours = [pod for pod in pods[0] if pod.shared is not None]
        if devices is not None:
            whole = sorted(self._whole.get(made.name, {}).values(), key=_by_key)
            return shared_node(made, devices, ours, pods[1], whole)
        if made.allocatable.get(GPU):
            return kai_node(made, ours, pods[1], is_served=is_served)
        return SharedNode(made, NO_DEVICES)


def _by_key(pod: PodRecord) -> tuple[str, str]:
    return pod.key, pod.uid


def _rivals(
    devices: RegisteredGpus | None, contracts: frozenset[str], node: str
) -> tuple[str, ...]:
    """
    Name what keeps those off a node's devices who ask by a second of its registers.
    """
    if devices is None or contracts.isdisjoint(devices.rivals):
        return ()
    return (f"node {node}: nothing new shares its GPUs: {devices.problem}",)


def _agreed(
    node: Node, claimable: Claimable
) -> tuple[Resources, tuple[Resources, ...], list[str]]:
    """
    Give what can be claimed of a node, and the pieces of it that pods are tied to.

    Nothing where its labels say something else.
    """
    claimed, tied, of_slices = claimable
    gpus = node.allocatable.get(GPU, 0)
    what = of_slices.contradiction(node.labels, claimed, gpus) if claimed else ""
    if not what:
        return summed((claimed, *tied)) if tied else claimed, tied, []
    return {}, (), [f"node {node.name}: no devices by claim: {what}"]


def _used(load: Mapping[str, int]) -> dict[str, int]:
    """
    Give a load as nodes say it; of parts their devices tell.
    """
    return {
        name: min(amount, largest(name))
        for name, amount in load.items()
        if not is_part(name)
    }


def _not_given(devices: RegisteredGpus | None) -> set[str]:
    """
    Name the GPUs of HAMi that nobody gets, though its node counts them.
    """
    if devices is None or devices.contract != HAMI:
        return set()
    return {f"{HAMI}/{devices.names[at]}" for at in devices.ill}


def _load(
    ours: Iterable[PodRecord], others: Iterable[PodRecord], not_given: set[str]
) -> tuple[dict[str, int], int]:
    """
    Sum up what others have on a node, and the GPUs there of which pods have parts.

    Those that are not given count as if somebody had a part of them.  GPUs of our own
    pods with parts are counted with their gangs already.
    """
    used: dict[str, int] = {}
    shared: list[SharedGpus] = []
    counted = 0
    for pod in others:
        asked = pod.requests
        if pod.shared is not None:
            shared.append(pod.shared)
        if pod.shared is not None and pod.shared.is_whole:
            asked = {name: n for name, n in asked.items() if not is_gpu(name)}
        add(used, asked)
    for pod in ours:
        if pod.shared is not None:
            shared.append(pod.shared)
            if pod.shared.is_whole:
                counted += num_gpus(pod.requests)
    return used, max(0, devices_held(shared, not_given) - counted)
