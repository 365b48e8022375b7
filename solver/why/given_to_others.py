"""
What a plan gives to others: who gets how much, on which nodes and in which queues.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.devices.gpu_parts import GpuDevice
from models.gangs import Pod, PodPhase, PodSet, pod_sets, where_moved
from models.plan import Plan
from solver.explain.room_now import Bound
from solver.problem.neighbours.pods_around import PodsAround, come
from solver.problem.node_room import Ints, NodeRoom
from solver.problem.problem import Problem, Unit
from solver.shares.queue_tree import Booking, QueueTree, Table

Row = tuple[str, int, PodSet]
"""
A gang, a node by its place, and the leaf of a pod there.
"""


@dataclass(frozen=True, slots=True)
class GivenToOthers:
    """
    What a plan binds, reserves and moves: a row for each pod.

    ``devices`` are those of each pod of which it gets parts, ``later`` says which of
    them come only when ``gone`` have left: pods that the plan evicts or moves.

    What is ``moved`` is charged to its queue already.  Idle nodes are ``held_for``
    some gangs.
    """

    rows: tuple[Row, ...]
    devices: tuple[tuple[GpuDevice, ...], ...] = ()
    later: tuple[bool, ...] = ()
    gone: tuple[Row, ...] = ()
    moved: frozenset[str] = frozenset()
    held_for: tuple[str, ...] = ()

    def amounts(
        self, resource: str, wanted: Callable[[str, int], bool]
    ) -> dict[str, int]:
        """
        Add up by gang what is given of a resource, where that is wanted, most first.
        """
        found: Counter[str] = Counter()
        for gang, node, leaf in self.rows:
            if wanted(gang, node):
                found[gang] += leaf.requests.get(resource, 0)
        order = sorted(found, key=lambda gang: (-found[gang], gang))
        return {gang: found[gang] for gang in order if found[gang]}

    def below(self, bound: Bound, problem: Problem) -> dict[str, int]:
        """
        Add up by gang what is given of what a bound holds, most first.
        """
        path, gangs = problem.queues.path, problem.gangs

        def counts(name: str, _: int) -> bool:
            gang = gangs[name]
            fixed = not (bound.fixed and gang.preemptible)
            return fixed and name not in self.moved and bound.queue in path(gang.queue)

        return self.amounts(bound.resource, counts)

    def beside(self, problem: Problem) -> Problem:
        """
        See a round with what is left beside all that is given, both now and later.

        Now there is what is bound, later also what comes when others have left.  Parts
        of GPUs are taken to be there now.
        """
        room = NodeRoom(problem.room.now, problem.room.parts)
        parts = problem.room.parts is not None
        soon = [parts or not late for late in self.later]
        self._take(room, problem, soon)
        least = room.rows
        if not all(soon):
            after = NodeRoom(room.rows)
            for _, node, leaf in self.gone:
                after.give_one(problem.room.row(dict(leaf.requests)), node)
            self._take(after, problem, [not each for each in soon])
            least = np.minimum(least, after.rows)
        queues, around = self._booked(problem), self._around(problem)
        return replace(problem.in_room(least), queues=queues, around=around)

    def _take(self, room: NodeRoom, problem: Problem, which: Sequence[bool]) -> None:
        """
        Take the room of some of the pods.
        """
        given = zip(self.rows, self.devices, which, strict=True)
        on: dict[int, Ints] = {}
        for (_, node, leaf), devices, wanted in given:
            if wanted:
                held = problem.room.held(leaf.requests, devices, node)
                on[node] = on.get(node, 0) + held
        for node, held in on.items():
            room.take_one(held, node)

    def _around(self, problem: Problem) -> PodsAround | None:
        """
        Count who comes around pods that wait, and no more rely on who leaves.
        """
        found = None if problem.around is None else problem.around.copy()
        for (name, node, leaf), late in zip(self.rows, self.later, strict=True):
            if found is not None and leaf.neighbours:
                pods = where_moved(leaf) if name in self.moved else leaf
                at, one = np.array([node]), np.array([1])
                come(found, pods.neighbours, pods.demand, at, one, relied_on=not late)
        for name, node, leaf in self.gone:
            if found is not None:
                leaves = pod_sets(problem.gangs[name].tree)
                found.leave(problem.gangs[name], [*leaves].index(leaf), node)
        return found

    def _booked(self, problem: Problem) -> QueueTree:
        """
        Book what is given in queues, and what leaves them for it.
        """
        booking, path = Booking(problem.queues), problem.queues.path
        for (name, _, leaf), late in zip(self.rows, self.later, strict=True):
            if name in self.moved:
                continue
            gang = problem.gangs[name]
            table: Table = "drift" if late else "running"
            fixed: Table = "drift_fixed" if late else "fixed"
            tables = [table] if gang.preemptible else [table, fixed]
            booking.add(path(gang.queue), leaf.requests, 1, *tables)
        for name, _, leaf in self.gone:
            if name not in self.moved:
                queue = problem.gangs[name].queue
                booking.add(path(queue), leaf.requests, -1, "drift")
        return booking.tree()


def given_by(plan: Plan, problem: Problem, unit: Unit) -> GivenToOthers:
    """
    List what a plan binds, reserves and moves for all gangs but those of a unit.
    """
    own = {state.key for state in unit.states}
    steps = [x for x in plan.operations if x.gang not in own]
    given = [step for step in steps if step.op != "Evict"]
    pods: dict[str, tuple[PodSet, Pod]] = {}
    for name in dict.fromkeys(step.gang for step in steps):
        gang = problem.gangs[name]
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                pods[f"{gang.namespace}/{pod.name}"] = leaf, pod
    index = problem.room.index
    leave = [
        (step.gang, index[pod.node], leaf)
        for step in steps
        if step.op in {"Evict", "Move"}
        for leaf, pod in [pods[step.pod]]
        if pod.phase is PodPhase.RUNNING and pod.node in index
    ]
    return GivenToOthers(
        tuple((x.gang, index[x.node], pods[x.pod][0]) for x in given),
        devices=tuple(x.devices for x in given),
        later=tuple(x.op != "Bind" for x in given),
        gone=tuple(leave),
        moved=frozenset(x.gang for x in given if x.op == "Move"),
    )


def kept_off(problem: Problem, held: Problem, unit: Unit) -> Problem:
    """
    See a round without the nodes that are held against a unit, if any are.
    """
    rows = [
        (problem.shapes.of_leaf[state.key, at], held.shapes.of_leaf[state.key, at])
        for state in unit.states
        for at in range(len(state.leaves))
    ]
    mine = np.any([problem.shapes.allowed[row] for row, _ in rows], axis=0)
    theirs = np.any([held.shapes.allowed[row] for _, row in rows], axis=0)
    banned = mine & ~theirs
    if not banned.any():
        return problem
    now = problem.room.now.copy()
    now[banned] = 0
    return problem.in_room(now)
