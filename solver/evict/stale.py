"""
Stale gangs: what runs below its minimum for too long is evicted whole, for nobody.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from models.gangs import PodPhase, pod_sets, running_pods
from models.plan import Departure, Placement
from solver.problem.node_room import After, NodeRoom
from solver.problem.problem import Problem
from solver.problem.stale_gangs import leaving_as_stale
from solver.shares.queue_tree import Booking


def stale_departures(problem: Problem, placement: Placement) -> dict[str, Departure]:
    """
    Let every pod of a gang leave that is stale and that this plan does not help.
    """
    found: dict[str, Departure] = {}
    leaving = Departure(rule="stale")
    for gang in map(problem.gangs.__getitem__, sorted(stale_gangs(problem))):
        names = [
            f"{gang.namespace}/{pod.name}"
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is not PodPhase.RUNNING
        ]
        if any(n in placement.binds or n in placement.reserves for n in names):
            continue
        pods = (pod for _, _, pod in running_pods(gang))
        found |= {f"{gang.namespace}/{pod.name}": leaving for pod in pods}
    gone = found.keys() & placement.departures.keys()
    return {name: why for name, why in found.items() if name not in gone}


def stale_gangs(problem: Problem) -> frozenset[str]:
    """
    Name the gangs that leave where the plan does not help them.
    """
    return leaving_as_stale(problem.snapshot.gangs, problem.policy)


def letting_go(problem: Problem, keys: Collection[str]) -> Problem:
    """
    Count on what stale gangs leave, on nodes and below limits of queues.

    It is there for whoever others may leave for, as the room of pods that are leaving
    already; they themselves get no places, and are nobody's victims.
    """
    if not keys:
        return problem
    room = problem.room
    later, after = NodeRoom(room.later, room.parts), NodeRoom(room.after, room.parts)
    booking = Booking(problem.queues)
    around = None if problem.around is None else problem.around.copy()
    for gang in map(problem.gangs.__getitem__, sorted(keys)):
        path = problem.queues.path(gang.queue)
        for _, leaf, pod in running_pods(gang):
            booking.add(path, leaf.requests, 1, "leaving")
            host = room.index.get(pod.node or "")
            if host is not None:
                row = room.held(leaf.requests, pod.devices, host, pod.tied)
                later.give_one(row, host)
                after.give_one(row, host)
                if around is not None and leaf.neighbours:
                    at, gone = np.array([host]), np.array([-1])
                    around.spread.add(leaf.neighbours, at, gone, perhaps=True)
    return replace(
        problem,
        room=replace(room, later=After(later.rows), after=After(after.rows)),
        queues=booking.tree(),
        around=around,
        stuck=tuple(state for state in problem.stuck if state.key not in keys),
        frozen=replace(problem.frozen, stale=problem.frozen.stale.union(keys)),
        units=tuple(
            u for u in problem.units if not any(s.key in keys for s in u.states)
        ),
    )
