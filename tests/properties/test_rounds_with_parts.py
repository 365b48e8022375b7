"""
What is always true of rounds with parts of GPUs: their plans break no rule.
"""

import pytest

from solver import decide
from solver.problem.problem import problem_of
from solver.score.tiers import tier_keys
from tests.helpers.rounds.waiting_cases import with_sharers
from tests.helpers.truth.proofs import first_lost

SEEDS = (*range(8), 17, 42, 58)
"""
In 17 others are promised what whole GPUs leave, in 42 a node has too many choices, in
58 an entitled start waits for an instance while some leave for others.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["greedy", "solver"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_with_parts_is_planned_as_it_is_asked(seed, strategy):
    snapshot, policy = with_sharers(seed)

    assert decide(snapshot, policy, strategy=strategy).fallback is None


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(6, 12))
def test_greedy_is_no_better_in_the_first_tier_that_differs(seed):
    """
    In 8 the lasting plan of greedy starts more where the solver's tier keeps a gap.
    """
    snapshot, policy = with_sharers(seed)
    plan = decide(snapshot, policy)
    greedy = decide(snapshot, policy, strategy="greedy")

    keys = tier_keys(problem_of(snapshot, policy))
    assert first_lost(plan, greedy, keys) is None
