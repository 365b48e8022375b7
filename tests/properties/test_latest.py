"""
What is always true of "at the latest": played to its end, it is never too early.
"""

from random import Random

import pytest

from solver import decide_or_fall_back
from tests.helpers.rounds.limited_racks import limited_racks
from tests.helpers.rounds.waiting_cases import CASES
from tests.helpers.rounds.young_runners import young_runners
from tests.helpers.truth.true_latest import problems_of_starts
from tests.why_campaign import complaints

FAST, SLOW = range(20), range(20, 270)
EACH = 10
FOUND = (70, 90)
"""
Rounds in racks, in one of ten of which others had split each rack by then.
"""
YOUNG = (820,)
"""
Rounds in which who may be evicted at last depended on what else still ran.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_who_is_told_a_latest_start_has_started_by_then(case, first):
    for seed in range(first, first + EACH):
        assert [] == complaints(case, seed, only="starts", hasty=True), seed


def test_who_ends_before_it_could_start_is_told_no_start():
    assert [] == complaints("random", 30163, only="starts")


def test_no_latest_start_rests_on_neighbours_that_end():
    assert [] == complaints("beside", 15, only="starts")


@pytest.mark.drawn
@pytest.mark.parametrize("first", [*FAST[::EACH], *FOUND])
def test_no_latest_start_rests_on_where_others_are_placed(first):
    for seed in range(first, first + EACH):
        snapshot, policy = limited_racks(seed)
        plan = decide_or_fall_back(snapshot, policy)

        assert [] == [*problems_of_starts(snapshot, policy, plan)], seed


@pytest.mark.parametrize("first", [*FAST[::EACH], *YOUNG])
def test_no_latest_start_rests_on_who_still_runs_when_others_may_be_evicted(first):
    for seed in range(first, first + EACH):
        snapshot, policy = young_runners(seed)
        plan = decide_or_fall_back(snapshot, policy)

        for ended in (None, Random(f"{seed}-1"), Random(f"{seed}-2")):
            found = problems_of_starts(snapshot, policy, plan, ended)
            assert [] == [*found], seed


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_many_who_are_told_a_latest_start_have_started_by_then(case, first):
    for seed in range(first, first + EACH):
        assert [] == complaints(case, seed, only="starts"), seed
