"""
Room: what every node offers and has left, as arrays.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.gangs import Gang, pod_sets
from models.nodes import Node
from models.resources import CPU, is_gpu
from models.snapshot import Snapshot
from solver.problem.pod_counts import Census

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """
    Nodes × resources: ``empty`` without any pod of ours, ``free`` as it is now.

    ``after`` is what is free once all have left who do, and reserved pods have come;
    ``free`` is never more, and is what was ``idle`` at first.  ``later`` is the room
    of starts for which others leave: what evictions left over is not theirs.  Only
    resources that a pending pod asks for, or one that may be moved, have a column.
    ``holes`` counts free GPUs, or whole free CPUs where no node has ``gpus``.
    """

    nodes: tuple[Node, ...]
    index: dict[str, int]
    resources: tuple[str, ...]
    empty: Ints
    free: Ints
    idle: Ints
    later: Ints
    after: Ints
    holes: Ints
    gpus: bool

    def totals(self, names: Collection[str]) -> dict[str, int]:
        """
        Add up what the cluster offers to us of some resources.
        """
        return {
            name: sum(
                max(0, n.allocatable.get(name, 0) - n.used.get(name, 0))
                for n in self.nodes
            )
            for name in names
        }

    def row(self, requests: dict[str, int]) -> Ints:
        """
        Write a request as a row over the columns.
        """
        return np.array([requests.get(r, 0) for r in self.resources], dtype=np.int64)


def room_of(
    snapshot: Snapshot,
    waiting: Sequence[Gang],
    census: Census,
    *,
    moves: bool = False,
) -> Room:
    """
    Measure the room of a snapshot in the resources that waiting gangs ask for.

    Parameters
    ----------
    snapshot
        What is.
    waiting
        The gangs of which pods may be bound.
    census
        What runs.
    moves
        Whether running pods may need a new place, too.
    """
    asked = {
        name
        for gang in waiting
        for leaf in pod_sets(gang.tree)
        for name, amount in leaf.requests.items()
        if amount > 0
    } | {name for gang in waiting for name in gang.min_resources}
    if moves:
        asked |= {name for kind in census.kinds for name, n in kind.items() if n > 0}
    gpus = sorted(
        {r for n in snapshot.nodes for r, a in n.allocatable.items() if a and is_gpu(r)}
    )
    holes_of = gpus or [CPU]
    resources = sorted(asked)
    columns = resources + [r for r in holes_of if r not in asked]
    index = {node.name: at for at, node in enumerate(snapshot.nodes)}
    empty = np.array(
        [
            [n.allocatable.get(r, 0) - n.used.get(r, 0) for r in columns]
            for n in snapshot.nodes
        ],
        dtype=np.int64,
    ).reshape(len(snapshot.nodes), len(columns))
    free = empty - _load(census.loads, census, index, columns)
    later = free + _load(census.leaving, census, index, columns)
    holes = np.maximum(free[:, [columns.index(r) for r in holes_of]], 0).sum(axis=1)
    return Room(
        nodes=snapshot.nodes,
        index=index,
        resources=tuple(resources),
        empty=np.ascontiguousarray(empty[:, : len(resources)]),
        free=np.ascontiguousarray(free[:, : len(resources)]),
        idle=np.ascontiguousarray(free[:, : len(resources)]),
        later=np.ascontiguousarray(later[:, : len(resources)]),
        after=np.ascontiguousarray(later[:, : len(resources)]),
        holes=holes if gpus else holes // 1000,
        gpus=bool(gpus),
    )


def _load(
    loads: Sequence[tuple[str, int]],
    census: Census,
    index: dict[str, int],
    columns: list[str],
) -> Ints:
    """
    Add up the requests of our pods that occupy each node.
    """
    load = np.zeros((len(index), len(columns)), dtype=np.int64)
    held = [(index[name], kind) for name, kind in loads if name in index]
    if held:
        rows = [[kind.get(r, 0) for r in columns] for kind in census.kinds]
        where, which = np.array(held).T
        np.add.at(load, where, np.array(rows, dtype=np.int64)[which])
    return load
