"""
What typical pods could not use: the solver and the exact model agree on small rounds.
"""

import pytest

from benchmarks.cases.device_parts import with_parts
from benchmarks.cases.small import random_snapshot
from benchmarks.quality import exact_vector, vector_of
from models.policy import Evict, Policy, Tier
from solver.round import decide

TIERS = ("entitled", "borrowing", "surplus", "expected-fragments", "packing")
NOBODY_LEAVES = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
POLICY = Policy(tiers=tuple(Tier(name=name) for name in TIERS), evict=NOBODY_LEAVES)


@pytest.mark.parametrize("seed", [1, 4, 7, 9, 10])
def test_small_rounds_leave_as_little_as_the_exact_model(seed):
    given = with_parts(random_snapshot(seed), seed)

    assert vector_of(decide(given, POLICY)) == exact_vector(given, POLICY)
