"""
Reservations: what nodes and queues have left from now on, and who gets it from when.

Pods end as ``solver.hold.ends`` expects.  Nothing here decides who comes first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from solver.hold.ends import Ends, ends_of
from solver.hold.forecast import is_one_leaf, stage_of
from solver.place.place_gang import place_unit
from solver.place.round_state import RoundState
from solver.problem.node_room import Ints, NodeRoom, num_fitting
from solver.problem.problem import Problem, Unit

_EVER = 2**40
_Limit = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Reservation:
    """
    When a unit starts, in seconds from now, and how many pods of a leaf on each node.
    """

    start: int
    places: dict[tuple[str, int], dict[int, int]]


class Reservations:
    """
    What is left at each moment from ``times`` on: rows of nodes, and of limits.

    A column of limits is a queue, a resource, and whether its quota binds only work
    that cannot be preempted.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        ends = ends_of(problem)
        moments = np.maximum(ends.times, 1)
        self._times: Ints = np.unique(np.append(moments, 0))
        at = np.searchsorted(self._times, moments)
        self._rows = self._room(ends, at)
        self._limits = _limits_of(problem)
        self._left = self._limits_left(ends, at)

    def _room(self, ends: Ends, at: Ints) -> Ints:
        """
        Say what is free on nodes at each moment.
        """
        room = self._problem.room
        free = NodeRoom(room.now, room.parts)
        kinds = np.array([room.row(dict(kind.requests)) for kind in ends.kinds])
        here = np.flatnonzero(ends.nodes >= 0)
        here = here[np.argsort(at[here], kind="stable")]
        edges = np.searchsorted(at[here], np.arange(len(self._times) + 1))
        rows = []
        for first, last in pairwise(edges):
            gone = here[first:last]
            if len(gone):
                free.give_each(kinds[ends.kind_of[gone]], ends.nodes[gone])
            rows.append(free.rows.copy())
        return np.array(rows)

    def _limits_left(self, ends: Ends, at: Ints) -> Ints:
        """
        Say what limits and quotas leave at each moment.
        """
        queues = self._problem.queues
        steps = np.zeros((len(self._times), len(self._limits)), dtype=np.int64)
        for column, (queue, resource, fixed) in enumerate(self._limits):
            left = queues.quota_left if fixed else queues.limit_left
            steps[0, column] = left(queue, resource) or 0
            for number, kind in enumerate(ends.kinds):
                if queue in kind.path and not (fixed and kind.preemptible):
                    gone = at[ends.kind_of == number]
                    amount = kind.requests.get(resource, 0)
                    np.add.at(steps[:, column], gone, amount)
        return steps.cumsum(axis=0)

    # --- who fits -------------------------------------------------------------------

    def could_start_now(self, unit: Unit) -> bool:
        """
        Tell quickly whether there is room for a unit at this moment, for however long.
        """
        shapes = self._problem.shapes
        return all(
            self._places(shapes.of_leaf[state.key, i], 0, 1).sum() >= leaf.need
            for state in unit.states
            if state.rigid
            for i, leaf in enumerate(state.leaves)
        )

    def first(self, unit: Unit) -> Reservation | None:
        """
        Find the first moment from which on a unit has room for as long as it runs.
        """
        ends = np.searchsorted(self._times, self._times + _seconds(unit))
        number = len(self._times)
        short = self._short(unit)
        at = 0
        while at < number:
            lacking = short[at : ends[at]]
            if lacking.any():
                at += int(np.flatnonzero(lacking)[-1]) + 1
                continue
            places = self._place(unit, at, int(ends[at]))
            if places is not None:
                return Reservation(int(self._times[at]), places)
            at += 1
        return None

    def _short(self, unit: Unit) -> Ints:
        """
        Tell at which moments even all nodes together lack places, or a limit does.
        """
        found = (self._left < self._charge(unit)).any(axis=1)
        for state in unit.states:
            for i, leaf in enumerate(state.leaves):
                if state.rigid and leaf.need:
                    row = self._problem.shapes.of_leaf[state.key, i]
                    places = self._places(row, 0, len(self._times))
                    found |= places.sum(axis=1) < leaf.need
        return np.asarray(found)

    def _places(self, shape: int, first: int, last: int) -> Ints:
        """
        Count the places of a shape on each node at each of some moments.
        """
        shapes = self._problem.shapes
        rows = self._rows[first:last]
        flat = num_fitting(rows.reshape(-1, rows.shape[-1]), shapes.requests[shape])
        places = flat.reshape(rows.shape[:2])
        return np.asarray(np.where(shapes.may_be[shape], places, 0))

    def _charge(self, unit: Unit) -> Ints:
        """
        Say what a unit takes of each limit.
        """
        total = np.zeros(len(self._limits), dtype=np.int64)
        for state in unit.states:
            path = self._problem.queues.path(state.gang.queue)
            for column, (queue, resource, fixed) in enumerate(self._limits):
                if queue in path and not (fixed and state.gang.preemptible):
                    total[column] += sum(
                        leaf.need * leaf.pod_set.requests.get(resource, 0)
                        for leaf in state.leaves
                    )
        return total

    def _place(
        self, unit: Unit, first: int, last: int
    ) -> dict[tuple[str, int], dict[int, int]] | None:
        """
        Place a unit on what is free at all of some moments; none where it does not fit.
        """
        if is_plain(self._problem, unit):
            return self._first_fit(unit, first, last)
        room = self._rows[first]
        for row in self._rows[first + 1 : last]:
            room = self._problem.room.both(room, row)
        nobody = np.zeros(len(room), dtype=bool)
        stage = stage_of(self._problem, unit, nobody)
        work = RoundState(stage.in_room(room, room))
        if not place_unit(work, unit):
            return None
        return {
            (key, leaf): _counted(hosts)
            for key, leaves in work.placed.items()
            for leaf, hosts in leaves.items()
        }

    def _first_fit(
        self, unit: Unit, first: int, last: int
    ) -> dict[tuple[str, int], dict[int, int]] | None:
        """
        Take the first nodes in their order, each as far as it goes.

        So what others take of places that a unit leaves alone never moves it.
        """
        state = unit.states[0]
        need = state.leaves[0].need
        shape = self._problem.shapes.of_leaf[state.key, 0]
        free = self._places(shape, first, last).min(axis=0)
        before = np.cumsum(free) - free
        counts = np.minimum(free, np.maximum(0, need - before))
        if counts.sum() < need:
            return None
        some = np.flatnonzero(counts)
        taken = dict(zip(some.tolist(), counts[some].tolist(), strict=True))
        return {(state.key, 0): taken}

    # --- who has it -----------------------------------------------------------------

    def take(self, unit: Unit, given: Reservation) -> None:
        """
        Let a unit have its places from its start until it ends.
        """
        first = self._cut(given.start)
        last = self._cut(given.start + _seconds(unit))
        shapes = self._problem.shapes
        for (key, leaf), counts in given.places.items():
            request = shapes.requests[shapes.of_leaf[key, leaf]]
            hosts, numbers = np.array([*counts]), np.array([*counts.values()])
            for at in range(first, last):
                room = NodeRoom(self._rows[at], self._problem.room.parts)
                room.take(request, hosts, numbers)
                self._rows[at] = room.rows
        self._left[first:last] -= self._charge(unit)

    def _cut(self, moment: int) -> int:
        """
        Give where a moment stands among the times; from now on one begins there.
        """
        at = int(np.searchsorted(self._times, moment))
        if at < len(self._times) and self._times[at] == moment:
            return at
        if moment >= _EVER:
            return len(self._times)
        self._times = np.insert(self._times, at, moment)
        self._rows = np.insert(self._rows, at, self._rows[at - 1], axis=0)
        self._left = np.insert(self._left, at, self._left[at - 1], axis=0)
        return at


def is_plain(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether nothing but the number of places on nodes decides if a unit fits.
    """
    if problem.room.parts is not None or not is_one_leaf(unit):
        return False
    return not unit.states[0].leaves[0].pod_set.neighbours


def _limits_of(problem: Problem) -> Sequence[_Limit]:
    """
    List the limits that bind, and the quotas that bind what cannot be preempted.
    """
    queues = problem.queues
    found: list[_Limit] = []
    for queue in sorted(queues.queues):
        for resource in queues.named:
            rule = queues.queues[queue].rule(resource)
            if rule.limit is not None:
                found.append((queue, resource, False))
            if rule.quota is not None:
                found.append((queue, resource, True))
    return found


def _seconds(unit: Unit) -> int:
    """
    Say for how long a unit runs at most; for ever where nobody knows.
    """
    times = [state.gang.max_runtime for state in unit.states]
    return max(_EVER if time is None else max(1, time) for time in times)


def _counted(hosts: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for host in hosts:
        found[host] = found.get(host, 0) + 1
    return found
