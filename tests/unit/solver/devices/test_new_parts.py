"""
What nodes have once somebody has left.
"""

import numpy as np
import pytest

from models.changes.gpus_in_parts import counting_parts
from models.policy import Policy
from models.snapshot import Snapshot
from solver.problem.node_room import NodeRoom
from solver.problem.problem import problem_of
from tests.helpers.rounds.parts import fraction, part_gang, sharing


@pytest.fixture
def problem():
    half = fraction(500)
    nodes = (sharing("a", 2), sharing("b", 2))
    gangs = (part_gang("runs", half, ("a", 0)), part_gang("waits", half))
    return problem_of(counting_parts(Snapshot(nodes=nodes, gangs=gangs)), Policy())


def test_what_a_node_has_once_somebody_left_follows_what_has_come(problem):
    nodes, left = np.array([0, 1]), problem.room.empty[[0, 1]]
    (request,) = {tuple(row) for row in problem.shapes.requests.tolist()}
    room = NodeRoom(problem.room.now, problem.room.parts)
    room.after_leaving(nodes, left)
    room.take_one(np.array(request), 0)
    fresh = NodeRoom(problem.room.now, problem.room.parts)
    fresh.take_one(np.array(request), 0)
    found = room.after_leaving(nodes, left)

    assert (found == fresh.after_leaving(nodes, left)).all()
    asked = np.flatnonzero(request)
    assert (found[:, asked] == room.after_leaving(nodes, left, asked)).all()
