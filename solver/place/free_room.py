"""
Free room by shape: how many pods of each every node would still take, and how tightly.

Counts are kept per shape and brought up to date only where room changed since they
were last asked for.
"""

import numpy as np

from models.devices.gpu_parts import is_reckoned
from models.resources import is_gpu
from solver.problem.node_room import Floats, Ints, NodeRoom, num_fitting
from solver.problem.problem import Problem


class FreePlaces:
    """
    The places in some room, per node and shape, with the room's measure of tightness.
    """

    def __init__(self, problem: Problem, free: NodeRoom) -> None:
        room = problem.room
        self._tuning = problem.tuning.place
        self._shapes = problem.shapes
        self._room = free
        self._gpus = np.array([is_gpu(r) for r in room.resources], dtype=bool)
        scale = np.maximum(room.empty.max(axis=0, initial=1), 1)
        self._unit = np.where(self._gpus, self._tuning.gpu_weight, 1.0) / scale
        reckoned = [is_reckoned(resource) for resource in room.resources]
        self._unit[np.array(reckoned, dtype=bool)] = 0.0
        self._with_gpus = room.holes > 0 if room.gpus else np.zeros(len(room.now))
        self._tight = free.rows.clip(min=0) @ self._unit
        self._measured = 0
        self._counts: dict[int, Ints] = {}
        self._totals: dict[int, int] = {}
        self._counted: dict[int, int] = {}

    @property
    def tight(self) -> Floats:
        """
        Measure what is free on each node; little is tight.
        """
        if self._measured < len(self._room.touched):
            hosts = self._room.touched[self._measured :]
            self._tight[hosts] = self._room.rows[hosts].clip(min=0) @ self._unit
            self._measured = len(self._room.touched)
        return np.asarray(self._tight)

    def places(self, shape: int) -> Ints:
        """
        Count the pods of a shape that each node would take now; not to be changed.
        """
        counts = self._counts.get(shape)
        request = self._shapes.requests[shape]
        if counts is None:
            counts = np.zeros(len(self._room.rows), dtype=np.int64)
            nodes = np.flatnonzero(self._shapes.fits[shape])
            counts[nodes] = num_fitting(self._room.rows[nodes], request)
            self._counts[shape] = counts
            self._totals[shape] = int(counts.sum())
        elif self._counted[shape] < len(self._room.touched):
            hosts = np.array([*set(self._room.touched[self._counted[shape] :])])
            fresh = num_fitting(self._room.rows[hosts], request)
            fresh[~self._shapes.fits[shape, hosts]] = 0
            self._totals[shape] += int(fresh.sum()) - int(counts[hosts].sum())
            counts[hosts] = fresh
        self._counted[shape] = len(self._room.touched)
        return counts

    def total(self, shape: int) -> int:
        """
        Count the pods of a shape that all nodes together would take now.
        """
        self.places(shape)
        return self._totals[shape]

    def strain(self, shape: int) -> Floats:
        """
        Rank nodes for a shape: tight ones first, those with GPUs last for pods without.
        """
        if self._shapes.requests[shape][self._gpus].any():
            return self.tight
        return np.asarray(self.tight + self._tuning.waste * self._with_gpus)

    def by_fit(self, room: Ints, count: int, shape: int) -> Ints:
        """
        Order nodes with room tightest first, unless one alone breaks less than many.
        """
        strain = self.strain(shape)
        whole = np.flatnonzero(room >= count)
        if not len(whole):
            return _tightest(np.flatnonzero(room > 0), strain, count)
        best = whole[[strain[whole].argmin()]]
        # Many break less only if each of them is tighter than the one.
        many = np.flatnonzero((strain < strain[best]) & (room > 0))
        if count == 1 or int(room[many].sum()) < count:
            return best
        many = _tightest(many, strain, count)
        full = np.cumsum(room[many])
        many = many[: int(np.searchsorted(full, count)) + 1]
        broken = float((strain[many] ** 2).sum())
        return best if float(strain[best[0]]) ** 2 <= broken else many


def _tightest(nodes: Ints, strain: Floats, count: int) -> Ints:
    """
    Order nodes by their strain, those that are among the first so many.
    """
    found = strain[nodes]
    if count < len(nodes):
        nodes = nodes[found <= np.partition(found, count - 1)[count - 1]]
        found = strain[nodes]
    return nodes[np.argsort(found, kind="stable")]
