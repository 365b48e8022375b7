"""
What is always true of cores: they forbid, and none of their rules is there in vain.
"""

from contextlib import suppress

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from exact import UndecidedError
from models.policy import Policy
from models.verdicts import Verdict
from solver.fallback import decide_or_fall_back
from solver.why.why_waits import why_waits
from tests.helpers.cases import random_snapshot
from tests.helpers.odd_trees import alike_snapshot, odd_snapshot
from tests.helpers.true_whys import TrueWhy

FAST, SLOW = range(20), range(20, 340)
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
    undecided = 0
    for seed in range(first, first + EACH):
        snapshot, policy = CASES[case](seed)
        plan = decide_or_fall_back(snapshot, policy)
        truth = TrueWhy(snapshot, policy, plan)
        for line in plan.gangs:
            if line.state != "Waiting":
                continue
            why = why_waits(snapshot, policy, plan, line.name)
            undecided += why.verdict is Verdict.UNDECIDED
            with suppress(UndecidedError):
                assert [] == truth.problems(why), seed
    assert not undecided


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_a_core_forbids_the_start_and_has_no_rule_in_vain(case, first):
    confirm(case, first)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_many_cores_forbid_the_start_and_have_no_rule_in_vain(case, first):
    confirm(case, first)
