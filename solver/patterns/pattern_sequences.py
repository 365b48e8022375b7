"""
Sequences of patterns: node after node is filled with what is still wanted.

What a sequence leaves over counts for more in the next one (sequential value
correction), so that later ones lay the awkward pods first and fill up with the others.
"""

from collections.abc import Sequence

import numpy as np

from solver.patterns.filled_node import EqualNodes, FilledNode, Pattern, holds
from solver.problem.node_room import MANY, Floats

Column = tuple[int, Pattern]
"""
Which equal nodes hold what.
"""
_KEPT, _MISSED = 0.7, 2.0
_LITTLE = 1e-9
_REPEATS = (1, 3, 10, 30)
_NOISES = (0.0, 0.1, 0.3, 0.6)
_POWERS = (1.0, 1.0, 0.7)
"""
Of a price so much stays as it was, and so much is added where nothing has its place; at
one go at most so many nodes get a pattern; how odd the order of pods may be, and how
much their size counts in it.
"""


class PatternSequences:
    """
    Patterns found so far; ``effort`` adds up the shapes that were looked at.
    """

    def __init__(self, equal: Sequence[EqualNodes], number: int, seed: int) -> None:
        self.equal = equal
        self.columns: dict[Column, None] = {}
        self.effort = 0
        self._random = np.random.default_rng(seed)
        self._price = np.ones(number)
        self._bad: set[Column] = set()
        width = max((len(nodes.room) for nodes in equal), default=0)
        self._asks = np.zeros((len(equal), number, width))
        room = np.zeros((len(equal), width))
        for at, nodes in enumerate(equal):
            for shape, asks in nodes.asks.items():
                for column, asked in asks:
                    self._asks[at, shape, column] = asked
            # What nodes have without end is measured by who asks for most of it.
            largest = self._asks[at].max(axis=0, initial=0)
            endless = np.array(nodes.room) >= MANY
            room[at] = np.where(endless, largest, nodes.room)
            self._asks[at] /= np.maximum(1, room[at])
        self._room = room / np.maximum(1, room.max(axis=0, initial=1))

    def run(self, wanted: Sequence[int], nodes: Sequence[int]) -> None:
        """
        Fill nodes with what is wanted, and learn from what is left.
        """
        draw = self._random
        asked = np.array(wanted)
        left = [*wanted]
        noise, power = draw.choice(_NOISES), draw.choice(_POWERS)
        repeat = int(draw.choice(_REPEATS))
        sizes = self._asks @ draw.random(self._asks.shape[2]) + self._asks.max(axis=2)
        sizes **= power
        for at in self._in_turn():
            rest = nodes[at]
            while rest:
                pattern = self._filled(at, left, sizes[at] * self._price, float(noise))
                if not pattern:
                    break
                number = min(rest, repeat, *(left[x] // n for x, n in pattern))
                number = max(1, number)
                rest -= number
                for shape, pods in pattern:
                    left[shape] -= number * pods
        missed = np.array(left) / np.maximum(asked, 1)
        self._price = _KEPT * self._price + (1 - _KEPT) * (1 + _MISSED * missed)

    def learn(self, column: Column) -> None:
        """
        Take in a pattern from elsewhere, if a node can hold it.
        """
        equal, pattern = self.equal[column[0]], column[1]
        left = [*equal.room]
        for shape, number in pattern:
            for at, asked in equal.asks[shape]:
                left[at] -= asked * number
        if min(left) >= 0 and holds(equal, pattern):
            self.columns[column] = None

    def _in_turn(self) -> list[int]:
        """
        Take those nodes first that have least beside what they have most of.
        """
        beside = self._room.sum(axis=1) / np.maximum(self._room.max(axis=1), _LITTLE)
        beside *= 1 + self._random.random(len(self.equal))
        return [int(at) for at in np.argsort(beside, kind="stable")]

    def _filled(
        self, at: int, left: Sequence[int], ranks: Floats, noise: float
    ) -> Pattern:
        shapes = [shape for shape in self.equal[at].asks if left[shape]]
        self.effort += len(shapes)
        ranks = ranks[shapes] * (1 + noise * self._random.random(len(shapes)))
        order = [shapes[one] for one in np.argsort(-ranks, kind="stable").tolist()]
        pattern = FilledNode(self.equal[at]).fill(order, left)
        column = at, pattern
        if pattern and column not in self.columns and column not in self._bad:
            if holds(self.equal[at], pattern):
                self.columns[column] = None
            else:
                self._bad.add(column)
        return () if column in self._bad else pattern
