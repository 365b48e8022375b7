"""
What is always true of cores: they forbid, and none of their rules is there in vain.
"""

from contextlib import suppress

import pytest

from exact import UndecidedError
from models.verdicts import Verdict
from solver.fallback import decide_or_fall_back
from solver.why.why_waits import why_waits
from tests.helpers.true_whys import TrueWhy
from tests.helpers.waiting_cases import CASES

FAST, SLOW = range(20), range(20, 340)
EACH = 10


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


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_a_core_forbids_the_start_and_has_no_rule_in_vain(case, first):
    confirm(case, first)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_many_cores_forbid_the_start_and_have_no_rule_in_vain(case, first):
    confirm(case, first)
