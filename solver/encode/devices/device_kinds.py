"""
Nodes told apart by their devices, where somebody asks for parts of them.
"""

import numpy as np

from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem

_BEHIND = 3
_MANY = 2**40


def told_apart(
    problem: Problem, requests: Ints, fits: Bools, nodes: Ints, tags: Ints
) -> Ints:
    """
    Keep nodes apart whose devices are not alike, where somebody asks for parts of them.
    """
    room = problem.room.parts
    if room is None or not len(nodes):
        return tags
    asks = requests[:, list(room.columns)].any(axis=1)
    concerned = fits[asks].any(axis=0)
    idle = np.maximum(problem.room.now[nodes, room.gpu], 0)
    kinds = room.kinds(problem.room.now[nodes], nodes)
    rows = np.column_stack([tags, (1 + kinds) * concerned, idle * concerned])
    numbers = np.unique(rows, axis=0, return_inverse=True)[1]
    return np.asarray(numbers.reshape(-1), dtype=np.int64)


def with_device_states(
    problem: Problem, node: int, free: Ints, cut: Ints, fits: Bools, requests: Ints
) -> Ints:
    """
    Write behind what can be used of a node's choices what its devices are then.

    Where a shape that fits asks for parts: the number of the devices, the same from
    the other end, so that only equal ones are as good, and how many are idle.
    """
    room = problem.room.parts
    if room is None:
        return cut
    more = np.zeros((len(cut), _BEHIND), dtype=np.int64)
    if requests[fits][:, list(room.columns)].any():
        kinds = room.kinds(free, [node] * len(free))
        idle = np.maximum(free[:, room.gpu], 0)
        more = np.column_stack([kinds, _MANY - kinds, idle])
    return np.hstack([cut, more])


def without_devices(problem: Problem, row: Ints) -> Ints:
    """
    Say behind a row that nothing is known of the devices.
    """
    row = row.copy()
    if problem.room.parts is not None:
        row[-_BEHIND:] = -1, _MANY + 1, 0
    return row


def device_state(problem: Problem, row: Ints) -> tuple[int, int] | None:
    """
    Read what was written behind a row: the number of the devices, and the idle ones.
    """
    if len(row) == len(problem.room.resources):
        return None
    return int(row[-_BEHIND]), int(row[-1])


def hash_row(row: np.ndarray) -> int:
    """
    Give a row of booleans a number, the same in every process.
    """
    value = 0
    for chunk in np.packbits(row).tobytes():
        value = (value * 1_000_003 + chunk + 1) & 0x7FFF_FFFF_FFFF_FFFF
    return value
