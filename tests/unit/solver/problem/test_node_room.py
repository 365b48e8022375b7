"""
The room of nodes: taken and given back in one place.
"""

import numpy as np

from solver.problem.node_room import NodeRoom


def room(*free):
    return NodeRoom(np.array([[each, 10] for each in free], dtype=np.int64))


def request(gpus):
    return np.array([gpus, 0], dtype=np.int64)


def gpus(room):
    return room.rows[:, 0].tolist()


def test_what_is_taken_is_missing_until_it_is_given_back():
    here = room(8, 8, 8)
    nodes, counts = np.array([0, 2]), np.array([1, 2])

    here.take(request(3), nodes, counts)

    assert [5, 8, 2] == gpus(here)

    here.give(request(3), nodes, counts)

    assert [8, 8, 8] == gpus(here)


def test_a_room_leaves_the_table_it_was_made_of_alone():
    before = np.array([[4]], dtype=np.int64)

    NodeRoom(before).take_one(np.array([1]), 0)

    assert [[4]] == before.tolist()


def test_pods_that_leave_one_node_give_back_all_that_they_hold():
    here = room(0, 1)

    here.give_each(np.array([request(2), request(3)]), np.array([0, 0]))

    assert [5, 1] == gpus(here)


def test_places_are_counted_by_the_scarcest_resource_that_is_asked_for():
    here = room(8, 3, -1)

    assert [4, 1, 0] == here.places(request(2)).tolist()


def test_every_change_is_told_by_its_node():
    here = room(8, 8)

    here.take_one(request(1), 1)
    here.give_one(request(1), 1)

    assert [1, 1] == here.touched


def test_taking_holds_where_enough_was_there():
    here = room(2, 2)

    here.take_one(request(2), 0)
    here.take_one(request(3), 1)

    assert here.holds([0])
    assert not here.holds([0, 1])


def test_what_was_too_full_before_may_stay_so():
    here = room(-4)

    here.give_one(request(1), 0)

    assert here.holds([0])
