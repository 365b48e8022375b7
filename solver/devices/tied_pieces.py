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
    held: tuple[Ints, ...]

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
        return replace(self, held=tuple(self.held[at] for at in nodes))

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

    def freed(self, node: int, before: Ints, after: Ints) -> Ints:
        """
        Give what more is free of a node's pieces after somebody came or left.
        """
        free, freed = self.free(node, np.array([before, after]))
        return np.asarray(freed - free)

    def after(self, rows: Ints, nodes: Ints, left: Ints) -> Ints:
        """
        Give rows of nodes once somebody has left them, summed up, with pieces followed.
        """
        changed = (rows[nodes][:, self.block] != left[:, self.block]).any(axis=1)
        if not changed.any():
            return left
        found = left.copy()
        for at in np.flatnonzero(changed).tolist():
            node = int(nodes[at])
            found[at] += self.freed(node, rows[node], left[at])
        return found

    def all_free(self, table: Ints) -> Ints:
        """
        Give what is free of the pieces of each node.
        """
        found = np.zeros_like(table)
        for at, held in enumerate(self.held):
            if len(held):
                found[at] = self.free(at, table[at : at + 1])[0]
        return found

    def free(self, node: int, rows: Ints) -> Ints:
        """
        Give what the pieces of a node hold to which nobody is tied, for each row.
        """
        held = self.held[node]
        is_free = rows[:, self.first : self.first + len(held)] >= 0
        found = np.zeros_like(rows)
        found[:, : held.shape[1]] = is_free @ held
        return found


def tied_pieces(
    first: int, resources: Sequence[str], nodes: Sequence[Node]
) -> TiedPieces:
    """
    Gather the pieces of nodes, as far as they hold anything that is counted.
    """
    held = [
        np.array(
            [[piece.get(name, 0) for name in resources] for piece in node.tied],
            dtype=np.int64,
        ).reshape(len(node.tied), len(resources))
        for node in nodes
    ]
    columns = {at for rows in held for at in np.flatnonzero(rows.any(axis=0)).tolist()}
    number = max(map(len, held), default=0) if columns else 0
    return TiedPieces(first, number, frozenset(columns), tuple(held))
