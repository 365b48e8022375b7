"""
What the cluster could hold if it were empty: places per shape, node and domain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from models.resources import add
from models.why.reasons import Facts
from solver.problem.domains import Domains
from solver.problem.gang_state import Standing, satisfied_after
from solver.problem.node_room import Ints, Room, num_fitting
from solver.problem.pod_shapes import Shapes
from solver.problem.when_empty.no_fitting_node import why_nowhere
from solver.shares.queue_tree import Amounts


@dataclass(frozen=True, kw_only=True)
class Possible:
    """
    How many pods of each shape empty nodes can hold, in all or in one domain.
    """

    room: Room
    shapes: Shapes
    domains: Domains
    _counts: dict[int, Ints] = field(default_factory=dict)
    _totals: dict[int, int] = field(default_factory=dict)
    _by_domain: dict[tuple[int, str, str], Ints] = field(default_factory=dict)
    _living: dict[str, list[int] | None] = field(default_factory=dict)
    _nowhere: dict[int, Facts] = field(default_factory=dict)
    _sums: dict[object, Ints] = field(default_factory=dict)

    def per_node(self, shape: int) -> Ints:
        """
        Count a shape's pods per empty node.
        """
        if shape not in self._counts:
            counts = num_fitting(self.room.empty, self.shapes.requests[shape])
            if self.shapes.items[shape].exclusive:
                counts = np.minimum(counts, 1)
            self._counts[shape] = np.where(self.shapes.allowed[shape], counts, 0)
        return self._counts[shape]

    def total(self, shape: int) -> int:
        """
        Count a shape's pods on all empty nodes together.
        """
        if shape not in self._totals:
            self._totals[shape] = int(self.per_node(shape).sum())
        return self._totals[shape]

    def per_domain(self, shape: int, topology: str, level: str) -> Ints:
        """
        Count a shape's pods per domain of a level, where all nodes are empty.
        """
        key = (shape, topology, level)
        if key not in self._by_domain:
            cells = self.domains.cells(topology, level)
            totals = np.zeros(len(cells.names), dtype=np.int64)
            np.add.at(totals, cells.of_node, self.per_node(shape))
            self._by_domain[key] = totals[1:]
        return self._by_domain[key]

    def sums(self, state: Standing) -> Ints:
        """
        Add up what all empty nodes have on which any pod of a gang may be.
        """
        rows = self.alike(state)
        items = [self.shapes.items[row] for row in rows]
        key = frozenset((item.demand, item.banned) for item in items)
        if key not in self._sums:
            nodes = self.shapes.allowed[rows].any(axis=0)
            self._sums[key] = self.room.empty[nodes].clip(min=0).sum(axis=0)
        return self._sums[key]

    def alike(self, state: Standing) -> list[int]:
        """
        Give the shape of each leaf; those of equal ones share their places.
        """
        return [self.shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]

    def offers(self, state: Standing) -> list[int]:
        """
        Cut the pending pods of each leaf to what empty nodes, and domains, hold.
        """
        places = [self.total(shape) for shape in self.alike(state)]
        counts = [min(len(x.pending), places[i]) for i, x in enumerate(state.leaves)]
        for node in state.nodes:
            demand = node.topology
            if demand is None or demand.required is None:
                continue
            for i in node.leaves:
                best = self.best(state, i, demand.topology, demand.required)
                counts[i] = min(counts[i], best)
        return counts

    def best(self, state: Standing, leaf: int, topology: str, level: str) -> int:
        """
        Count the places for a leaf in the domain of a level that has most.
        """
        shape = self.shapes.of_leaf[state.key, leaf]
        return int(self.per_domain(shape, topology, level).max(initial=0))

    def living(self, state: Standing) -> list[int] | None:
        """
        Cut offers to subtrees that can be satisfied; none where the root never can.

        A leaf that waits for a role that is never reached gets no pods, either.
        """
        if state.key not in self._living:
            self._living[state.key] = self._cut(state, self.offers(state))
        return self._living[state.key]

    @staticmethod
    def _cut(state: Standing, counts: list[int]) -> list[int] | None:
        while True:
            before = sum(counts)
            satisfied = satisfied_after(state, dict(enumerate(counts)))
            for at, node in enumerate(state.nodes):
                if not satisfied[at]:
                    for i in node.leaves:
                        counts[i] = 0
            for i, leaf in enumerate(state.leaves):
                if any(counts[t] < state.leaves[t].need for t in leaf.after):
                    counts[i] = 0
            if sum(counts) == before:
                return counts if satisfied[0] else None

    def demand(self, states: Sequence[Standing]) -> Amounts:
        """
        Add up pending pods per queue, without subtrees that can never be satisfied.
        """
        total: Amounts = {}
        for state in states:
            amounts = total.setdefault(state.gang.queue, {})
            for i, pods in enumerate(self.living(state) or ()):
                leaf = state.leaves[i]
                if pods:
                    add(amounts, leaf.pod_set.requests, len(leaf.pending))
        return total

    def why_nowhere(self, shape: int) -> Facts:
        """
        Say why a shape fits no empty node.
        """
        if shape not in self._nowhere:
            self._nowhere[shape] = why_nowhere(self.room, self.shapes, shape)
        return self._nowhere[shape]
