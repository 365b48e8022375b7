"""
What the pods of a step could use of a node, after each choice of who leaves it.
"""

import numpy as np

from solver.encode.conversion.contents import Contents
from solver.encode.devices.device_kinds import with_device_states
from solver.encode.node_classes import binding
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem


class UsableRoom:
    """
    Free room after each choice, cut to what the shapes of a step can use of it.
    """

    def __init__(self, problem: Problem, shapes: list[int]) -> None:
        self.problem = problem
        self.requests = problem.shapes.requests[shapes]
        self._reached: dict[tuple[int, bytes], Ints | None] = {}

    def free(self, contents: Contents) -> Ints:
        """
        Give what is free after each choice, one row each.
        """
        parts = self.problem.room.parts
        taken = np.array(contents.choices, dtype=np.int64)
        taken = taken.reshape(len(contents.choices), len(contents.rows))
        freed = np.zeros((len(taken), len(contents.free)), dtype=np.int64)
        for column, row in enumerate(contents.rows):
            freed += taken[:, [column]] * row
        if parts is None:
            return contents.free + freed
        return parts.left(contents.node, contents.free, contents.free + freed)

    def cut(self, contents: Contents) -> Ints:
        """
        Give what can be used after each choice, one row each.
        """
        left = self.free(contents)
        free, fits, node = left.clip(min=0), contents.fits, contents.node
        some = self.requests[fits]
        cut = self._reachable(binding(free, some), some, fits)
        return with_device_states(self.problem, node, left, cut, fits, self.requests)

    def _reachable(self, cut: Ints, requests: Ints, fits: Bools) -> Ints:
        """
        Lower amounts to the largest sum of requests that does not exceed them.
        """
        result = cut.copy()
        for column in range(cut.shape[1]):
            key = (column, fits.tobytes())
            if key not in self._reached:
                self._reached[key] = sums_of_requests(
                    requests[:, column], self.problem.tuning.encode.most_sums
                )
            sums = self._reached[key]
            if sums is None:
                continue
            values = result[:, column]
            inside = (values > 0) & (values <= sums[-1])
            at = np.searchsorted(sums, values[inside], side="right") - 1
            values[inside] = sums[at]
        return result

    def fits(self, contents: Contents, free: Ints) -> Bools:
        """
        Tell which shapes fit what is free.
        """
        asked = self.requests
        fits = ((asked <= free.clip(min=0)) | (asked == 0)).all(axis=1)
        return np.asarray(fits & contents.fits)


def sums_of_requests(requests: Ints, most: int) -> Ints | None:
    """
    List the sums that pods can ask for, up to some length; none where there are many.
    """
    values = sorted({int(v) for v in requests if v > 0})
    if not values or values[0] == 1:
        return None
    step = int(np.gcd.reduce(values))
    small = [v // step for v in values]
    if small[0] == 1 or small[-1] > most // 8:
        return None
    reach = np.zeros(most + 1, dtype=bool)
    reach[0] = True
    for shift in (v << bit for v in small for bit in range(most.bit_length())):
        reach[shift:] |= reach[:-shift]
    return np.flatnonzero(reach) * step
