"""
Least left over: on which node a pod leaves least that is of no use to typical pods.

Where one pod waits, this is the best that can be done in the tier; of several each is
placed by itself, as schedulers that weigh fragments do.
"""

import numpy as np

from solver.devices.device_fragments import Fragments
from solver.problem.node_room import Floats, Ints, NodeRoom
from solver.problem.problem import Problem

_MOST = 2**40


class LeastLeftOver:
    """
    What a pod of each shape would add on each node, brought up to date where it is old.
    """

    def __init__(self, problem: Problem, fragments: Fragments, room: NodeRoom) -> None:
        self._problem = problem
        self._fragments = fragments
        self._room = room
        self._number = len(problem.room.nodes)
        self._added: dict[int, Ints] = {}
        self._known: dict[int, int] = {}
        packs = problem.policy.has("packing")
        self._holes = problem.room.holes**2 * packs

    def best(self, shape: int, room: Ints, strain: Floats) -> int | None:
        """
        Give the node with room that a pod leaves best, of these the least hole.
        """
        nodes = np.flatnonzero(room > 0)
        if not len(nodes):
            return None
        added = self._of(shape, nodes)[nodes]
        nodes = nodes[added == added.min()]
        used = self._room.touched
        holes = self._holes[nodes]
        if used and self._holes.any():
            holes = np.where(np.isin(nodes, used), 0, holes)
        nodes = nodes[holes == holes.min()]
        return int(nodes[strain[nodes].argmin()])

    def _of(self, shape: int, nodes: Ints) -> Ints:
        added = self._added.get(shape)
        log = self._room.touched
        if added is None:
            added = np.full(self._number, _MOST, dtype=np.int64)
            self._added[shape] = added
            self._known[shape] = len(log)
        stale = np.array([*set(log[self._known[shape] :])], dtype=np.int64)
        added[stale] = _MOST
        self._known[shape] = len(log)
        missing = nodes[added[nodes] == _MOST]
        if len(missing):
            request = self._problem.shapes.requests[shape]
            before = self._valued_with(missing, 0 * request)
            added[missing] = self._valued_with(missing, request) - before
        return added

    def _valued_with(self, nodes: Ints, request: Ints) -> Ints:
        """
        Value nodes with one more pod of a request on each.
        """
        rows, parts = self._room.rows[nodes] - request, []
        room = self._problem.room.parts
        pairs = zip(room.parts, room.columns, strict=True) if room else ()
        more = [part for part, column in pairs if request[column]]
        for at, node in enumerate(nodes.tolist()):
            here, opened = self._room.new_parts(node)
            rows[at, self._fragments.gpu] += opened
            parts.append(tuple(sorted((*here, *more))))
        return self._fragments.values(nodes, rows, parts)


def left_over_of(problem: Problem, room: NodeRoom) -> LeastLeftOver | None:
    """
    Follow what is of no use while pods are placed, if that counts.
    """
    if problem.room.fragments is None:
        return None
    return LeastLeftOver(problem, problem.room.fragments, room)
