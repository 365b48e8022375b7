"""
The forecast: where a gang could start first, when, and what idles on these nodes till.

No pod starts in it; pods end as ``solver.hold.ends`` expected when something last
changed but by our own plans, so that it stands until something does again.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from solver.hold.ends import SOONEST, Ends, ends_of
from solver.hold.lent_out import lent_to
from solver.place.place_gang import place_unit
from solver.place.round_state import RoundState
from solver.problem.node_room import Bools, Floats, Ints, num_fitting
from solver.problem.pod_shapes import Shapes
from solver.problem.problem import Problem, Unit


@dataclass(frozen=True, slots=True)
class Seats:
    """
    The nodes for a unit, and in how many seconds it is expected to start on them.

    Without nodes there is none for it.  ``start`` is the last end for sure, none where
    nobody knows; ``likely`` is when it may be.  Until then nodes idle for ``idle``
    GPU-seconds if nobody else starts there, which with each second is less by ``now``
    at least and by ``then`` at most: the GPUs that idle now, and those at the end.  For
    ``late`` seconds more it may be expected, if it did not come when it should.
    """

    nodes: tuple[int, ...] = ()
    start: int | None = None
    likely: int = 0
    idle: int = 0
    now: int = 0
    then: int = 0
    late: int = 0


class Forecast:
    """
    The ends of running pods, replayed for one waiting unit after the other.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def _ends(self) -> Ends:
        return ends_of(self._problem, self._problem.snapshot.unchanged_for or 0)

    def seats_now(self, unit: Unit, taken: Bools) -> Seats | None:
        """
        Find the nodes on which a unit could start now, by hand; none where it cannot.

        What has room and waits for its queue's limit only needs no nodes.  Nodes that
        are ``taken`` are held for others.
        """
        stage = stage_of(self._problem, unit, taken)
        hosts = _hosts(stage)
        if hosts is not None:
            return Seats(hosts, 0)
        if _is_bounded(stage) and _hosts(_without_limits(stage)) is not None:
            return Seats()
        return None

    def seats_later(self, unit: Unit, taken: Bools) -> Seats | None:
        """
        Find the nodes on which a unit could start first; none where it never can.

        Gangs that were lent what was held for it leave when it starts.
        """
        others, lent = self._ends.of_others(unit), lent_to(self._problem, unit)
        ends = others.going(lent)
        stage = stage_of(self._problem, unit, taken)
        seats = self._first(stage, ends.for_sure(), sure=True)
        if seats is None:
            free = _without_limits(stage)
            seats = self._first(free, ends, sure=False)
        return None if seats is None else self._with_idle(seats, others.without(lent))

    def _with_idle(self, seats: Seats, ends: Ends) -> Seats:
        """
        Say what idles on the nodes of seats until they are taken.
        """
        problem, nodes = self._problem, list(seats.nodes)
        moment = ends.since + seats.likely
        return replace(
            seats,
            idle=int(ends.idle(problem, moment, ends.since)[nodes].sum()),
            now=int(ends.idle_now(problem)[nodes].sum()),
            then=int(ends.idle_at(problem, moment)[nodes].sum()),
        )

    def _first(self, stage: Problem, ends: Ends, *, sure: bool) -> Seats | None:
        """
        Find the first end of a pod after which the unit could be placed, by halving.
        """
        moments = np.unique(ends.times)
        low, high = 0, len(moments) - 1
        found = None
        while low <= high:
            # The last moment comes first: often no end makes enough room.
            at = (low + high) // 2 if found else high
            moment = int(moments[at])
            hosts = _hosts_at(stage, ends, moment)
            if hosts is not None:
                left = ends.left_until(moment, sure=sure)
                late = 0 if sure else min(moment, SOONEST)
                found = Seats(hosts, left if sure else None, left, late=late)
                high = at - 1
            elif found is None:
                return None
            else:
                low = at + 1
        return found


def _hosts_at(stage: Problem, ends: Ends, moment: int) -> tuple[int, ...] | None:
    """
    List the nodes on which the unit of a stage could start at a moment.

    What is one leaf takes the places that are free first, and of those that are free
    from the same moment on the ones that idle least.
    """
    (unit,) = stage.units
    gone = ends.until(moment)
    if not is_one_leaf(unit) or stage.queues.queues:
        return _hosts(gone.out_of(stage))
    need = unit.states[0].leaves[0].need
    allowed, request = stage.shapes.allowed[0], stage.shapes.requests[0]
    places = np.where(allowed, num_fitting(gone.room_after(stage), request), 0)
    if places.sum() < need:
        return None
    return _fewest(places, _order(places, gone, ends.idle(stage, moment)), need)


