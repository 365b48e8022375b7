"""
What an answer of a step starts beside those who leave, and may not start there.
"""

from dataclasses import replace

from models.policy import Policy
from solver.evict.idle_starts import without_exits
from solver.evict.open_step import open_step
from solver.place.draft import Draft
from solver.problem.problem import Step, problem_of
from tests.helpers.build import gang, key, node, queue, selector, snapshot


def test_who_is_like_those_that_are_preempted_waits_for_a_later_step():
    given = snapshot(
        [node("n0", labels={"pool": "a"}), node("n1")],
        [
            gang("runs", gpus=8, running=["n0"]),
            gang("high", gpus=8, priority=1, demand=selector(pool="a")),
            gang("low", gpus=8),
        ],
        [queue(weight=0)],
    )
    opened = open_step(problem_of(given, Policy()), Step.BORROWING, Draft())
    assert opened is not None
    first = opened.by_hand().first
    draft = replace(first, places={**opened.idle.places, **first.places})
    assert draft.exits
    assert {key("high"), key("low")} == {*draft.places}

    assert [key("high")] == [*opened.settled(draft).places]


def test_who_is_entitled_once_others_have_left_is_not_kept_without_them():
    """
    There is room, but no share of the queue above before somebody of it leaves.
    """
    given = snapshot(
        [node("a"), node("b")],
        [
            gang("runs", queue="eng", gpus=4, minimum=1, running=["a", "a"]),
            gang("claim", queue="ops", gpus=1),
        ],
        [
            queue("dept", quota=7, weight=0),
            queue("eng", "dept", quota=6),
            queue("ops", "dept", quota=1),
        ],
    )
    opened = open_step(problem_of(given, Policy()), Step.ENTITLED, Draft())
    assert opened is not None
    first = opened.by_hand().first
    assert first.exits
    assert {key("claim")} == first.entitled

    assert {} == without_exits(opened.problem, first).places
