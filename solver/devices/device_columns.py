"""
Devices as columns of a table of room: what each GPU of a node has left, and for whom.

Whoever leaves a node gives these back and whoever has named devices takes them, as with
any resource; how many pods with a part a node would take is worked out from them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.devices.device_use import SharedDevice
from models.devices.gpu_parts import (
    DEVICE,
    WHOLE,
    GpuDevice,
    GpuPart,
    num_devices,
    part_of,
)
from models.devices.mig_profiles import MIG_MODELS, SLICES, Sliced
from models.gangs import ON_A_NODE, Gang, Pod, pod_sets
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_states import DeviceStates

Ints = NDArray[np.int64]
MIG = "mig"
WHOLE_GPU = "whole"
_CORES, _MEMORY, COUNTED, FIRST_HOLDER = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """
    A pod that runs or leaves, with devices or parts of them, or tied to pieces.
    """

    part: GpuPart | None
    pod: Pod


def holders(gangs: Iterable[Gang]) -> Iterator[DeviceHolder]:
    """
    Walk the pods on nodes of which devices are known, or pieces that they are tied to.
    """
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            there = [
                pod
                for pod in leaf.pods
                if (pod.devices or pod.tied) and pod.phase in ON_A_NODE
            ]
            part = part_of(leaf.requests) if there else None
            for pod in there:
                yield DeviceHolder(part, pod)


def sharer(part: GpuPart | None) -> str:
    """
    Name those who may be on a device together with a pod.
    """
    if part is None:
        return WHOLE_GPU
    return MIG if part.profile else part.contract


@dataclass(frozen=True, slots=True)
class DeviceColumns:
    """
    Where the devices of a node lie among the columns: ``number`` blocks from ``first``.

    A block is what is left of compute and memory, whether the load of others counts it
    already, less the pods on it by sharer, and where anybody asks for instances the
    free slices and media engines.
    """

    first: int
    number: int
    sharers: tuple[str, ...]
    sliced: bool

    @property
    def names(self) -> list[str]:
        """
        The names of the columns.
        """
        slices = [f"slice-{at}" for at in range(SLICES)] if self.sliced else []
        own = [
            "cores",
            "memory",
            "counted",
            *self.sharers,
            *slices,
            *(["media"] * self.sliced),
        ]
        return [f"{DEVICE}{at}/{name}" for at in range(self.number) for name in own]

    @property
    def width(self) -> int:
        """
        The number of columns of one device.
        """
        return FIRST_HOLDER + len(self.sharers) + (SLICES + 1) * self.sliced

    @property
    def block(self) -> slice:
        """
        The columns of all devices.
        """
        return slice(self.first, self.first + self.number * self.width)

    def empty(self, nodes: Sequence[Node]) -> Ints:
        """
        Give what devices have on which nobody is.
        """
        table = np.zeros((len(nodes), self.number, self.width), dtype=np.int64)
        for at, node in enumerate(nodes):
            own = table[at, : num_devices(node.allocatable.get(GPU, 0))]
            own[:, _CORES] = WHOLE
            own[:, _MEMORY] = node.gpu_memory
            own[:, FIRST_HOLDER + len(self.sharers) :] = 1
            for one in node.taken:
                if one.device >= self.number:
                    continue
                block = table[at, one.device]
                block[_CORES] -= one.cores
                block[_MEMORY] -= one.memory
                block[COUNTED] = 1
                sharer_at = self.sharers.index(one.contract or WHOLE_GPU)
                block[FIRST_HOLDER + sharer_at] -= 1
        return table.reshape(len(nodes), self.number * self.width)

    def hold(
        self, row: Ints, node: Node, part: GpuPart | None, places: Iterable[GpuDevice]
    ) -> None:
        """
        Add to a request what a pod holds of named devices.
        """
        for place in places:
            if not 0 <= place.device < self.number:
                continue
            at = self.first + place.device * self.width
            row[at + FIRST_HOLDER + self.sharers.index(sharer(part))] += 1
            if part is None:
                continue
            row[at + _CORES] += part.cores
            row[at + _MEMORY] += part.memory_on(node.gpu_memory)
            if part.profile:
                slices = at + FIRST_HOLDER + len(self.sharers)
                self._slice(row[slices : slices + SLICES + 1], node, part, place.start)

    @staticmethod
    def _slice(row: Ints, node: Node, part: GpuPart, start: int) -> None:
        profile = MIG_MODELS[node.mig.model].get(part.profile) if node.mig else None
        if profile is None or start not in profile.starts:
            row += 1
            return
        row[start : start + profile.size] += 1
        row[SLICES] += profile.is_single

    def opened(self, rows: Ints) -> Ints:
        """
        Count for each row the devices of which somebody has a part.
        """
        return np.asarray(self._taken(rows).sum(axis=-1))

    def both(self, first: Ints, later: Ints, idle: Ints) -> tuple[Ints, Ints]:
        """
        Give what devices have both first and later; count those opened only later.

        A device that all leave who share it is idle later: that is not to be used up.
        Of those opened only later no more are there first than are ``idle``.
        """
        rows = np.minimum(first, later)
        had, has = self._taken(first), self._taken(later)
        blocks = rows[:, self.block].reshape(len(rows), self.number, self.width)
        last = FIRST_HOLDER + len(self.sharers)
        left = had & ~has
        blocks[left, :FIRST_HOLDER] = 0
        blocks[left, last:] = 0
        opened = has & ~had
        here = opened & (opened.cumsum(axis=-1) <= idle[:, None])
        away = opened & ~here
        blocks[away, :FIRST_HOLDER] = 0
        blocks[away, last:] = 0
        rows[:, self.block] = blocks.reshape(len(rows), -1)
        return rows, np.asarray(here.sum(axis=-1))

    def _taken(self, rows: Ints) -> NDArray[np.bool_]:
        blocks = rows[..., self.block]
        blocks = blocks.reshape(*blocks.shape[:-1], self.number, self.width)
        parts = [at for at, name in enumerate(self.sharers) if name != WHOLE_GPU]
        found = blocks[..., [FIRST_HOLDER + at for at in parts]] < 0
        return np.asarray(found.any(axis=-1) & (blocks[..., COUNTED] == 0))

    def left_under(
        self, rows: Ints, contract: str
    ) -> tuple[NDArray[np.bool_], Ints, Ints]:
        """
        Tell for each row which devices a contract shares; give what all have left.
        """
        blocks = rows[:, self.block].reshape(len(rows), self.number, self.width)
        if contract not in self.sharers:
            there = np.zeros(blocks.shape[:2], dtype=bool)
        else:
            at = FIRST_HOLDER + self.sharers.index(contract)
            last = FIRST_HOLDER + len(self.sharers)
            alone = (blocks[..., FIRST_HOLDER:last] < 0).sum(axis=-1) == 1
            there = alone & (blocks[..., at] < 0)
        left = np.maximum(blocks[..., [_CORES, _MEMORY]], 0)
        return there, left[..., 0], left[..., 1]

    def holds(self, row: Ints) -> bool:
        """
        Tell whether nothing of a node's devices was taken that was not there.
        """
        blocks = row[self.block].reshape(self.number, self.width)
        last = FIRST_HOLDER + len(self.sharers)
        kinds = (blocks[:, FIRST_HOLDER:last] < 0).sum(axis=1)
        left = np.delete(blocks, range(FIRST_HOLDER, last), axis=1)
        return bool((kinds <= 1).all() and (left >= 0).all())

    def states(self, row: Ints, node: Node) -> DeviceStates:
        """
        Read the devices of a node from its row.
        """
        shared: dict[int, SharedDevice] = {}
        sliced: dict[int, Sliced] = {}
        whole: set[int] = set()
        blocks = row[self.block].reshape(self.number, self.width).tolist()
        last = FIRST_HOLDER + len(self.sharers)
        for device, block in enumerate(blocks[: node.allocatable.get(GPU, 0)]):
            there = [
                name
                for name, number in zip(
                    self.sharers, block[FIRST_HOLDER:last], strict=True
                )
                if number < 0
            ]
            if there == [WHOLE_GPU]:
                whole.add(device)
            elif there == [MIG]:
                free = block[last : last + SLICES + 1]
                free = free if min(free) >= 0 else [0] * len(free)
                mask = sum(1 << at for at, left in enumerate(free[:-1]) if not left)
                sliced[device] = Sliced(mask, has_media=not free[-1])
            elif len(there) == 1:
                left = block[_CORES], block[_MEMORY]
                left = left if min(left) >= 0 else (0, 0)
                shared[device] = SharedDevice(there[0], *left)
            elif there:
                shared[device] = SharedDevice("", 0, 0)
        taken = {*shared, *sliced, *whole}
        may_be_cut = () if node.mig is None else node.mig.devices
        return DeviceStates(
            shared=shared,
            sliced=sliced,
            cuttable=tuple(at for at in may_be_cut if at not in taken),
            whole=frozenset(whole),
            counted=node.counted_devices,
        )


def device_columns(
    first: int,
    nodes: Sequence[Node],
    parts: Iterable[GpuPart],
    held: Sequence[DeviceHolder],
) -> DeviceColumns:
    """
    Lay out the columns of devices for all who have some or ask for parts.
    """
    asked = {sharer(part) for part in parts} | {sharer(one.part) for one in held}
    asked |= {one.contract or WHOLE_GPU for node in nodes for one in node.taken}
    return DeviceColumns(
        first=first,
        number=max(
            (num_devices(node.allocatable.get(GPU, 0)) for node in nodes), default=0
        ),
        sharers=tuple(sorted(asked)),
        sliced=MIG in asked,
    )


def shared_devices(held: Iterable[DeviceHolder]) -> set[tuple[str, int]]:
    """
    Name the devices of which somebody has a part: the node, and the number there.
    """
    return {
        (one.pod.node or "", place.device)
        for one in held
        if one.part is not None
        for place in one.pod.devices
    }


def names_whole(columns: DeviceColumns, rows: Ints) -> NDArray[np.bool_]:
    """
    Tell of each row whether it is known which device a whole one is.
    """
    if WHOLE_GPU not in columns.sharers:
        return np.zeros(len(rows), dtype=bool)
    at = columns.first + FIRST_HOLDER + columns.sharers.index(WHOLE_GPU)
    own = rows[:, at : columns.block.stop : columns.width]
    return np.asarray((own < 0).any(axis=1))