def _order(places: Ints, gone: Ends, idle: Floats) -> Ints:
    """
    Order nodes with places by when the last pod leaves, then by what idles for each.
    """
    last = np.zeros(len(places), dtype=np.int64)
    here = gone.nodes >= 0
    np.maximum.at(last, gone.nodes[here], gone.times[here])
    some = np.flatnonzero(places)
    return np.asarray(some[np.lexsort((idle[some] / places[some], last[some]))])


def _fewest(places: Ints, order: Ints, need: int) -> tuple[int, ...]:
    """
    Take the first nodes that are enough; leave out those not needed, the last first.
    """
    number = int(np.searchsorted(np.cumsum(places[order]), need)) + 1
    chosen = order[:number]
    spare = int(places[chosen].sum()) - need
    kept = []
    for node in chosen[::-1].tolist():
        if places[node] <= spare:
            spare -= int(places[node])
        else:
            kept.append(node)
    return tuple(sorted(kept))


def is_one_leaf(unit: Unit) -> bool:
    """
    Tell whether nothing but the number of places decides if a unit fits.
    """
    state = unit.states[0]
    leaf = state.leaves[0].pod_set
    plain = leaf.topology is None and not leaf.exclusive and state.leaves[0].need > 0
    return len(unit.states) == len(state.nodes) == 1 and plain


def stage_of(problem: Problem, unit: Unit, taken: Bools) -> Problem:
    """
    Cut a problem to one unit: its shapes, its queues, and the nodes not taken.
    """
    queues = problem.queues
    paths = {name for s in unit.states for name in queues.path(s.gang.queue)}
    kept = {name: queues.queues[name] for name in sorted(paths)}
    return replace(
        problem,
        units=(unit,),
        shapes=_shapes_of(problem, unit, taken),
        queues=replace(queues, queues=kept),
    )


def _shapes_of(problem: Problem, unit: Unit, taken: Bools) -> Shapes:
    """
    Cut the shapes to one unit's, and to the nodes not taken.
    """
    shapes = problem.shapes
    leaves = [(s.key, i) for s in unit.states for i in range(len(s.leaves))]
    rows = [shapes.of_leaf[leaf] for leaf in leaves]
    return Shapes(
        items=tuple(shapes.items[row] for row in rows),
        of_leaf={leaf: at for at, leaf in enumerate(leaves)},
        requests=shapes.requests[rows],
        allowed=shapes.allowed[rows] & ~taken,
        fits=shapes.fits[rows] & ~taken,
    )


def _is_bounded(stage: Problem) -> bool:
    """
    Tell whether the queues could be what keeps the unit of a stage waiting.
    """
    (unit,) = stage.units
    if not all(state.gang.preemptible for state in unit.states):
        return True
    queues = stage.queues.queues.values()
    return any(r.limit is not None for q in queues for r in q.resources.values())


def _without_limits(stage: Problem) -> Problem:
    return replace(stage, queues=replace(stage.queues, queues={}))


def _hosts(stage: Problem) -> tuple[int, ...] | None:
    """
    Place the unit of a stage by hand and list its nodes; none where it does not fit.
    """
    (unit,) = stage.units
    if _is_short(stage, unit):
        return None
    work = RoundState(stage)
    if not place_unit(work, unit):
        return None
    rows = (hosts for leaves in work.placed.values() for hosts in leaves.values())
    return tuple(sorted({host for hosts in rows for host in hosts}))


def _is_short(stage: Problem, unit: Unit) -> bool:
    """
    Tell quickly of a unit that needs all its leaves whether nodes lack places for one.
    """
    shapes, free = stage.shapes, stage.room.now
    for state in unit.states:
        for i, leaf in enumerate(state.leaves):
            if not state.rigid or not leaf.need:
                continue
            row = shapes.of_leaf[state.key, i]
            places = num_fitting(free[shapes.fits[row]], shapes.requests[row])
            if places.sum() < leaf.need:
                return True
    return False
