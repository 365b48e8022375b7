"""
The forecast: when running pods are expected to end, and where a gang could start then.

It knows what the snapshot says of run times and nothing else: no pod starts in it, and
a pod whose gang names no longest run time never ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from models.gangs import Gang, Pod, PodPhase, pod_sets
from models.resources import Resources, add
from solver.place.place_gang import place_gang
from solver.place.workspace import Workspace
from solver.problem.never_starts import num_fitting
from solver.problem.node_room import Bools, Ints, Room
from solver.problem.pod_counts import is_leaving
from solver.problem.pod_shapes import Shapes, fitting
from solver.problem.problem import Problem, Unit
from solver.problem.queue_tree import Amounts, QueueTree


@dataclass(frozen=True, slots=True)
class Seats:
    """
    The nodes for a unit, and in how many seconds it is expected to start on them.

    Without nodes there is none for it; ``start`` is none where no forecast says when.
    """

    nodes: tuple[int, ...] = ()
    start: int | None = None


class Forecast:
    """
    The ends of running pods, replayed for one waiting unit after the other.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._ends = _ends_of(problem)

    def seats(self, unit: Unit, taken: Bools) -> Seats:
        """
        Find the nodes on which a unit could start first, by hand.

        What has room and waits for its queue's limit only needs no nodes.

        Parameters
        ----------
        unit
            The gangs that start together.
        taken
            Nodes that are held for others.
        """
        if _is_one_leaf(unit) and not len(self._ends.times):
            shapes = _shapes_of(self._problem, unit, taken)
            spot = _Spot(self._problem.room, shapes, unit)
            if not spot.fits_now():
                return spot.drained()
        stage = _stage(self._problem, unit, taken)
        hosts = _hosts(stage)
        if hosts is not None:
            return Seats(hosts, 0)
        if _is_bounded(stage) and _hosts(_without_limits(stage)) is not None:
            return Seats()
        return self._expected(stage, unit) or _drained(_without_limits(stage), unit)

    def _expected(self, stage: Problem, unit: Unit) -> Seats | None:
        """
        Find the first end of a pod after which the unit could be placed, by halving.
        """
        ends = self._ends.of_others(unit)
        moments = np.unique(ends.times)
        low, high = 0, len(moments) - 1
        found = None
        while low <= high:
            # The last moment comes first: often no end makes enough room.
            at = (low + high) // 2 if found else high
            hosts = _hosts(ends.until(int(moments[at])).out_of(stage))
            if hosts is not None:
                found = Seats(hosts, int(moments[at]))
                high = at - 1
            elif found is None:
                return None
            else:
                low = at + 1
        return found


def _stage(problem: Problem, unit: Unit, taken: Bools) -> Problem:
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


def _with_room(stage: Problem, free: Ints, nodes: Bools | None = None) -> Problem:
    """
    Give a stage another room, and some of its nodes only.
    """
    shapes = stage.shapes
    allowed = shapes.allowed if nodes is None else shapes.allowed & nodes
    fits = np.array([fitting(free, request) for request in shapes.requests])
    return replace(
        stage,
        room=replace(stage.room, free=free, later=free),
        shapes=replace(shapes, allowed=allowed, fits=allowed & fits),
    )


def _hosts(stage: Problem) -> tuple[int, ...] | None:
    """
    Place the unit of a stage by hand and list its nodes; none where it does not fit.
    """
    (unit,) = stage.units
    if _is_short(stage, unit):
        return None
    work = Workspace(stage)
    if not all(place_gang(work, state) for state in unit.states):
        return None
    rows = (hosts for leaves in work.placed.values() for hosts in leaves.values())
    return tuple(sorted({host for hosts in rows for host in hosts}))


def _is_short(stage: Problem, unit: Unit) -> bool:
    """
    Tell quickly of a unit that needs all its leaves whether nodes lack places for one.
    """
    shapes, free = stage.shapes, stage.room.free
    for state in unit.states:
        for i, leaf in enumerate(state.leaves):
            if not state.rigid or not leaf.need:
                continue
            row = shapes.of_leaf[state.key, i]
            places = num_fitting(free[shapes.fits[row]], shapes.requests[row])
            if places.sum() < leaf.need:
                return True
    return False


