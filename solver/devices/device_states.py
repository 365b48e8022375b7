"""
Device states: what is left of the GPUs of each node of which somebody has a part.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from models.census import LOAD
from models.gangs import Gang, Pod, pod_sets
from models.gpu_parts import WHOLE, GpuPart, part_of
from models.mig_profiles import MIG_MODELS, Sliced
from models.nodes import Node


@dataclass(frozen=True, slots=True, order=True)
class SharedDevice:
    """
    What is left of a device under one contract: thousandths of compute, and MiB.
    """

    contract: str
    cores: int
    memory: int


@dataclass(frozen=True, slots=True)
class DeviceStates:
    """
    The devices of one node of which somebody has a part, by their numbers.

    ``cuttable`` are those that may be cut and are neither shared nor known to be whole;
    ``counted`` are those that the load of others counts already.
    """

    shared: Mapping[int, SharedDevice] = field(default_factory=dict)
    sliced: Mapping[int, Sliced] = field(default_factory=dict)
    cuttable: tuple[int, ...] = ()
    whole: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()

    @property
    def opened(self) -> int:
        """
        Count the devices that are not idle, nor whole, nor counted already.
        """
        return len((self.shared.keys() | self.sliced.keys()) - self.counted)


def device_states(
    nodes: Sequence[Node], gangs: Iterable[Gang]
) -> dict[str, DeviceStates]:
    """
    Give the devices of each node as running and leaving pods have them.
    """
    held: dict[str, list[tuple[GpuPart | None, Pod]]] = {x.name: [] for x in nodes}
    for part, pod in _holders(gangs):
        if pod.node in held:
            held[pod.node].append((part, pod))
    return {node.name: _states(node, held[node.name]) for node in nodes}


def without_pods(node: Node) -> DeviceStates:
    """
    Give the devices of a node on which nobody is.
    """
    return _states(node, ())


def _holders(gangs: Iterable[Gang]) -> Iterator[tuple[GpuPart | None, Pod]]:
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            there = [pod for pod in leaf.pods if pod.devices and pod.phase in LOAD]
            part = part_of(leaf.requests) if there else None
            for pod in there:
                yield part, pod


def _states(node: Node, held: Iterable[tuple[GpuPart | None, Pod]]) -> DeviceStates:
    shared = _of_others(node)
    sliced: dict[int, Sliced] = {}
    whole = {one.device for one in node.taken if not one.contract}
    for part, pod in held:
        for place in pod.devices:
            if part is None:
                whole.add(place.device)
            elif part.profile:
                _cut(node, sliced, place.device, part.profile, place.start)
            else:
                _share(node, shared, place.device, part)
    for device in shared.keys() & sliced.keys():
        shared[device] = SharedDevice("", 0, 0)
        del sliced[device]
    may_be_cut = () if node.mig is None else node.mig.devices
    taken = {*shared, *sliced, *whole}
    return DeviceStates(
        shared=dict(sorted(shared.items())),
        sliced=dict(sorted(sliced.items())),
        cuttable=tuple(device for device in may_be_cut if device not in taken),
        whole=frozenset(whole),
        counted=frozenset(one.device for one in node.taken),
    )


def _of_others(node: Node) -> dict[int, SharedDevice]:
    """
    Give what work that is not ours leaves of the devices that it shares.
    """
    return {
        one.device: SharedDevice(
            one.contract,
            max(0, WHOLE - one.cores),
            max(0, node.gpu_memory - one.memory),
        )
        for one in node.taken
        if one.contract
    }


def _share(
    node: Node, shared: dict[int, SharedDevice], device: int, part: GpuPart
) -> None:
    """
    Take a part of a device; one that two contracts share has nothing left.
    """
    before = shared.get(device, SharedDevice(part.contract, WHOLE, node.gpu_memory))
    if before.contract != part.contract:
        shared[device] = SharedDevice("", 0, 0)
        return
    shared[device] = SharedDevice(
        part.contract,
        max(0, before.cores - part.cores),
        max(0, before.memory - part.memory_on(node.gpu_memory)),
    )


def _cut(
    node: Node, sliced: dict[int, Sliced], device: int, name: str, start: int
) -> None:
    profile = MIG_MODELS[node.mig.model].get(name) if node.mig else None
    if profile is None or start not in profile.starts:
        sliced[device] = Sliced(-1, has_media=True)
    else:
        taken = sliced.get(device, Sliced())
        sliced[device] = taken.with_one(profile, start)
