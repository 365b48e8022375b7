"""
Stock: what every node has left, and how many pods of each shape it would still take.

Counts are kept per shape and brought up to date only where something changed since
they were last asked for.
"""

import numpy as np

from models.resources import is_gpu
from solver.problem.never_starts import num_fitting
from solver.problem.node_room import Floats, Ints
from solver.problem.problem import Problem


class Stock:
    """
    Free room by node, with its measure of tightness.
    """

    def __init__(self, problem: Problem) -> None:
        room = problem.room
        self._tuning = problem.tuning.place
        self.shapes = problem.shapes
        self.free = room.free.copy()
        self._gpus = np.array([is_gpu(r) for r in room.resources], dtype=bool)
        scale = np.maximum(room.empty.max(axis=0, initial=1), 1)
        self._unit = np.where(self._gpus, self._tuning.gpu_weight, 1.0) / scale
        self._with_gpus = room.holes > 0 if room.gpus else np.zeros(len(room.free))
        self._tight = self.free.clip(min=0) @ self._unit
        self._touched: list[int] = []
        self._measured = 0
        self._counts: dict[int, Ints] = {}
        self._totals: dict[int, int] = {}
        self._counted: dict[int, int] = {}

    def shift(self, shape: int, hosts: Ints, steps: Ints) -> None:
        """
        Take room for some pods on each host, or give it back where negative.
        """
        self.free[hosts] -= steps[:, None] * self.shapes.requests[shape]
        self._touched.extend(hosts.tolist())

    def shift_one(self, shape: int, host: int, step: int) -> None:
        """
        Take room on one host.
        """
        self.free[host] -= self.shapes.requests[shape] * step
        self._touched.append(host)

    @property
    def tight(self) -> Floats:
        """
        Measure what is free on each node; little is tight.
        """
        if self._measured < len(self._touched):
            hosts = self._touched[self._measured :]
            self._tight[hosts] = self.free[hosts].clip(min=0) @ self._unit
            self._measured = len(self._touched)
        return np.asarray(self._tight)

    def places(self, shape: int) -> Ints:
        """
        Count the pods of a shape that each node would take now; not to be changed.
        """
        counts = self._counts.get(shape)
        request = self.shapes.requests[shape]
        if counts is None:
            counts = np.zeros(len(self.free), dtype=np.int64)
            nodes = np.flatnonzero(self.shapes.fits[shape])
            counts[nodes] = num_fitting(self.free[nodes], request)
            self._counts[shape] = counts
            self._totals[shape] = int(counts.sum())
        elif self._counted[shape] < len(self._touched):
            hosts = np.array([*set(self._touched[self._counted[shape] :])])
            fresh = num_fitting(self.free[hosts], request)
            fresh[~self.shapes.fits[shape, hosts]] = 0
            self._totals[shape] += int(fresh.sum()) - int(counts[hosts].sum())
            counts[hosts] = fresh
        self._counted[shape] = len(self._touched)
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
        if self.shapes.requests[shape][self._gpus].any():
            return self.tight
        return np.asarray(self.tight + self._tuning.waste * self._with_gpus)
