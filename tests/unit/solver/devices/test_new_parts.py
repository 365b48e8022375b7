"""
What nodes have once somebody has left: worked out once, until something changes there.
"""

import numpy as np
import pytest

from models.changes.gpus_in_parts import counting_parts
from models.policy import Policy
from models.snapshot import Snapshot
from solver.devices.part_room import PartRoom
from solver.problem.node_room import NodeRoom
from solver.problem.problem import problem_of
from tests.helpers.rounds.parts import fraction, part_gang, sharing


@pytest.fixture
def problem():
    half = fraction(500)
    nodes = (sharing("a", 2), sharing("b", 2))
    gangs = (part_gang("runs", half, ("a", 0)), part_gang("waits", half))
    return problem_of(counting_parts(Snapshot(nodes=nodes, gangs=gangs)), Policy())


def test_what_a_node_has_once_somebody_left_is_worked_out_once(problem, monkeypatch):
    asked, kind = [], PartRoom.kind
    monkeypatch.setattr(
        PartRoom, "kind", lambda *args: asked.append(args) or kind(*args)
    )
    room = NodeRoom(problem.room.now, problem.room.parts)
    nodes, left = np.array([0, 1]), problem.room.empty[[0, 1]]
    (request,) = {tuple(row) for row in problem.shapes.requests.tolist()}
    first = room.after_leaving(nodes, left)
    once = len(asked)
    again = room.after_leaving(nodes, left)

    assert once == len(asked) > 0
    assert (first == again).all()

    room.take_one(np.array(request), 0)
    fresh = NodeRoom(problem.room.now, problem.room.parts)
    fresh.take_one(np.array(request), 0)

    assert (room.after_leaving(nodes, left) == fresh.after_leaving(nodes, left)).all()
