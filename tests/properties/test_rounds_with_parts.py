"""
What is always true of rounds with parts of GPUs: their plans break no rule.
"""

import pytest

from solver import decide
from tests.helpers.rounds.waiting_cases import with_sharers

SEEDS = (*range(8), 17, 42, 58)
"""
In 17 others are promised what whole GPUs leave, in 42 a node has too many choices, in
58 an entitled start waits for an instance while some leave for others.
"""


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_with_parts_is_planned_as_it_is_asked(seed, strategy):
    snapshot, policy = with_sharers(seed)

    assert decide(snapshot, policy, strategy=strategy).fallback is None
