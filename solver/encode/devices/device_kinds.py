"""
Nodes told apart by their devices, where somebody asks for parts of them.
"""

import numpy as np

from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem


def told_apart_by_devices(
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
    rows = np.column_stack(
        [tags, (1 + room.kind_of[nodes]) * concerned, idle * concerned]
    )
    numbers = np.unique(rows, axis=0, return_inverse=True)[1]
    return np.asarray(numbers.reshape(-1), dtype=np.int64)


def hash_row(row: np.ndarray) -> int:
    """
    Give a row of booleans a number, the same in every process.
    """
    value = 0
    for chunk in np.packbits(row).tobytes():
        value = (value * 1_000_003 + chunk + 1) & 0x7FFF_FFFF_FFFF_FFFF
    return value
