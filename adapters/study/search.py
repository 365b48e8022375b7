"""
The search for the fewest nodes that keep to a target, by halving.
"""

from collections.abc import Callable, Sequence

Meets = Callable[[int], bool]


def fewest(counts: Sequence[int], meets: Meets) -> int | None:
    """
    Find the fewest nodes that keep to a target, if more nodes never do worse.

    The largest count comes first: where it does not keep to the target, none does.

    Parameters
    ----------
    counts
        Numbers of nodes, rising.
    meets
        Tells whether so many keep to the target; it is asked once for each.
    """
    low, high = 0, len(counts) - 1
    found = None
    while low <= high:
        at = (low + high) // 2 if found is not None else high
        if meets(counts[at]):
            found = counts[at]
            high = at - 1
        elif found is None:
            return None
        else:
            low = at + 1
    return found
