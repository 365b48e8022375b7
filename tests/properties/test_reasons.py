"""
What is always true of reasons: what a waiting gang is told holds, by the exact model.
"""

import pytest

from solver.fallback import decide_or_fall_back
from tests.helpers.rounds.waiting_cases import CASES, in_haste, with_sharers
from tests.helpers.truth.true_reasons import Truth

FAST, SLOW = range(40), range(40, 760)
EACH = 10


def confirm(make, first, *, hasty=False):
    for seed in range(first, first + EACH):
        snapshot, usual = make(seed)
        policy = in_haste(usual) if hasty else usual
        for strategy in ("solver", "greedy"):
            plan = decide_or_fall_back(snapshot, policy, strategy=strategy)

            assert [] == Truth(snapshot, policy, plan).untrue(), (seed, strategy)


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_what_a_waiting_gang_is_told_is_true(case, first):
    confirm(CASES[case], first, hasty=True)


@pytest.mark.drawn
@pytest.mark.parametrize("first", FAST[::EACH])
def test_what_a_gang_is_told_beside_parts_of_gpus_is_true(first):
    confirm(with_sharers, first, hasty=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_what_many_waiting_gangs_are_told_is_true(case, first):
    confirm(CASES[case], first)


@pytest.mark.slow
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_what_many_gangs_are_told_beside_parts_of_gpus_is_true(first):
    confirm(with_sharers, first)
