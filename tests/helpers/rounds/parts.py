"""
Builders for parts of GPUs: what pods ask for, the nodes they may be on, their devices.
"""

from dataclasses import replace

from models.devices.gpu_parts import GpuDevice, GpuPart, MigDevices, with_shares
from models.gangs import Gang, PodSet
from models.nodes import Node
from models.resources import GPU, GPU_SHARE, PODS, SHARES_PER_GPU
from tests.helpers.build import gang, node

MEMORY = 80 * 1024


def fraction(thousandths: int, devices: int = 1, contract: str = "phalanx") -> GpuPart:
    return GpuPart(contract, thousandths, thousandths, count=devices)


def memory(mebibytes: int, cores: int = 0, devices: int = 1) -> GpuPart:
    return GpuPart(cores=cores, memory=mebibytes, count=devices)


def mig(profile: str, count: int = 1) -> GpuPart:
    return GpuPart(profile=profile, count=count)


def asking(part: GpuPart) -> dict[str, int]:
    """
    Give the request of a pod that asks for a part, on devices of 80 GiB.
    """
    return dict(with_shares({PODS: 1, part.resource: 1}, (MEMORY,)))


def sharing(
    name: str = "n0", gpus: int = 2, cut: tuple[int, ...] = (), **fields
) -> Node:
    """
    Build a node whose GPUs have 80 GiB each, and say which may be cut.
    """
    devices = MigDevices("H100-80GB", cut) if cut else None
    offered = {GPU_SHARE: gpus * SHARES_PER_GPU, GPU: gpus}
    made = node(name, gpus, allocatable=offered, mig=devices, **fields)
    return replace(made, gpu_memory=MEMORY)


def part_gang(name: str, part: GpuPart, *places: tuple[str, object], **fields) -> Gang:
    """
    Build a gang that asks for parts; its running pods are on ``places``.

    A place is a node and a device, or ``(device, start)`` of an instance.
    """
    made = gang(name, requests=asking(part), running=[n for n, _ in places], **fields)
    assert isinstance(made.tree, PodSet)
    pods = list(made.tree.pods)
    for at, (_, device) in enumerate(places):
        pods[at] = replace(pods[at], devices=on(device))
    return replace(made, tree=replace(made.tree, pods=tuple(pods)))


def on(*devices: object) -> tuple[GpuDevice, ...]:
    """
    Give devices, of an instance written as ``(device, start)``.
    """
    return tuple(
        GpuDevice(*one) if isinstance(one, tuple) else GpuDevice(int(str(one)))
        for one in devices
    )
