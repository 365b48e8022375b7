"""
Protected heads: who is one, what is held for it and when, and who may use it meanwhile.
"""

import pytest

from solver.hold.heads import heads_of, line_of
from solver.hold.held_nodes import with_heads
from solver.hold.turns import Turns
from tests.helpers.build import (
    gang,
    nodes,
    queue,
)
from tests.helpers.rounds.heads import (
    HOUR,
    LATE,
    ask,
    busy,
    keys,
    large,
    only,
    started,
    waiting,
)


def test_the_gang_passed_over_longest_is_the_head_of_its_queue():
    problem = ask(
        nodes(2),
        busy("full", "n0", "n1", gpus=8),
        large("long", passed_over=3 * HOUR),
        large("longer", passed_over=4 * HOUR),
        large("new", passed_over=HOUR - 1),
    )

    assert keys(problem) == ["longer"]


def test_a_gang_passed_over_for_exactly_the_time_is_a_head():
    assert keys(ask(nodes(2), large(passed_over=HOUR))) == ["large"]


def test_of_equals_the_older_and_then_the_first_by_name_is_the_head():
    older = [large("a", age=5), large("b", age=6), large("c", age=6)]

    assert keys(ask(nodes(2), *older)) == ["b"]


def test_bands_come_first_and_there_are_as_many_heads_as_the_policy_says():
    gangs = [
        large("low", minimum=1, passed_over=9 * HOUR, priority=1),
        large("high", minimum=1, priority=2),
        large("other", minimum=1, priority=2, passed_over=3 * HOUR),
    ]

    assert keys(ask(nodes(3), *gangs, policy=waiting(heads=2))) == ["other", "high"]


def test_the_whole_cluster_has_one_line_of_heads_where_the_policy_says_so():
    gangs = [
        large("first", queue="t", passed_over=3 * HOUR),
        large("second", queue="u"),
        large("third", queue="t"),
    ]

    def ask_with(most):
        policy = waiting(heads=most, headsOf="cluster")
        return ask(nodes(8), *gangs, policy=policy, queues=[queue("t"), queue("u")])

    assert keys(ask_with(1)) == ["first"]
    assert keys(ask_with(2)) == ["first", "second"]


def test_every_leaf_queue_has_heads_of_its_own_and_they_share_one_order():
    gangs = [
        large("blue", queue="b", minimum=1),
        large("green", queue="b", minimum=1, passed_over=HOUR),
        large("red", queue="r", minimum=1, passed_over=3 * HOUR),
    ]
    problem = ask(nodes(3), *gangs, queues=[queue("b"), queue("r")])

    assert keys(problem) == ["red", "blue"]


def test_a_member_passed_over_makes_its_group_a_head_that_needs_room_for_all():
    mates = ["a", "b"]
    problem = ask(
        nodes(3),
        large("a", minimum=1, mates=mates),
        large("b", minimum=1, mates=mates, passed_over=0),
    )
    head = only(problem)

    assert (head.key, head.start, len(head.nodes)) == ("default/a", 0, 2)


def test_a_clock_that_jumped_back_makes_no_head_and_changes_nothing():
    problem = ask(nodes(2), large(passed_over=0), gang("small"))

    assert heads_of(problem) == ()
    assert with_heads(problem, ()) is problem


def test_no_heads_switch_them_off():
    problem = ask(nodes(2), large(), policy=waiting(heads=0))

    assert heads_of(problem) == ()


def _in_line(passed_over, ran=0, *, others=20, outweigh=4.0):
    """
    Let a gang of 16 GPUs wait beside many of 1 on four nodes of 8.
    """
    small = [gang(f"s-{i:02}", minimum=1, gpus=1) for i in range(others)]
    runs = [busy("full", "n0", "n1", "n2", "n3", gpus=8, ran=ran)] if ran else []
    policy = waiting(outweigh=outweigh)
    return ask(nodes(4), *runs, large(passed_over=passed_over), *small, policy=policy)


@pytest.mark.parametrize(
    ("ran", "others", "outweigh"),
    [(0, 20, 4), (0, 90, 1), (9600, 8, 0.1), (10, 130, 0.1)],
)
def test_a_head_has_its_turn_at_the_second_that_is_told(ran, others, outweigh):
    def at(passed_over):
        more = passed_over - HOUR
        ages = ran and ran + more
        return _in_line(passed_over, ages, others=others, outweigh=outweigh)

    told = line_of(at(HOUR)).turn

    assert told is not None
    assert [False, True] == [
        Turns(problem).has_turn(problem.units[0])
        for problem in (at(HOUR + told - 1), at(HOUR + told))
    ]


def test_where_what_runs_grows_older_faster_than_a_head_waits_it_has_no_turn():
    assert None is line_of(_in_line(HOUR, 1200)).turn


def test_who_has_its_turn_and_who_is_not_in_line_awaits_none():
    assert None is line_of(_in_line(10 * LATE)).turn
    assert None is line_of(_in_line(HOUR - 1)).turn


def test_surplus_of_a_gang_that_runs_makes_no_head():
    grows = gang("grows", minimum=1, replicas=2, running=["n0"], passed_over=LATE)

    assert heads_of(ask(nodes(1), grows)) == ()


def test_priorities_at_the_ends_of_their_range_are_ordered():
    least, most = -(2**31), 2**31 - 1
    gangs = [
        large("least", minimum=1, priority=least, passed_over=9 * HOUR),
        large("most", minimum=1, priority=most),
        gang("small-least", priority=least, gpus=2),
        gang("small-most", priority=most, gpus=2),
    ]
    problem = ask(nodes(1), *gangs, policy=waiting(heads=2))
    first = only(problem)

    assert (first.key, first.start, first.nodes) == ("default/most", 0, (0,))
    assert started(problem) == {"most"}
