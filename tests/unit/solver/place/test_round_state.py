"""
The state of a round: one log undoes whatever was tried.
"""

from models.policy import Policy
from models.resources import GPU
from solver.place.fill import fill
from solver.place.round_state import RoundState
from solver.problem.problem import problem_of
from tests.helpers.build import gang, leaf, node, snapshot


def state_of(*sizes):
    gangs = [gang(f"g{at}", leaf(minimum=size)) for at, size in enumerate(sizes)]
    problem = problem_of(snapshot(nodes=[node()], gangs=gangs), Policy())
    return RoundState(problem), [unit.states[0] for unit in problem.units]


def free(work):
    column = work.problem.room.resources.index(GPU)
    return int(work.room.rows[0, column])


def test_undoing_gives_back_what_was_placed_since_the_mark():
    work, (one, two) = state_of(2, 3)
    fill(work, one, 0, 2, None)
    mark = work.mark()

    fill(work, two, 0, 3, None)

    assert 3 == free(work)

    work.undo(mark)

    assert 6 == free(work)
    assert {one.key} == work.placed.keys()


def test_undoing_calls_back_whoever_changed_something_the_last_first():
    work, _ = state_of(1)
    calls = []
    mark = work.mark()
    work.note(lambda: calls.append("first"))
    work.note(lambda: calls.append("second"))

    work.undo(mark)

    assert ["second", "first"] == calls


def test_pods_can_be_taken_back_without_who_left_for_them():
    work, (one,) = state_of(2)
    calls = []
    mark = work.mark()
    work.note(lambda: calls.append("back"))
    fill(work, one, 0, 2, None)

    work.unplace(mark)

    assert 8 == free(work)
    assert not work.placed
    assert not calls

    work.undo(mark)

    assert ["back"] == calls
    assert 8 == free(work)


def test_running_pods_that_leave_make_room_until_they_stay():
    work, _ = state_of(1)
    rows = {0: work.problem.room.row({GPU: 2})}

    work.leave(rows, "none", {GPU: 2})

    assert 10 == free(work)
    assert work.room.has(rows)

    work.leave(rows, "none", {GPU: 2}, -1)

    assert 8 == free(work)
