"""
Who may leave the devices of a node together: all choices, or those worth most.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from solver.problem.node_room import Bools

Choice = tuple[int, ...]


def some_choices(
    counts: Sequence[int], held: Bools, most: int
) -> tuple[list[Choice], bool]:
    """
    List how many of each kind may leave a node; say whether these are all choices.

    Where there are too many, devices are cleared one after the other, and of each kind
    some leave beside them.

    Parameters
    ----------
    counts
        How many there are of each kind.
    held
        What each kind holds of devices.
    most
        More choices than this are not listed.
    """
    if prod(count + 1 for count in counts) <= most:
        return [*product(*(range(count + 1) for count in counts))], True
    alike: dict[bytes, list[int]] = {}
    for at, row in enumerate(held):
        alike.setdefault(row.tobytes(), []).append(at)
    order = sorted(alike.values(), key=lambda kinds: (len(kinds), kinds))
    found: dict[Choice, None] = {(0,) * len(counts): None}
    cleared = np.zeros(len(counts), dtype=np.int64)
    for kinds in [[], *order]:
        cleared[kinds] = [counts[at] for at in kinds]
        found.setdefault(tuple(cleared.tolist()))
        for at, count in enumerate(counts):
            for number in range(1, count + 1):
                choice = cleared.copy()
                choice[at] = max(choice[at], number)
                found.setdefault(tuple(choice.tolist()))
    for kinds in order:
        alone = np.zeros(len(counts), dtype=np.int64)
        alone[kinds] = [counts[at] for at in kinds]
        found.setdefault(tuple(alone.tolist()))
    return [*found][:most], False
