"""
Who may stay on a node that was cleared for so many pods.
"""

from collections.abc import Mapping

import numpy as np

from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.what_goes import Going
from solver.problem.node_room import Ints, NodeRoom, num_fitting

Wanted = tuple[Ints, Ints, int]
"""
The columns that a pod asks for, how much of each, and how many pods are to fit.
"""


def keep_dearest(
    room: NodeRoom, leavers: Leavers, node: int, wanted: Wanted, mark: int
) -> None:
    """
    Let those stay who need not have left a node since a mark, the dearest first.
    """
    found = leavers.since(mark)
    if len(found) < 2:
        return
    asked, request, target = wanted
    if room.has_devices:
        _keep_one_by_one(room, leavers, node, wanted, found)
        return
    slack = room.rows[node, asked] - target * request
    rows = np.array([going.rooms[node][asked] for going in found.values()])
    if not (rows <= slack).all(axis=1).any():
        return
    for serial, going in sorted(found.items(), key=dearest):
        row = going.rooms[node][asked]
        if (row <= slack).all() and leavers.is_apart(going):
            leavers.bring_back(serial)
            slack = slack - row


def _keep_one_by_one(
    room: NodeRoom,
    leavers: Leavers,
    node: int,
    wanted: Wanted,
    found: Mapping[int, Going],
) -> None:
    """
    Let those stay without whom the node has as many places, the dearest first.
    """
    asked, request, target = wanted
    for serial, going in sorted(found.items(), key=dearest):
        left = (room.rows[node] - going.rooms[node])[None]
        rows = room.after_leaving(np.array([node]), left)
        enough = num_fitting(rows[:, asked], request)[0] >= target
        if enough and leavers.is_apart(going):
            leavers.bring_back(serial)


def dearest(pair: tuple[int, Going]) -> tuple[int, bool, int, int, int, int]:
    """
    Rank who left by what is lost with it, most first.
    """
    serial, going = pair
    work, whole, pods, band, age = going.rank
    return (-work, not whole, -pods, -band, -age, serial)
