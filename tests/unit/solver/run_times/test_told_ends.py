"""
What is told of ends follows what comes true.
"""

from random import Random

import pytest

from models.memory.run_times import (
    FIRST_LEVELS,
    MOST_LEVEL,
    RunTimes,
    bin_of,
    kind_of,
    ran_class,
)
from solver.run_times.time_left import RunTimeForecast
from solver.run_times.told_ends import ToldEnds

HOUR = 3600
KIND = kind_of("default", "default", 1)
FROM_ONE_TO_TEN = RunTimes({KIND: {bin_of(h * HOUR): 10 for h in range(1, 11)}})


def test_an_end_moves_the_levels_of_all_that_it_was_told():
    memory = ToldEnds(FROM_ONE_TO_TEN)
    memory.begins("a", KIND, 0, 0)
    memory.passes(0.5 * HOUR)
    memory.ends("a", 0.6 * HOUR)

    sooner = (FIRST_LEVELS[0] - 50, FIRST_LEVELS[1] - 20, FIRST_LEVELS[2] - 5)
    assert {0: sooner, 1: sooner} == memory.record.levels


def test_what_runs_on_moves_nothing_before_it_has_ended():
    memory = ToldEnds(FROM_ONE_TO_TEN)
    memory.begins("a", KIND, 0, 0)
    memory.passes(50 * HOUR)

    assert {} == memory.record.levels

    memory.ends("a", 50 * HOUR)
    later = (FIRST_LEVELS[0] + 50, FIRST_LEVELS[1] + 80, FIRST_LEVELS[2] + 95)
    assert later == memory.record.levels[0]


def test_who_was_made_to_leave_says_nothing():
    memory = ToldEnds(FROM_ONE_TO_TEN)
    memory.begins("a", KIND, 0, 0)
    memory.ends("a", HOUR, made_to_leave=0.9 * HOUR)

    assert memory.record == FROM_ONE_TO_TEN


def test_one_that_begins_again_is_told_anew():
    memory = ToldEnds(FROM_ONE_TO_TEN)
    memory.begins("a", KIND, 0, 0)
    memory.begins("a", KIND, HOUR, HOUR)
    memory.passes(HOUR + 1)
    memory.ends("a", HOUR + 60)

    assert {0} == set(memory.record.levels)


def test_a_level_ends_where_nothing_more_could_be_told():
    record = FROM_ONE_TO_TEN
    for _ in range(2000):
        record = record.judged(0, (False, False, False))

    assert (MOST_LEVEL,) * 3 == record.levels_of(0)
    assert RunTimeForecast(record).told(KIND, 0) is not None


@pytest.mark.parametrize("ran", [0, 600, 7200, 90000])
def test_gangs_that_have_run_for_as_long_have_levels_of_their_own(ran):
    record = FROM_ONE_TO_TEN.judged(ran, (True, True, True))

    assert {ran_class(ran)} == set(record.levels)


def test_a_drift_that_the_counts_lag_behind_is_told_right_again():
    memory, chance, kept = ToldEnds(), Random(1), [0, 0, 0]
    for at in range(12000):
        now, seconds = at * 2 * HOUR, round(HOUR * 1.0003**at * chance.random()) + 60
        told = RunTimeForecast(memory.record).told(KIND, 0)
        if at >= 6000:
            assert told is not None
            kept = [n + (seconds <= by) for n, by in zip(kept, told, strict=True)]
        memory.begins(str(at), KIND, now, now)
        memory.passes(now + min(seconds, 600))
        memory.ends(str(at), now + seconds)

    assert [50, 80, 95] == pytest.approx([n / 60 for n in kept], abs=3)
