"""
Parts of GPUs: what a pod asks of devices below a whole one, and what that counts.

A part is one more resource of a pod's request, whose name says all of it, as ports of
hosts are; so whatever tells requests apart tells parts apart.  Whole GPUs and parts
together count as ``gpu-share``, in 1/7000 of a GPU: thousandths and sevenths are whole
numbers of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from models.devices.mig_profiles import SEVENTHS, sevenths
from models.resources import (
    CLAIMED_DEVICES,
    CLAIMED_GPUS,
    FREE_VOLUMES,
    GPU,
    GPU_SHARE,
    HOST_PORTS,
    LINKED_GPUS,
    MODEL_MARK,
    SHARES_PER_GPU,
    Resources,
)
from models.volume_slots import is_volume_slot, slot_parts

PHALANX = "phalanx"
CONTRACTS = (PHALANX, "kai", "koordinator", "vgpu", "hami", "gpushare", "dra")
WHOLE = 1000
"""
The compute of a device, and its memory where that is said as a share.
"""
MIB = 2**20
_PREFIX = "gpu-part/"
DEVICE = "gpu-device/"
"""
Begins the names of what single devices have left.
"""
_NO_START = -1


@dataclass(frozen=True, slots=True, order=True)
class GpuPart:
    """
    What one pod asks for of each of ``count`` devices of its node, or of MIG instances.

    ``cores`` and ``share`` are thousandths of compute and memory, ``memory`` is MiB.
    Instances of a ``profile`` may lie on one device or on several.
    """

    contract: str = PHALANX
    cores: int = 0
    share: int = 0
    memory: int = 0
    profile: str = ""
    count: int = 1

    @property
    def resource(self) -> str:
        """
        The name of the part among the resources of a request.
        """
        amounts = f"{self.cores}-{self.share}-{self.memory}"
        return f"{_PREFIX}{self.contract}/{self.profile or amounts}/{self.count}"

    @property
    def num_whole(self) -> int:
        """
        Count the devices that it takes whole: those of which it has all the memory.
        """
        return self.count if self.share == WHOLE else 0

    @property
    def num_different(self) -> int:
        """
        Count the devices that must be different ones: instances may share one.
        """
        return 1 if self.profile else self.count

    def memory_on(self, device: int) -> int:
        """
        Give the MiB it takes of a device with so much memory, rounded down of a share.

        Of memory that nobody knows, which is 0, a share is kept by no more compute; a
        larger one takes more than there is.
        """
        if not device and not self.memory:
            return int(self.share > self.cores)
        return self.memory or self.share * device // WHOLE

    def __str__(self) -> str:
        """
        Say it as people do: 0.5 of one GPU.
        """
        if self.profile:
            several = "" if self.count == 1 else f"{self.count} × "
            return f"{several}MIG {self.profile}"
        words = []
        if self.cores and self.share in {0, self.cores} and not self.memory:
            words.append(shown(self.cores))
        elif self.cores or self.share:
            words += [f"{shown(self.cores)} of the compute"] * bool(self.cores)
            words += [f"{shown(self.share)} of the memory"] * bool(self.share)
        if self.memory:
            words.append(memory_words(self.memory))
        where = "one GPU" if self.count == 1 else f"each of {self.count} GPUs"
        return f"{' and '.join(words)} of {where}"


@dataclass(frozen=True, slots=True, order=True)
class GpuDevice:
    """
    A device of a node on which a pod has a part; of an instance the slice it begins at.
    """

    device: int
    start: int = _NO_START


@dataclass(frozen=True, slots=True)
class DeviceAmounts:
    """
    What a pod gets of each of its devices: thousandths of compute and MiB.

    Of a device that is cut it is an instance of a ``profile``.
    """

    cores: int = 0
    memory: int = 0
    profile: str = ""

    @classmethod
    def of(cls, part: GpuPart, memory: int) -> Self:
        """
        Say what a part is of devices with so many MiB.
        """
        if part.profile:
            return cls(profile=part.profile)
        return cls(cores=part.cores, memory=part.memory_on(memory))


@dataclass(frozen=True, slots=True, order=True)
class TakenDevice:
    """
    What work that is not ours has of one device of a node: all of it, or parts.

    Of a device that it shares, ``cores`` and ``memory`` are taken under a ``contract``.
    """

    device: int
    contract: str = ""
    cores: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class MigDevices:
    """
    The devices of a node that may be cut, and their model.
    """

    model: str
    devices: tuple[int, ...]


def shown(thousandths: int) -> str:
    """
    Write thousandths as people do: 0.5.
    """
    return f"{thousandths / WHOLE:g}"


def memory_words(mebibytes: int) -> str:
    """
    Write the memory of a device as people do: 20 GiB.
    """
    whole, rest = divmod(mebibytes, 1024)
    return f"{mebibytes:,} MiB" if rest else f"{whole:,} GiB"


MOST_SHARED = 256
"""
A node with more GPUs than this shares none: what is kept per device stays small.
"""


def num_devices(node_gpus: int) -> int:
    """
    Count the devices of a node that pods may share.
    """
    return node_gpus if 0 < node_gpus <= MOST_SHARED else 0


def is_part(resource: str) -> bool:
    """
    Tell whether a resource is a part of a GPU.
    """
    return resource.startswith(_PREFIX)


def is_reckoned(resource: str) -> bool:
    """
    Tell whether a resource is a name of ours, for parts of GPUs or what they count.
    """
    return resource == GPU_SHARE or is_part(resource) or resource.startswith(DEVICE)


def is_ours(resource: str) -> bool:
    """
    Tell whether a resource is counted here only, so that no object of others names it.
    """
    return (
        is_reckoned(resource)
        or resource.startswith((HOST_PORTS, FREE_VOLUMES, LINKED_GPUS, CLAIMED_DEVICES))
        or MODEL_MARK in resource
        or (is_volume_slot(resource) and bool(slot_parts(resource)[1]))
    )


def said(resource: str) -> str:
    """
    Say a part as something to be counted; GPUs are counted with their parts.
    """
    return f"× {part_named(resource)}" if is_part(resource) else "GPUs"


def wanted(resource: str, number: int) -> str:
    """
    Say a part and how many of it: 0.5 of one GPU, 3 × 0.5 of one GPU.
    """
    return str(part_named(resource)) if number == 1 else f"{number} {said(resource)}"


@lru_cache(maxsize=1 << 14)
def part_named(resource: str) -> GpuPart:
    """
    Give the part that the name of a resource says.
    """
    contract, what, count = resource.removeprefix(_PREFIX).split("/")
    if "." in what:
        return GpuPart(contract, profile=what, count=int(count))
    cores, share, memory = map(int, what.split("-"))
    return GpuPart(contract, cores, share, memory, count=int(count))


def part_of(requests: Resources) -> GpuPart | None:
    """
    Give the part of GPUs that a request asks for, if any.
    """
    for name in requests:
        if name.startswith(_PREFIX):
            return part_named(name)
    return None


def counts_as(part: GpuPart, memories: Iterable[int]) -> int:
    """
    Count a part in 1/7000 of a GPU: per device the larger of its shares.

    Memory counts as on the smallest of some devices that could hold it, up to a
    thousandth.  KAI's parts count the hundredths that KAI counts them.
    """
    if part.profile:
        return part.count * sevenths(part.profile) * SHARES_PER_GPU // SEVENTHS
    shares = [max(part.cores, part.share)]
    device = min((m for m in memories if m >= part.memory > 0), default=0)
    if device:
        shares.append(-(-part.memory * WHOLE // device))
    elif part.memory:
        shares.append(WHOLE)
    most = max(shares)
    if part.contract == "kai":
        most = 10 * (-(-most // 10) if part.memory else max(1, (most + 5) // 10))
    return part.count * most * SHARES_PER_GPU // WHOLE


def with_shares_of_others(
    used: Resources, taken: Sequence[TakenDevice], memory: int
) -> Resources:
    """
    Say beside what others use of a node what its GPUs count, shared ones by their part.
    """
    shared = [one for one in taken if one.contract]
    amount = (used.get(GPU, 0) - len(shared)) * SHARES_PER_GPU
    amount += used.get(CLAIMED_GPUS, 0)
    for one in shared:
        part = GpuPart(one.contract, one.cores, memory=one.memory)
        amount += counts_as(part, (memory,))
    plain = {name: n for name, n in used.items() if name != CLAIMED_GPUS}
    return {**plain, GPU_SHARE: amount} if amount or shared else plain


def with_shares(requests: Resources, memories: Iterable[int]) -> Resources:
    """
    Say beside a request what its GPUs count: whole ones, parts, and those by claim.
    """
    part = part_of(requests)
    claimed = requests.get(CLAIMED_GPUS, 0)
    amount = requests.get(GPU, 0) * SHARES_PER_GPU + claimed
    if part is not None:
        amount += counts_as(part, memories)
    if not amount:
        return requests
    plain = {name: n for name, n in requests.items() if name != CLAIMED_GPUS}
    return {**plain, GPU_SHARE: amount}


def with_claimed_of_others(
    used: Resources, taken: Sequence[TakenDevice], memory: int
) -> Resources:
    """
    Say again of what others use which of its GPUs are neither whole nor shared.
    """
    plain = {name: amount for name, amount in used.items() if name != GPU_SHARE}
    known = with_shares_of_others(plain, taken, memory)
    claimed = used.get(GPU_SHARE, 0) - known.get(GPU_SHARE, 0)
    return {**plain, CLAIMED_GPUS: claimed} if claimed > 0 else plain


def with_claimed(requests: Resources) -> Resources:
    """
    Say again of what has no parts which of its GPUs are had by claim.
    """
    whole = requests.get(GPU, 0) * SHARES_PER_GPU
    claimed = requests.get(GPU_SHARE, 0) - whole
    if claimed <= 0 or part_of(requests) is not None:
        return requests
    return {**requests, CLAIMED_GPUS: claimed}
