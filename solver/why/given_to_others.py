"""
What a plan gives to others: who gets how much, on which nodes and in which queues.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from models.devices.gpu_parts import GpuDevice
from models.gangs import pod_sets
from models.plan import Plan
from models.resources import Resources
from solver.explain.room_now import Bound
from solver.problem.node_room import NodeRoom
from solver.problem.problem import Problem, Unit
from solver.shares.queue_tree import Booking, Table


@dataclass(frozen=True, slots=True)
class GivenToOthers:
    """
    What a plan binds, reserves and moves: per pod the gang, the node, the requests.

    ``devices`` are those of each pod of which it gets parts.

    What is ``moved`` is charged to its queue already.  Idle nodes are ``held_for``
    some gangs.
    """

    rows: tuple[tuple[str, int, Resources], ...]
    devices: tuple[tuple[GpuDevice, ...], ...] = ()
    moved: frozenset[str] = frozenset()
    held_for: tuple[str, ...] = ()

    def amounts(
        self, resource: str, wanted: Callable[[str, int], bool]
    ) -> dict[str, int]:
        """
        Add up by gang what is given of a resource, where that is wanted, most first.
        """
        found: Counter[str] = Counter()
        for gang, node, requests in self.rows:
            if wanted(gang, node):
                found[gang] += requests.get(resource, 0)
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
        See a round with all that is given as load, on nodes and in queues.
        """
        room = NodeRoom(problem.room.now, problem.room.parts)
        booking = Booking(problem.queues)
        for (name, node, requests), devices in zip(
            self.rows, self.devices, strict=True
        ):
            gang = problem.gangs[name]
            room.take_one(problem.room.held(requests, devices, node), node)
            tables: list[Table] = ["running"]
            tables += [] if gang.preemptible else ["fixed"]
            if name not in self.moved:
                booking.add(problem.queues.path(gang.queue), requests, 1, *tables)
        return replace(problem.in_room(room.rows), queues=booking.tree())


def given_by(plan: Plan, problem: Problem, unit: Unit) -> GivenToOthers:
    """
    List what a plan binds, reserves and moves for all gangs but those of a unit.
    """
    own = {state.key for state in unit.states}
    steps = [x for x in plan.operations if x.op != "Evict" and x.gang not in own]
    requests: dict[str, Resources] = {}
    for name in dict.fromkeys(step.gang for step in steps):
        gang = problem.gangs[name]
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                requests[f"{gang.namespace}/{pod.name}"] = leaf.requests
    index = problem.room.index
    return GivenToOthers(
        tuple((x.gang, index[x.node], requests[x.pod]) for x in steps),
        devices=tuple(x.devices for x in steps),
        moved=frozenset(x.gang for x in steps if x.op == "Move"),
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
