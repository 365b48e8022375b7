"""
Ends: when running pods are expected to end, for sure or likely, and the room of that.

It knows what the snapshot says and nothing else.  A pod whose gang names its longest
run time ends with it at the latest.  Of any other it takes as likely that it runs on
for the mean of the time that it has run and of the median of all that run; of several
on one node the last ends later than each, as the last of so many independent ends.

What is likely may be asked as of some seconds ago; then all times count from there.
So a forecast that was made when something last changed stands until something does.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median_high

import numpy as np

from models.devices.gpu_parts import GpuDevice
from models.gangs import ON_A_NODE, Gang, Pod, PodPhase, PodSet, pod_sets
from models.resources import Resources, num_gpus
from solver.problem.node_room import After, Bools, Floats, Ints, NodeRoom
from solver.problem.pod_counts import is_leaving
from solver.problem.problem import Problem, Unit
from solver.shares.queue_tree import Booking, Table

SOONEST = 600
"""
Seconds that what runs is taken to run on at least, where nobody knows.
"""


@dataclass(frozen=True, slots=True)
class EndKind:
    """
    Pods that end alike; ``path`` are the queues that pay for them, if any do.

    Of parts it is known on which ``devices`` of their nodes they are.
    """

    requests: Resources
    devices: tuple[GpuDevice, ...]
    path: tuple[str, ...]
    preemptible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """
    Pods that end, as columns: when, for sure or not, where (-1: nowhere), kind, owner.

    Times count from ``since`` seconds ago.  ``there`` counts all our pods by node.
    """

    since: int
    there: Ints
    kinds: tuple[EndKind, ...]
    gangs: Mapping[str, int]
    times: Ints
    sure: Bools
    nodes: Ints
    kind_of: Ints
    owners: Ints

    def of_others(self, unit: Unit) -> "Ends":
        """
        Leave out the pods of a unit itself.
        """
        return self.without(state.gang for state in unit.states)

    def going(self, gangs: Iterable[Gang]) -> "Ends":
        """
        Let the pods of some gangs end at once, since they leave for who starts.
        """
        mine = self._of(gang.key for gang in gangs)
        return replace(self, times=np.where(mine, 0, self.times), sure=self.sure | mine)

    def left_until(self, moment: int, *, sure: bool) -> int:
        """
        Give the seconds from now to a moment; what is late by a guess comes soon.
        """
        return max(moment - self.since, 0 if sure else min(moment, SOONEST))

    def without(self, gangs: Iterable[Gang]) -> "Ends":
        """
        Leave out the pods of some gangs.
        """
        mine = self._of(gang.key for gang in gangs)
        return self._only(~mine) if mine.any() else self

    def _of(self, keys: Iterable[str]) -> Bools:
        own = [self.gangs[key] for key in keys if key in self.gangs]
        return np.isin(self.owners, own)

    def for_sure(self) -> "Ends":
        """
        Keep those of which it is known when they end.
        """
        return self._only(self.sure)

    def until(self, moment: int) -> "Ends":
        """
        Keep those that end until a moment.
        """
        return self._only(self.times <= moment)

    def _only(self, chosen: Bools) -> "Ends":
        return replace(
            self,
            times=self.times[chosen],
            sure=self.sure[chosen],
            nodes=self.nodes[chosen],
            kind_of=self.kind_of[chosen],
            owners=self.owners[chosen],
        )

    def room_after(self, stage: Problem) -> After:
        """
        Say what is free once all these pods have left.
        """
        room = NodeRoom(stage.room.now, stage.room.parts)
        rows = np.array([stage.room.row(dict(kind.requests)) for kind in self.kinds])
        here = self.nodes >= 0
        if here.any():
            left = rows[self.kind_of[here]]
            pods = zip(
                self.kind_of[here].tolist(), self.nodes[here].tolist(), strict=True
            )
            for at, (kind, node) in enumerate(pods if stage.room.parts else ()):
                if (one := self.kinds[kind]).devices:
                    left[at] = stage.room.held(one.requests, one.devices, node)
            room.give_each(left, self.nodes[here])
            gone = np.bincount(self.nodes[here], minlength=len(self.there))
            for at in np.flatnonzero(gone == self.there).tolist():
                if parts := stage.room.parts:
                    room.give_one(parts.tied.all_there(room.rows[at]), at)
        return After(room.rows)

    def idle(self, problem: Problem, moment: int, start: int = 0) -> Floats:
        """
        Add up by node the GPU-seconds that idle from a start to a moment.
        """
        seconds = self.idle_now(problem) * (moment - start)
        ended = self.until(moment)
        here = ended.nodes >= 0
        left = moment - np.maximum(ended.times[here], start)
        np.add.at(seconds, ended.nodes[here], ended.gpus()[here] * left)
        return seconds

    def idle_now(self, problem: Problem) -> Floats:
        """
        Count by node the GPUs that idle.
        """
        holes = problem.room.holes if problem.room.gpus else 0 * problem.room.holes
        return holes.astype(np.float64)

    def idle_at(self, problem: Problem, moment: int) -> Floats:
        """
        Count by node the GPUs that idle at a moment, if nobody starts.
        """
        found = self.idle_now(problem)
        ended = self.until(moment)
        here = ended.nodes >= 0
        np.add.at(found, ended.nodes[here], ended.gpus()[here])
        return found

    def gpus(self) -> Floats:
        """
        Count the GPUs of each pod.
        """
        gpus = np.array([num_gpus(kind.requests) for kind in self.kinds], dtype=float)
        return gpus[self.kind_of]

    def out_of(self, stage: Problem) -> Problem:
        """
        Take all these pods out of a stage.
        """
        room = self.room_after(stage)
        booking = Booking(stage.queues)
        counts = np.bincount(self.kind_of, minlength=len(self.kinds)).tolist()
        for kind, number in zip(self.kinds, counts, strict=True):
            fixed: list[Table] = [] if kind.preemptible else ["fixed"]
            if number:
                booking.add(kind.path, kind.requests, -number, "running", *fixed)
        return replace(stage.in_room(room, room), queues=booking.tree())


def typical_age(problem: Problem, since: int = 0) -> int:
    """
    Give the median of the times that pods with GPUs had run some seconds ago, or 0.
    """
    ages = [
        max(0, pod.seconds - since)
        for gang in problem.snapshot.gangs
        for leaf in pod_sets(gang.tree)
        if num_gpus(leaf.requests)
        for pod in leaf.pods
        if pod.phase is PodPhase.RUNNING
    ]
    return median_high(ages) if ages else 0


def ends_of(problem: Problem, since: int = 0) -> Ends:
    """
    List the pods that hold room, with when each was expected to end some seconds ago.
    """
    index = problem.room.index
    kinds: dict[object, EndKind] = {}
    numbers: dict[object, int] = {}
    gangs: dict[str, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    for gang, leaf, pod in _holding(problem.snapshot.gangs):
        runs = pod.phase is PodPhase.RUNNING
        kind = (gang.queue, gang.preemptible, runs, id(leaf.requests), pod.devices)
        if kind not in kinds:
            numbers[kind] = len(kinds)
            path = tuple(problem.queues.path(gang.queue)) if runs else ()
            kinds[kind] = EndKind(leaf.requests, pod.devices, path, gang.preemptible)
        time = _end(gang, pod, since)
        owner = gangs.setdefault(gang.key, len(gangs))
        node = index.get(pod.node or "", -1)
        ran = pod.seconds if time is None else time
        rows.append((ran, time is not None, node, numbers[kind], owner))
    times, sure_ones, nodes, kind_of, owners = (
        np.array(rows, dtype=np.int64).reshape(-1, 5).T
    )
    is_sure = sure_ones.astype(bool)
    if not is_sure.all():
        times = _likely(times, is_sure, nodes, typical_age(problem, since), since)
    return Ends(
        since=since,
        there=np.bincount(nodes[nodes >= 0], minlength=len(index)),
        kinds=tuple(kinds.values()),
        gangs=gangs,
        times=times,
        sure=is_sure,
        nodes=nodes,
        kind_of=kind_of,
        owners=owners,
    )


def _holding(gangs: Iterable[Gang]) -> Iterator[tuple[Gang, PodSet, Pod]]:
    """
    Walk the pods that hold room.
    """
    for gang in gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                if pod.phase in ON_A_NODE:
                    yield gang, leaf, pod


def _end(gang: Gang, pod: Pod, since: int) -> int | None:
    """
    Give in how many seconds a pod ends at the latest; none if nobody can say.
    """
    if is_leaving(pod):
        return 0
    if pod.phase is PodPhase.RUNNING and gang.max_runtime is not None:
        return max(0, since + gang.max_runtime - pod.seconds)
    return None


def _likely(times: Ints, sure: Bools, nodes: Ints, typical: int, since: int) -> Ints:
    """
    Put a likely end in place of the time that a pod has run, where none is known.
    """
    rows = np.flatnonzero(~sure)
    ran = np.maximum(0, times[rows] - since)
    begun = np.maximum(0, since - times[rows])
    left = np.maximum(SOONEST, (ran + typical) // 2)
    found = times.copy()
    on: dict[int, list[tuple[int, int, int]]] = {}
    for row, node, start, seconds in zip(
        *(column.tolist() for column in (rows, nodes[rows], begun, left)), strict=True
    ):
        on.setdefault(node, []).append((start + seconds, row, start))
    for pods in on.values():
        passed = 0.0
        for at, (end, row, start) in enumerate(sorted(pods)):
            passed += 1.0 / (len(pods) - at)
            found[row] = start + int((end - start) * passed)
    return found
