"""
Who has devices by claim leaves for who waits for any others: who must, and nobody else.
"""

import pytest

from models.policy import Evict, Policy
from solver.round import decide
from tests.helpers.rounds.claim_holders import ClaimHolders

SEEDS = range(300)
EVICTS = Policy(evict=Evict(consolidate=False))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_those_leave_whose_devices_are_needed_and_nobody_else(seed):
    world = ClaimHolders(seed)
    for strategy in ("solver", "greedy"):
        plan = decide(world.snapshot(), EVICTS, strategy=strategy)
        gone = {
            step.pod.partition("/")[2] for step in plan.operations if step.op == "Evict"
        }
        got = any(step.op in {"Bind", "Reserve"} for step in plan.operations)

        least = world.least()
        assert got or least is None
        assert not got or world.starts_without(gone)
        assert not any(world.starts_without(gone - {one}) for one in gone)
