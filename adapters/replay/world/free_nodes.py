"""
The ground: what every node has left, and how many pods of a shape would fit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adapters.replay.world.device_sharing import SharedDevices
from adapters.replay.world.waiting_jobs import JobKind, Shape
from models.devices.gpu_counts import shares_held
from models.devices.gpu_parts import (
    GpuDevice,
    GpuPart,
    is_part,
    is_reckoned,
    part_named,
    part_of,
)
from models.nodes import Node, NodeDemand
from models.resources import GPU, GPU_SHARE, Resources, pieces_per_gpu
from models.trace import Job

Ints = NDArray[np.int64]
MOST = 10**9


class Ground:
    """
    Free room by node, kept while pods come and go.

    GPUs are counted in ``pieces`` of one, as resource ``counted``: whole ones, unless
    anybody asks for parts.
    """

    def __init__(self, nodes: Sequence[Node], jobs: Sequence[Job]) -> None:
        self.pieces = pieces_per_gpu(node.allocatable for node in nodes)
        self.counted = GPU_SHARE if self.pieces > 1 else GPU
        roles = {id(role): role for job in jobs for role in job.roles}
        asked = {r for role in roles.values() for r in role.requests if not is_part(r)}
        self.nodes = nodes
        self.index = {node.name: at for at, node in enumerate(nodes)}
        self.resources = sorted(asked | {GPU, self.counted})
        self._columns = {name: at for at, name in enumerate(self.resources)}
        self.empty: Ints = np.array(
            [
                [n.allocatable.get(r, 0) - n.used.get(r, 0) for r in self.resources]
                for n in nodes
            ],
            dtype=np.int64,
        ).reshape(len(nodes), len(self.resources))
        self.free = self.empty.copy()
        self._open = np.array([not node.unschedulable for node in nodes], dtype=bool)
        self._vectors: dict[int, tuple[Resources, Ints]] = {}
        self._masks: dict[NodeDemand, NDArray[np.bool_]] = {}
        self._fitting: dict[Shape, int] = {}
        self._at_most: dict[Shape, int] = {}
        self._devices = SharedDevices(nodes)
        self._largest = max((node.gpu_memory for node in nodes), default=0)
        self._whole = self._columns[GPU]
        self.gpu = self._columns[self.counted]
        self.free_gpus = int(self.free[self._open, self.gpu].clip(min=0).sum())
        self.all_gpus = int(self.empty[:, self.gpu].clip(min=0).sum())
        self.off_gpus = self.all_gpus - self.free_gpus

    def vector(self, requests: Resources) -> Ints:
        """
        Write a request as a row.
        """
        known = self._vectors.get(id(requests))
        if known is None:
            row = np.array([requests.get(r, 0) for r in self.resources], dtype=np.int64)
            known = self._vectors[id(requests)] = (requests, row)
        return known[1]

    def held(self, requests: Resources, node: int) -> int:
        """
        Count what a pod has of the GPUs of a node.
        """
        return self._share(requests, self.nodes[node].gpu_memory)

    def held_in(self, places: Iterable[tuple[Resources, str]]) -> int:
        """
        Count what several pods have of the GPUs of their nodes.
        """
        return sum(self.held(requests, self.index[node]) for requests, node in places)

    def _share(self, requests: Resources, memory: int) -> int:
        if self.pieces == 1:
            return requests.get(GPU, 0)
        return shares_held(requests, memory)

    def least(self, kind: JobKind) -> Resources:
        """
        Give what a job needs at least, its parts on the largest GPUs there are.
        """
        if self.pieces == 1:
            return kind.need
        shares = (
            self._share(dict(requests), self._largest) * pods
            for (requests, _, _), pods in kind.shapes
        )
        return {**kind.need, GPU_SHARE: sum(shares)}

    def take(
        self, requests: Resources, node: int, places: Sequence[GpuDevice] = ()
    ) -> None:
        """
        Take room for a pod on a node, of a part on its devices.
        """
        self._book(requests, node, 1)
        part = part_of(requests) if self.pieces > 1 else None
        if part is not None:
            self.free[node, self._whole] -= self._devices.put(part, node, places)

    def give_back(
        self, requests: Resources, node: int, places: Sequence[GpuDevice] = ()
    ) -> None:
        """
        Take a pod off a node.
        """
        self._book(requests, node, -1)
        part = part_of(requests) if self.pieces > 1 else None
        if part is not None:
            self.free[node, self._whole] += self._devices.drop(part, node, places)

    def _book(self, requests: Resources, node: int, count: int) -> None:
        row, held = self.vector(requests), self.held(requests, node)
        left = self.free[node, self.gpu] - held * count
        self.free[node] -= row * count
        self.free[node, self.gpu] = left
        if self._open[node]:
            self.free_gpus -= held * count
        self._fitting.clear()
        self._devices.touch(node)

    def fitting(self, shape: Shape) -> int:
        """
        Count the pods of a shape that all nodes would take now.
        """
        count = self._fitting.get(shape)
        if count is None:
            count = self._count(shape, self.free, self._devices.fitting)
            self._fitting[shape] = count
        return count

    def at_most(self, shape: Shape) -> int:
        """
        Count the pods of a shape that all nodes would take if they were empty.
        """
        count = self._at_most.get(shape)
        if count is None:
            count = self._count(shape, self.empty, self._devices.fitting_alone)
            self._at_most[shape] = count
        return count

    def starts(self, kind: JobKind, *, empty: bool = False) -> int:
        """
        Count the jobs of a kind that could start at most, each role by itself.
        """
        room = self.at_most if empty else self.fitting
        return min((room(s) // need for s, need in kind.shapes), default=MOST)

    def room(self) -> dict[str, int]:
        """
        Add up what open nodes have left.
        """
        total = self.free[self._open].clip(min=0).sum(axis=0)
        return dict(zip(self.resources, total.tolist(), strict=True))

    def holds(self, kind: JobKind) -> bool:
        """
        Tell whether all empty nodes together have what a job needs.
        """
        alone = [pods for (_, _, exclusive), pods in kind.shapes if exclusive]
        others = len(alone) < len(kind.shapes)
        if alone and sum(alone) + others > self._open.sum():
            return False
        total = self.empty[self._open].clip(min=0).sum(axis=0)
        need = self.least(kind)
        return all(need.get(r, 0) <= total[at] for r, at in self._columns.items())

    def _count(
        self, shape: Shape, free: Ints, fitting: Callable[[GpuPart, Ints], Ints]
    ) -> int:
        requests, demand, exclusive = shape
        parts = [name for name, _ in requests if is_part(name)]
        asked = {
            n: amount for n, amount in requests if amount > 0 and not is_reckoned(n)
        }
        mask = self._mask(demand)
        if not asked and not parts:
            return int(mask.sum()) * (1 if exclusive else MOST)
        columns = [self._columns[name] for name in asked]
        rows = free[mask][:, columns] // np.array([*asked.values()], dtype=np.int64)
        counts = rows.min(axis=1, initial=MOST).clip(min=0)
        for name in parts:
            here = fitting(part_named(name), free[:, self._whole])
            counts = np.minimum(counts, here[mask])
        if exclusive:
            counts = np.minimum(counts, 1)
        return int(counts.sum())

    def _mask(self, demand: NodeDemand) -> NDArray[np.bool_]:
        mask = self._masks.get(demand)
        if mask is None:
            allowed = [demand.allows(node) for node in self.nodes]
            mask = self._masks[demand] = np.array(allowed, dtype=bool)
        return mask


def headroom(
    limits: Mapping[str, Sequence[Mapping[str, int]]], queue: str, need: Resources
) -> int:
    """
    Count how often a need fits under the limits on a queue's path.
    """
    return min(
        (
            max(0, table[r]) // amount
            for table in limits.get(queue, ())
            for r, amount in need.items()
            if amount > 0 and r in table
        ),
        default=MOST,
    )
