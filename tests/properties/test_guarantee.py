"""
Clusters in pieces: quotas that are not used are taken up, and nothing false is proven.
"""

import pytest

from solver.next_snapshot import carry_out
from solver.round import decide
from tests.helpers.rounds.pieces import pieces_case
from tests.helpers.truth.proofs import check_names, check_outcomes, read

FEW = range(40)
MANY = range(1_000, 1_400)


def is_used(seed):
    plan = decide(*read(pieces_case(seed)))
    return any(line.guaranteed for line in plan.gangs)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FEW)
def test_no_outcome_is_better_than_what_is_proven(seed):
    check_outcomes(pieces_case(seed))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FEW)
def test_names_change_nothing_that_is_proven_and_greedy_is_no_better(seed):
    check_names(pieces_case(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_clusters_in_pieces_are_planned_as_the_exact_model_says(seed):
    check_outcomes(pieces_case(seed))
    check_names(pieces_case(seed), seed)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", FEW)
def test_whoever_took_up_a_quota_makes_nobody_leave_in_the_next_rounds(seed, strategy):
    snapshot, policy = read(pieces_case(seed))
    plan = decide(snapshot, policy, strategy=strategy)
    first = [step.pod for step in plan.operations if step.op in {"Evict", "Move"}]
    for _ in range(3 if first else 0):
        snapshot = carry_out(snapshot, plan, 60)
        plan = decide(snapshot, policy, strategy=strategy)

        assert [] == [s.pod for s in plan.operations if s.op in {"Evict", "Move"}]


def test_in_some_of_the_clusters_a_quota_is_taken_up():
    assert sum(map(is_used, FEW)) >= 3
