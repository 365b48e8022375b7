"""
What contracts want written on a pod that gets parts of GPUs, in its Binding.

The server merges these annotations in the very write that names the node, so a pod has
its devices exactly if it is bound.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from adapters.kube.objects.parts.node_devices import RegisteredGpus
from adapters.kube.objects.parts.part_keys import GPUSHARE, HAMI, KOORDINATOR, VGPU
from adapters.kube.objects.parts.part_words import PodPart
from models.devices.gpu_parts import WHOLE, GpuPart

ASSIGNED = "ALIYUN_COM_GPU_MEM_ASSIGNED"
HAMI_PHASE, VGPU_PHASE = "hami.io/bind-phase", "volcano.sh/bind-phase"
ALLOCATING = "allocating"
_ALLOCATED = "scheduling.koordinator.sh/device-allocated"
_PERCENT = 100
_MIB = 2**20
Notes = dict[str, str]
Write = Callable[
    [PodPart, RegisteredGpus, Sequence[int], tuple[str, float]], Mapping[str, str]
]


def whole_part(contract: str, gpus: Sequence[int]) -> PodPart:
    """
    Say as a part what a pod gets that has GPUs whole, by container.
    """
    part = GpuPart(contract, WHOLE, WHOLE, count=sum(gpus))
    counts = {at: count for at, count in enumerate(gpus) if count}
    return PodPart(part, min(counts), len(gpus), counts=counts)


def notes_of(
    asked: PodPart,
    gpus: RegisteredGpus,
    numbers: Sequence[int],
    where: tuple[str, float],
) -> Mapping[str, str]:
    """
    Give the annotations for a pod that gets some devices of a node, at a time.
    """
    return _WRITERS[gpus.contract](asked, gpus, numbers, where)


def _gpushare(
    asked: PodPart,
    gpus: RegisteredGpus,
    numbers: Sequence[int],
    where: tuple[str, float],
) -> Notes:
    (number,) = numbers
    return {
        "ALIYUN_COM_GPU_MEM_IDX": gpus.names[number],
        "ALIYUN_COM_GPU_MEM_POD": str(asked.amount),
        "ALIYUN_COM_GPU_MEM_DEV": str(gpus.units),
        "ALIYUN_COM_GPU_MEM_ASSUME_TIME": str(int(where[1] * 1_000_000_000)),
        ASSIGNED: "false",
    }


def _vgpu(
    asked: PodPart,
    gpus: RegisteredGpus,
    numbers: Sequence[int],
    where: tuple[str, float],
) -> Notes:
    """
    Write devices per container that asks for any: here that is one.
    """
    node, now = where
    devices = _cards(asked, gpus, numbers)
    return {
        "volcano.sh/vgpu-node": node,
        "volcano.sh/vgpu-time": str(int(now)),
        "volcano.sh/vgpu-ids-new": devices,
        "volcano.sh/devices-to-allocate": devices,
        VGPU_PHASE: ALLOCATING,
        "volcano.sh/bind-time": str(int(now)),
    }


def _hami(
    asked: PodPart,
    gpus: RegisteredGpus,
    numbers: Sequence[int],
    where: tuple[str, float],
) -> Notes:
    """
    Write devices in the places of their containers, each ended by a semicolon.
    """
    node, now = where
    rows = [""] * asked.containers
    left = [*numbers]
    for at, count in (asked.counts or {asked.container: len(left)}).items():
        rows[at], left = _cards(asked, gpus, left[:count]), left[count:]
    devices = "".join(f"{row};" for row in rows)
    return {
        "hami.io/vgpu-node": node,
        "hami.io/vgpu-time": str(int(now)),
        "hami.io/vgpu-devices-to-allocate": devices,
        "hami.io/vgpu-devices-allocated": devices,
        HAMI_PHASE: ALLOCATING,
        "hami.io/bind-time": str(int(now)),
    }


def _cards(asked: PodPart, gpus: RegisteredGpus, numbers: Sequence[int]) -> str:
    memory = asked.part.memory_on(gpus.memory)
    return "".join(
        f"{gpus.names[number]},NVIDIA,{memory},{asked.cores}:" for number in numbers
    )


def _koordinator(
    asked: PodPart,
    gpus: RegisteredGpus,
    numbers: Sequence[int],
    where: tuple[str, float],
) -> Notes:
    resources = {
        f"koordinator.sh/{word}": amount
        for word, amount in _of_device(asked.part, gpus.memory).items()
    }
    devices = []
    for number in numbers:
        device = {"minor": int(gpus.names[number]), "resources": resources}
        uuid = gpus.uuids[number]
        devices.append({**device, "id": uuid} if uuid else device)
    return {
        _ALLOCATED: json.dumps({"gpu": devices}, separators=(",", ":")),
        "scheduling.koordinator.sh/bind-timestamp": str(int(where[1] * 1_000_000_000)),
    }


def _of_device(part: GpuPart, memory: int) -> dict[str, str]:
    """
    Say what is taken of one device: percent round down where they follow from bytes.
    """
    own = part.memory_on(memory)
    ratio = part.share // 10 or own * _PERCENT // memory
    said = {"gpu-core": str(part.cores // 10)} if part.cores else {}
    return {
        **said,
        "gpu-memory": str(own * _MIB),
        "gpu-memory-ratio": str(ratio),
    }


_WRITERS: Mapping[str, Write] = {
    GPUSHARE: _gpushare,
    VGPU: _vgpu,
    HAMI: _hami,
    KOORDINATOR: _koordinator,
}