# --- ends that are known ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """
    Pods that end alike; ``path`` are the queues that pay for them, if any do.
    """

    requests: Resources
    path: tuple[str, ...]
    preemptible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """
    Pods that end, as columns: when, on which node (-1: none that exists), kind, owner.
    """

    kinds: tuple[_Kind, ...]
    gangs: Mapping[str, int]
    times: Ints
    nodes: Ints
    kind_of: Ints
    owners: Ints

    def of_others(self, unit: Unit) -> "_Ends":
        """
        Leave out the pods of a unit itself.
        """
        own = [self.gangs[s.key] for s in unit.states if s.key in self.gangs]
        return self._only(~np.isin(self.owners, own)) if own else self

    def _only(self, chosen: Bools) -> "_Ends":
        return replace(
            self,
            times=self.times[chosen],
            nodes=self.nodes[chosen],
            kind_of=self.kind_of[chosen],
            owners=self.owners[chosen],
        )

    def until(self, moment: int) -> "_Ends":
        """
        Keep those that end until a moment.
        """
        return self._only(self.times <= moment)

    def out_of(self, stage: Problem) -> Problem:
        """
        Take all these pods out of a stage.
        """
        rows = np.array([stage.room.row(dict(kind.requests)) for kind in self.kinds])
        here = self.nodes >= 0
        free = stage.room.free.copy()
        np.add.at(free, self.nodes[here], rows[self.kind_of[here]])
        queues = stage.queues
        return replace(
            _with_room(stage, free),
            queues=replace(
                queues,
                running=self._out_of(queues.running, queues),
                fixed=self._out_of(queues.fixed, queues, fixed=True),
            ),
        )

    def _out_of(
        self, amounts: Amounts, queues: QueueTree, *, fixed: bool = False
    ) -> Amounts:
        """
        Take these pods out of what runs, or of what runs and is not preemptible.
        """
        table = {name: dict(amounts.get(name, {})) for name in queues.queues}
        counts = np.bincount(self.kind_of, minlength=len(self.kinds)).tolist()
        for kind, number in zip(self.kinds, counts, strict=True):
            if number and not (fixed and kind.preemptible):
                for name in kind.path:
                    if name in table:
                        add(table[name], kind.requests, -number)
        return table


def _ends_of(problem: Problem) -> _Ends:
    """
    List the pods that are expected to end.
    """
    index = problem.room.index
    kinds: dict[tuple[str, bool, bool, int], _Kind] = {}
    numbers: dict[tuple[str, bool, bool, int], int] = {}
    gangs: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for gang in problem.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                time = _end(gang, pod)
                if time is None:
                    continue
                runs = pod.phase is PodPhase.RUNNING
                kind = (gang.queue, gang.preemptible, runs, id(leaf.requests))
                if kind not in kinds:
                    numbers[kind] = len(kinds)
                    path = tuple(problem.queues.path(gang.queue)) if runs else ()
                    kinds[kind] = _Kind(
                        requests=leaf.requests, path=path, preemptible=gang.preemptible
                    )
                owner = gangs.setdefault(gang.key, len(gangs))
                node = index.get(pod.node or "", -1)
                rows.append((time, node, numbers[kind], owner))
    times, nodes, kind_of, owners = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return _Ends(
        kinds=tuple(kinds.values()),
        gangs=gangs,
        times=times,
        nodes=nodes,
        kind_of=kind_of,
        owners=owners,
    )


def _end(gang: Gang, pod: Pod) -> int | None:
    """
    Give in how many seconds a pod is expected to end; none if nobody can say.
    """
    if is_leaving(pod):
        return 0
    if pod.phase is PodPhase.RUNNING and gang.max_runtime is not None:
        return max(0, gang.max_runtime - pod.seconds)
    return None


# --- nodes that drain, nobody knows when ----------------------------------------------


def _drained(stage: Problem, unit: Unit) -> Seats:
    """
    Choose nodes that hold the unit when empty: as few as will do, the best first.

    Nodes where a pod fits now come first, then the least loaded, then by name; so a
    choice is kept while its nodes drain.
    """
    if _is_one_leaf(unit):
        return _Spot(stage.room, stage.shapes, unit).drained()
    empty = _empty_but_for(stage.room, unit)
    order = _by_ease(stage.room, stage.shapes)
    found = Seats()
    low, high = 1, len(order)
    while low <= high:
        number = (low + high) // 2 if found.nodes else high
        some = np.zeros(len(empty), dtype=bool)
        some[order[:number]] = True
        hosts = _hosts(_with_room(stage, empty, some))
        if hosts is not None:
            found = Seats(hosts)
            high = number - 1
        elif not found.nodes:
            return found
        else:
            low = number + 1
    return found


def _is_one_leaf(unit: Unit) -> bool:
    """
    Tell whether nothing but the number of places decides if a unit fits.
    """
    state = unit.states[0]
    leaf = state.leaves[0].pod_set
    plain = leaf.topology is None and not leaf.exclusive and state.leaves[0].need > 0
    return len(unit.states) == len(state.nodes) == 1 and plain


@dataclass(frozen=True, slots=True)
class _Spot:
    """
    A unit of one leaf and the one shape that it has, where no others are held.
    """

    room: Room
    shapes: Shapes
    unit: Unit

    @property
    def need(self) -> int:
        """
        Give how many pods it needs.
        """
        return self.unit.states[0].leaves[0].need

    def fits_now(self) -> bool:
        """
        Tell whether there are enough places now.
        """
        free = self.room.free[self.shapes.fits[0]]
        return int(num_fitting(free, self.shapes.requests[0]).sum()) >= self.need

    def drained(self) -> Seats:
        """
        Take the first nodes that are enough when empty; leave out those not needed.
        """
        order = _by_ease(self.room, self.shapes)
        empty = _empty_but_for(self.room, self.unit)[order]
        places = num_fitting(empty, self.shapes.requests[0])
        number = int(np.searchsorted(np.cumsum(places), self.need)) + 1
        if number > len(places):
            return Seats()
        spare = int(places[:number].sum()) - self.need
        kept = []
        for node, fitting_there in zip(
            order[:number][::-1].tolist(), places[:number][::-1].tolist(), strict=True
        ):
            if fitting_there <= spare:
                spare -= fitting_there
            else:
                kept.append(node)
        return Seats(tuple(sorted(kept)))


def _empty_but_for(room: Room, unit: Unit) -> Ints:
    """
    Measure nodes without any pod of ours but those of the unit itself.
    """
    empty = room.empty.copy()
    for state in unit.states:
        for leaf in state.leaves:
            for pod in leaf.running:
                if pod.node in room.index:
                    row = room.row(dict(leaf.pod_set.requests))
                    empty[room.index[pod.node]] -= row
    return empty


def _by_ease(room: Room, shapes: Shapes) -> Ints:
    """
    Order the nodes that a pod of some shapes may use.
    """
    usable: Bools = np.asarray(shapes.allowed.any(axis=0))
    fits = shapes.fits.any(axis=0)
    asked = shapes.requests.any(axis=0)
    scale = np.maximum(room.empty.max(axis=0, initial=1), 1)
    load = np.asarray((room.empty - room.free).clip(min=0) / scale)
    order = np.lexsort((load[:, asked].sum(axis=1), ~fits))
    return np.asarray(order[usable[order]])
