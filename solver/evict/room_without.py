"""
The round as it will be once some pods have left.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.resources import add
from solver.evict.freeze import leave, requests_of
from solver.problem.leaving_pods import Exit
from solver.problem.node_room import NodeRoom
from solver.problem.problem import Problem


def without(problem: Problem, exits: Sequence[Exit]) -> Problem:
    """
    Take leaving pods out of room and queues; what leaf queues may claim stays as it is.
    """
    if not exits:
        return problem
    room = NodeRoom(problem.room.now)
    leave(room, problem, exits)
    queues = problem.queues
    if queues.named:
        running = {name: dict(row) for name, row in queues.running.items()}
        booked = {name: dict(row) for name, row in queues.booked.items()}
        for one in exits:
            requests = requests_of(problem, one)
            for queue in queues.path(problem.gangs[one.gang].queue):
                add(running.setdefault(queue, {}), requests, -1)
                if queue not in queues.parents or one.rule == "consolidate":
                    add(booked.setdefault(queue, {}), requests, 1)
        queues = replace(queues, running=running, booked=booked)
    return replace(problem, queues=queues).in_room(room.rows, room.rows)
