"""
Pieces of nodes that several pods have in common: free once all of these have left.

Each has a column of its own in the tables of room: less the pods that are tied to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.devices.gpu_parts import DEVICE
from models.nodes import Node

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TiedPieces:
    """
    Where the pieces of a node lie among the columns, and what each node's pieces hold.

    Only what somebody asks for is counted: these are the ``columns`` they hold.
    """

    first: int
    number: int
    columns: frozenset[int]
    held: Ints

    @property
    def names(self) -> list[str]:
        """
        The names of the columns.
        """
        return [f"{DEVICE}tied/{at}" for at in range(self.number)]

    @property
    def empty(self) -> Ints:
        """
        What nodes have in these columns where nobody is tied to anything.
        """
        return np.zeros((len(self.held), self.number), dtype=np.int64)

    @property
    def block(self) -> slice:
        """
        The columns of all pieces.
        """
        return slice(self.first, self.first + self.number)

    def of(self, nodes: Sequence[int]) -> "TiedPieces":
        """
        See only some of the nodes.
        """
        return replace(self, held=self.held[list(nodes)])

    def hold(self, row: Ints, tied: Sequence[int]) -> None:
        """
        Add to a request the pieces that a pod is tied to.
        """
        for number in tied:
            if number < self.number:
                row[self.first + number] += 1

    def all_there(self, row: Ints) -> Ints:
        """
        Say what all hold that are tied to pieces of a node.
        """
        found = np.zeros_like(row)
        found[self.block] = -row[self.block]
        return found

    def after(self, rows: Ints, nodes: Ints, left: Ints) -> Ints:
        """
        Give rows of nodes once somebody has left them, summed up, with pieces followed.
        """
        before = rows[nodes]
        changed = (before[:, self.block] != left[:, self.block]).any(axis=1)
        if not changed.any():
            return left
        found, some = left.copy(), nodes[changed]
        found[changed] += self.free(some, left[changed])
        found[changed] -= self.free(some, before[changed])
        return found

    def free(self, nodes: Ints, rows: Ints) -> Ints:
        """
        Give what is free of the pieces of some nodes, each with its row.
        """
        is_free = (rows[:, self.block] >= 0).astype(np.int64)
        found = np.zeros_like(rows)
        held = self.held[nodes]
        found[:, : held.shape[2]] = (is_free[:, :, None] * held).sum(axis=1)
        return found


def tied_pieces(
    first: int, resources: Sequence[str], nodes: Sequence[Node]
) -> TiedPieces:
    """
    Gather the pieces of nodes, as far as they hold anything that is counted.
    """
    number = max((len(node.tied) for node in nodes), default=0)
    held = np.zeros((len(nodes), number, len(resources)), dtype=np.int64)
    for at, node in enumerate(nodes):
        for which, piece in enumerate(node.tied):
            held[at, which] = [piece.get(name, 0) for name in resources]
    columns = np.flatnonzero(held.any(axis=(0, 1))).tolist()
    if not columns:
        held = held[:, :0]
    return TiedPieces(first, held.shape[1], frozenset(columns), held)
