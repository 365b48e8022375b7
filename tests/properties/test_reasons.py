"""
What is always true of reasons: what a waiting gang is told holds, by the exact model.
"""

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from models.policy import Policy
from solver.fallback import decide_or_fall_back
from tests.helpers.cases import random_snapshot
from tests.helpers.odd_trees import alike_snapshot, odd_snapshot
from tests.helpers.true_reasons import Truth

FAST, SLOW = range(40), range(40, 760)
EACH = 10


def with_victims(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    return scenario.snapshot, scenario.policy


def alone(make):
    return lambda seed: (make(seed), Policy())


CASES = {
    "random": alone(random_snapshot),
    "odd": alone(odd_snapshot),
    "alike": alone(alike_snapshot),
    "victims": with_victims,
}


def confirm(case, first):
    for seed in range(first, first + EACH):
        snapshot, policy = CASES[case](seed)
        for strategy in ("solver", "greedy"):
            plan = decide_or_fall_back(snapshot, policy, strategy=strategy)

            assert [] == Truth(snapshot, policy, plan).untrue(), (seed, strategy)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_what_a_waiting_gang_is_told_is_true(case, first):
    confirm(case, first)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_what_many_waiting_gangs_are_told_is_true(case, first):
    confirm(case, first)
