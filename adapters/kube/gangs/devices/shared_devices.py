"""
The devices of a node that pods share: who has which of them, and what is left.

It is asked only of nodes whose contract some gang of ours asks in.  Such a node gives
whole GPUs only where its contract takes their names; else all its devices are open
under that contract.  Where nobody knows who has what, its devices are closed, and the
reason is said.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from adapters.kube.objects.parts.device_parts import names_under
from adapters.kube.objects.parts.node_devices import RegisteredGpus
from adapters.kube.objects.parts.part_keys import NAMES_WHOLE
from adapters.kube.objects.pod_record import PodRecord
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, TakenDevice
from models.nodes import Node
from models.resources import GPU, is_gpu, num_gpus

Devices = Mapping[str, tuple[GpuDevice, ...]]
"""
The devices that pods of ours have, by their names.
"""


@dataclass(frozen=True, slots=True)
class SharedNode:
    """
    A node whose devices are shared, the devices of our pods there, and what is said.

    ``contract`` is the one under which new pods may share them.
    """

    node: Node
    devices: Devices = field(default_factory=dict)
    said: tuple[str, ...] = ()
    contract: str = ""


class UnknownDevicesError(Exception):
    """
    Nobody knows which devices a pod has.
    """


def shared_node(
    node: Node,
    devices: RegisteredGpus,
    ours: Iterable[PodRecord],
    others: Iterable[PodRecord],
    whole_pods: Iterable[PodRecord],
) -> SharedNode:
    """
    Say of a node what is left of its devices.

    ``whole_pods`` are other pods of ours that have GPUs whole there.
    """
    is_open = bool(node.allocatable.get(GPU)) and devices.contract in NAMES_WHOLE
    number = len(devices.names)
    whole = {name: 0 for name in node.allocatable if is_gpu(name)}
    open_node = replace(
        node,
        allocatable={**node.allocatable, **whole, GPU: number},
        used={**node.used, **whole, GPU: number},
        gpu_memory=devices.memory,
    )
    try:
        _check(devices)
        mine = {pod.key: _numbers(pod, devices) for pod in ours}
        mine |= {pod.key: _named(pod, devices, is_open=is_open) for pod in whole_pods}
        taken = tuple(_taken(devices, others))
    except UnknownDevicesError as error:
        closed = tuple(TakenDevice(at) for at in range(number))
        said = f"node {node.name}: nothing new shares its GPUs: {error}"
        some = {pod.key: _first(pod, number) for pod in ours}
        return SharedNode(replace(open_node, taken=closed), some, (said,))
    held = {key: tuple(map(GpuDevice, numbers)) for key, numbers in mine.items()}
    if is_open:
        taken = tuple(x for x in taken if x != TakenDevice(x.device, devices.contract))
        used = {**open_node.used, GPU: len(taken)}
        open_node = replace(open_node, used={x: n for x, n in used.items() if n})
    contract = devices.contract
    return SharedNode(replace(open_node, taken=taken), held, contract=contract)


def _first(pod: PodRecord, number: int) -> tuple[GpuDevice, ...]:
    """
    Let a pod have the first devices of a node where all of them are closed.
    """
    count = 0 if pod.part is None else pod.part.part.count
    return tuple(map(GpuDevice, range(min(count, number))))


def _check(devices: RegisteredGpus) -> None:
    """
    Refuse devices that cannot be read.
    """
    if devices.problem:
        raise UnknownDevicesError(devices.problem)


def _named(
    pod: PodRecord, devices: RegisteredGpus, *, is_open: bool
) -> tuple[int, ...]:
    """
    Give the numbers of the devices that a pod of ours has whole.
    """
    numbers = tuple(_whole_of(pod, devices)) if is_open else ()
    if not numbers:
        what = f"{num_gpus(pod.requests)} GPUs there are whole, and nobody knows which"
        raise UnknownDevicesError(what)
    return numbers


def _part(pod: PodRecord, devices: RegisteredGpus) -> GpuPart:
    if pod.part is None or pod.part.part.contract != devices.contract:
        raise UnknownDevicesError(f"pod {pod.key} is there under another contract")
    return pod.part.part


def _numbers(pod: PodRecord, devices: RegisteredGpus) -> tuple[int, ...]:
    """
    Give the numbers of the devices of which a pod has parts.

    How much it has is what it asks for: nobody takes up a node by writing.
    """
    part = _part(pod, devices)
    names = names_under(devices.contract, pod.annotations, pod.requests)
    numbers = devices.numbers(dict.fromkeys(names))
    if numbers is None or len(numbers) != part.count:
        raise UnknownDevicesError(f"nobody knows which of them pod {pod.key} has")
    return numbers


def _taken(
    devices: RegisteredGpus, others: Iterable[PodRecord]
) -> Iterator[TakenDevice]:
    """
    Add up what others have of each device.
    """
    cores: dict[int, int] = {}
    memory: dict[int, int] = {}
    whole = set(devices.ill)
    for pod in others:
        if pod.part is None and pod.shared is None:
            whole.update(_whole_of(pod, devices))
            continue
        part = _part(pod, devices)
        for number in _numbers(pod, devices):
            cores[number] = cores.get(number, 0) + part.cores
            memory[number] = memory.get(number, 0) + part.memory_on(devices.memory)
    for number in range(len(devices.names)):
        if number in whole:
            yield TakenDevice(number)
        else:
            yield TakenDevice(
                number,
                devices.contract,
                min(WHOLE, cores.get(number, 0)),
                min(devices.memory, memory.get(number, 0)),
            )


def _whole_of(pod: PodRecord, devices: RegisteredGpus) -> Iterable[int]:
    """
    Give the devices that a pod of others has whole.
    """
    count = num_gpus(pod.requests)
    if not count:
        return ()
    names = names_under(devices.contract, pod.annotations, pod.requests)
    numbers = devices.numbers(dict.fromkeys(names))
    if numbers is None or len(numbers) != count:
        raise UnknownDevicesError(f"nobody knows which of them pod {pod.key} has")
    return numbers
