"""
When gangs end: at the latest, and likely.
"""

import pytest

from models.gangs import RunKind
from models.memory.run_times import RunTimes, bin_of, kind_of
from solver.run_times.time_left import RunTimeForecast, TimeLeft
from tests.helpers.build import gang

HOUR = 3600
KIND = kind_of("default", "default", 1)


def recorded(*hours: int, kind: RunKind = KIND) -> RunTimes:
    """
    Count twenty gangs of a kind that ended after each of some hours.
    """
    return RunTimes({kind: {bin_of(h * HOUR): 20 for h in hours}})


def about(hours: float) -> object:
    """
    Give what is the same as some hours, as bins tell times apart.
    """
    return pytest.approx(hours * HOUR, rel=0.2)


def running(seconds: int, **fields):
    one = gang("a", running=["n0"], minimum=1, **fields)
    pod = one.tree.pods[0]
    object.__setattr__(pod, "seconds", seconds)
    return one


def test_nothing_is_known_without_a_record():
    assert TimeLeft() == RunTimeForecast(RunTimes()).of(gang("a"))


def test_what_waits_is_told_how_long_its_like_ran():
    left = RunTimeForecast(recorded(1, 2, 4, 8, 16)).of(gang("a"))

    assert (about(4), about(16), about(16), 100) == (
        left.half,
        left.most,
        left.nearly,
        left.like,
    )


def test_what_runs_is_compared_with_those_that_ran_for_longer():
    left = RunTimeForecast(recorded(1, 2, 4, 8, 16)).of(running(5 * HOUR))

    assert (about(12), about(12), 40) == (left.half, left.most, left.like)


def test_nothing_is_later_than_the_longest_run_time():
    left = RunTimeForecast(recorded(8)).of(running(HOUR, max_runtime=3 * HOUR))

    assert (2 * HOUR, 2 * HOUR, 2 * HOUR) == (left.latest, left.half, left.nearly)


def test_the_longest_run_time_alone_says_when_it_ends_at_the_latest():
    left = RunTimeForecast(RunTimes()).of(running(5 * HOUR, max_runtime=3 * HOUR))

    assert (0, 0) == (left.latest, left.half)


@pytest.mark.parametrize(
    ("kind", "like"),
    [
        (KIND, 20),
        (kind_of("default", "other", 1), 20),
        (kind_of("other", "other", 1), 20),
        (kind_of("other", "other", 8), 20),
    ],
)
def test_where_too_few_are_alike_less_must_be_the_same(kind, like):
    left = RunTimeForecast(recorded(1, kind=kind)).of(gang("a"))

    assert (about(1), like) == (left.half, left.like)


def test_those_of_its_own_size_come_before_all_others():
    others = recorded(9, kind=kind_of("default", "default", 8)).ended
    record = RunTimes({**recorded(1).ended, **others})

    assert about(1) == RunTimeForecast(record).of(gang("a")).half


def test_a_few_say_nothing():
    record = RunTimes({KIND: {bin_of(HOUR): 18}})

    assert TimeLeft() == RunTimeForecast(record).of(gang("a"))


def test_a_gang_may_say_whose_run_times_its_own_are_like():
    kind = kind_of("theirs", "them", 8)
    record = RunTimes({**recorded(1).ended, **recorded(9, kind=kind).ended})

    one = gang("a", runs_like=kind)
    assert about(9) == RunTimeForecast(record).of(one).half
