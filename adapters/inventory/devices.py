"""
Devices as rows: what each GPU of a node has on it, and what is left of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.devices.gpu_counts import in_gpus, shares_held, shown_gpus
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, memory_words, part_of
from models.devices.mig_profiles import MIG_MODELS
from models.nodes import Node
from models.resources import GPU, SHARES_PER_GPU, Resources

OTHERS = "others"


@dataclass(frozen=True, slots=True)
class DeviceUser:
    """
    A pod on devices of a node: its name, and what it asks for.
    """

    pod: str
    requests: Resources
    devices: tuple[GpuDevice, ...]


@dataclass(slots=True)
class DeviceRow:
    """
    One GPU: its state, who is on it with how much, and what counts as taken of it.

    ``shares`` are 1/7000 of it, ``cores`` thousandths and ``memory`` MiB that are left.
    """

    device: int
    memory: int
    state: str = "idle"
    shares: int = 0
    cores: int = WHOLE
    users: list[tuple[str, str]] = field(default_factory=list)

    def take(self, who: str, part: GpuPart, node: Node, start: int) -> None:
        """
        Count one more pod with a part.
        """
        asked = {part.resource: 1}
        own = shares_held(asked, node.gpu_memory) // part.count
        self.shares += own
        self.cores -= part.cores
        self.memory -= part.memory_on(node.gpu_memory)
        self.state = "cut" if part.profile else f"shared, {part.contract}"
        what = shown_gpus(in_gpus(own))
        if part.profile:
            what = f"{part.profile} on {_slices(part, node, start)}"
        elif part.memory or part.cores != part.share:
            compute = f"{shown_gpus(part.cores / WHOLE)} compute, " * bool(part.cores)
            share = f"{shown_gpus(part.share / WHOLE)} of its memory"
            what = compute + (memory_words(part.memory) if part.memory else share)
        if own:
            self.users.append((who, what))

    @property
    def left(self) -> str:
        """
        Say what is left of it.
        """
        if self.state == "idle":
            return "all"
        if not self.state.startswith("shared"):
            return shown_gpus(in_gpus(max(0, SHARES_PER_GPU - self.shares)))
        over = [f"{shown_gpus(-self.cores / WHOLE)} compute"] * (self.cores < 0)
        over += [memory_words(-self.memory)] * (self.memory < 0)
        if over:
            return f"none, {' and '.join(over)} too much"
        memory = f", {memory_words(self.memory)}" if self.memory else ""
        return f"{shown_gpus(self.cores / WHOLE)} compute{memory}"

    def document(self) -> dict[str, Any]:
        """
        Give the row as plain values.
        """
        return {
            "device": self.device,
            "state": self.state,
            "used": in_gpus(self.shares),
            "pods": [{"name": who, "has": what} for who, what in self.users],
        }


def device_rows(node: Node, users: Iterable[DeviceUser]) -> Sequence[DeviceRow]:
    """
    Give the GPUs of a node of which it is known who has parts; none where nobody has.
    """
    rows = [
        DeviceRow(at, node.gpu_memory) for at in range(node.allocatable.get(GPU, 0))
    ]
    known = [one for one in users if one.devices]
    if not known and not node.taken:
        return []
    for one in node.taken:
        part = GpuPart(one.contract, one.cores, memory=one.memory)
        if one.device < len(rows):
            _put(rows[one.device], OTHERS, part if one.contract else None, node, -1)
    for user in known:
        for place in user.devices:
            if place.device < len(rows):
                asked = part_of(user.requests)
                _put(rows[place.device], user.pod, asked, node, place.start)
    return rows


def _put(
    row: DeviceRow, who: str, part: GpuPart | None, node: Node, start: int
) -> None:
    if part is not None:
        row.take(who, part, node, start)
        return
    row.state, row.shares, row.cores, row.memory = "whole", SHARES_PER_GPU, 0, 0
    row.users.append((who, "all"))


def _slices(part: GpuPart, node: Node, start: int) -> str:
    profile = MIG_MODELS[node.mig.model].get(part.profile) if node.mig else None
    last = start + (profile.size if profile else 1) - 1
    return f"slice {start}" if last == start else f"slices {start}-{last}"
