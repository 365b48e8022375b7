"""
Missing patterns: by what pods are worth, what a node should hold that none does yet.

A knapsack over what nodes have to give says it exactly, or says too much where steps
are too many.  What nodes hold at most by it is true of all contents that they can have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from solver.patterns.filled_node import EqualNodes, Pattern
from solver.problem.node_room import MANY

_MOST_CELLS = 20_000
"""
Steps of all amounts together that a knapsack tells apart; with more they are widened.
"""
Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Steps:
    """
    One amount that nodes have, counted in steps.
    """

    column: int
    step: int
    most: int

    @property
    def cells(self) -> int:
        """
        Count how many states of a node it tells apart.
        """
        return self.most // self.step + 1


@dataclass(frozen=True, slots=True)
class _Laid:
    """
    What nodes held at most before a shape was laid onto them, and what it takes.
    """

    shape: int
    asks: tuple[int, ...]
    worth: int
    before: Table


class MissingPatterns:
    """
    Contents of nodes that are alike in who may lie there.

    ``effort`` adds up the cells that were looked at.
    """

    def __init__(self, equal: Sequence[EqualNodes]) -> None:
        self.effort = 0
        self._steps = _steps_of(equal)
        self._shape = tuple(one.cells for one in self._steps)
        self._asks = {
            shape: tuple(dict(asks).get(s.column, 0) // s.step for s in self._steps)
            for shape, asks in equal[0].asks.items()
        }
        self._rooms = [self._cell(one.room) for one in equal]
        self._laid: list[_Laid] = []
        self._best: Table = np.zeros(self._shape, dtype=np.int64)

    def _cell(self, room: Sequence[int]) -> tuple[int, ...]:
        return tuple(min(room[s.column], s.most) // s.step for s in self._steps)

    def lay(self, worth: Mapping[int, int], wanted: Sequence[int]) -> list[int]:
        """
        Give what each node holds at most, if pods of the shapes are worth so much.
        """
        best: Table = np.zeros(self._shape, dtype=np.int64)
        self._laid = []
        for shape, asks in self._asks.items():
            if worth.get(shape, 0) > 0 and wanted[shape]:
                self._laid.append(_Laid(shape, asks, worth[shape], best))
                best = self._with(self._laid[-1], wanted[shape])
        self._best = best
        return [int(best[cell]) for cell in self._rooms]

    def _with(self, laid: _Laid, wanted: int) -> Table:
        """
        Lay as many pods of a shape as fit and are wanted, wherever it is worth it.
        """
        onto = tuple(slice(ask, None) for ask in laid.asks)
        pairs = zip(laid.asks, self._shape, strict=True)
        left = tuple(slice(0, max(0, cells - ask)) for ask, cells in pairs)
        best = laid.before
        for _ in range(wanted):
            more = laid.before.copy()
            np.maximum(more[onto], best[left] + laid.worth, out=more[onto])
            self.effort += more.size
            if np.array_equal(more, best):
                break
            best = more
        return best

    def content(self, at: int) -> Pattern:
        """
        Give what one of the nodes holds where it holds most.
        """
        cell = self._rooms[at]
        found: list[tuple[int, int]] = []
        best = int(self._best[cell])
        for laid in reversed(self._laid):
            number = 0
            while int(laid.before[cell]) + number * laid.worth < best:
                cell = tuple(a - b for a, b in zip(cell, laid.asks, strict=True))
                number += 1
            if number:
                found.append((laid.shape, number))
            best = int(laid.before[cell])
        return tuple(sorted(found))


def _steps_of(equal: Sequence[EqualNodes]) -> list[_Steps]:
    """
    Choose the amounts that bound what nodes hold, in steps that are few enough.
    """
    asks = [dict(one) for one in equal[0].asks.values()]
    found: list[tuple[_Steps, list[int], int]] = []
    for column in range(len(equal[0].room)):
        rooms = {one.room[column] for one in equal}
        wants = [one.get(column, 0) for one in asks]
        if max(rooms) < MANY and any(wants):
            step = gcd(*rooms, *wants)
            found.append((_Steps(column, step, max(rooms)), wants, min(rooms)))
    pods = min((one.most // min(w) for one, w, _ in found if all(w)), default=MANY)
    binding = [one for one, wants, least in found if pods * max(wants) > least]
    steps = binding or [one for one, _, _ in found[:1]]
    while prod(one.cells for one in steps) > _MOST_CELLS:
        at = max(range(len(steps)), key=lambda at: steps[at].cells)
        steps[at] = replace(steps[at], step=2 * steps[at].step)
    return steps
