"""
What a pod could use of devices of which others have parts, and of idle ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart
from models.devices.mig_profiles import MIG_MODELS, SLICES, Sliced, starts_for
from models.devices.typical_pods import TypicalPod


@dataclass(frozen=True, slots=True, order=True)
class SharedDevice:
    """
    What is left of a device under one contract: thousandths of compute, and MiB.
    """

    contract: str
    cores: int
    memory: int


OpenDevice = SharedDevice | Sliced


@dataclass(frozen=True, slots=True)
class NodeSort:
    """
    What nodes are alike in: who may be there, and what their devices are.
    """

    allowed: tuple[bool, ...]
    memory: int
    model: str
    cuttable: int


def usable(
    pod: TypicalPod,
    sort: NodeSort,
    idle: int,
    now: Sequence[OpenDevice],
    left: Sequence[int],
) -> int:
    """
    Give what a typical pod could use of a node's GPUs, in thousandths.
    """
    if pod.part is None:
        return WHOLE * idle if idle >= pod.gpus else 0
    fresh = idle_devices(pod.part, sort, idle)
    open_ = [at for at, device in enumerate(now) if holds(device, pod.part, sort)]
    if len(open_) + fresh < (1 if pod.part.profile else pod.part.count):
        return 0
    return WHOLE * fresh + sum(left[at] for at in open_)


def with_one(
    device: OpenDevice | None, part: GpuPart, start: int, sort: NodeSort
) -> OpenDevice:
    """
    Give a device, an idle one if none is given, with one more part.
    """
    if part.profile:
        taken = device if isinstance(device, Sliced) else Sliced()
        return taken.with_one(MIG_MODELS[sort.model][part.profile], start)
    if not isinstance(device, SharedDevice):
        device = SharedDevice(part.contract, WHOLE, sort.memory)
    memory = device.memory - part.memory_on(sort.memory)
    return SharedDevice(device.contract, device.cores - part.cores, memory)


def order_of(device: OpenDevice) -> tuple[str, int, int]:
    """
    Give an order of devices, the fullest of a contract first.
    """
    if isinstance(device, Sliced):
        return "", device.mask, device.has_media
    return device.contract, device.cores, device.memory


def left_of(device: OpenDevice, memory: int) -> int:
    """
    Give what is left of a device in thousandths: of its compute or memory, or slices.
    """
    if isinstance(device, Sliced):
        return (SLICES - device.mask.bit_count()) * WHOLE // SLICES
    return min(device.cores, device.memory * WHOLE // memory if memory else WHOLE)


def holds(device: OpenDevice, part: GpuPart, sort: NodeSort) -> bool:
    """
    Tell whether a device of which somebody has a part holds one more.
    """
    if isinstance(device, Sliced):
        known = part.profile in MIG_MODELS.get(sort.model, {})
        return known and starts_for(sort.model, device, (part.profile,)) is not None
    if part.profile or part.contract != device.contract:
        return False
    return device.cores >= part.cores and device.memory >= part.memory_on(sort.memory)


def idle_devices(part: GpuPart, sort: NodeSort, idle: int, cut: int = 0) -> int:
    """
    Count the idle devices that hold a part, where so many are cut anew.
    """
    if part.profile:
        known = part.profile in MIG_MODELS.get(sort.model, {})
        return min(idle, max(0, sort.cuttable - cut)) if known else 0
    return idle if part.memory_on(sort.memory) <= sort.memory else 0


def size_of(part: GpuPart, sort: NodeSort) -> tuple[int, int]:
    """
    Give an order of parts, the largest first.
    """
    memory = part.memory_on(sort.memory) * WHOLE // max(1, sort.memory)
    return -max(part.cores, memory), -part.count


def ways_of(
    sort: NodeSort,
    part: GpuPart,
    idle: int,
    now: tuple[OpenDevice, ...],
    own: tuple[GpuDevice, ...],
) -> Iterator[tuple[GpuDevice, int, tuple[OpenDevice, ...]]]:
    """
    Put one item on a device in each way that differs, on an idle one at last.

    Shares of a pod lie on different devices, instances may lie on one.
    """
    taken = () if part.profile else {place.device for place in own}
    number = sum(isinstance(device, Sliced) for device in now)
    fresh = idle_devices(part, sort, idle, number)
    seen = set()
    for at in range(len(now) + bool(fresh)):
        device = now[at] if at < len(now) else None
        if (device is not None and not holds(device, part, sort)) or at in taken:
            continue
        profile = MIG_MODELS[sort.model][part.profile] if part.profile else None
        for start in (-1,) if profile is None else profile.starts:
            cut = device if isinstance(device, Sliced) else Sliced()
            if profile is not None and not cut.fits(profile, start):
                continue
            after = with_one(device, part, start, sort)
            if (device, after) not in seen:
                seen.add((device, after))
                every = (*now[:at], after, *now[at + 1 :])
                yield GpuDevice(at, start), idle - (device is None), every
