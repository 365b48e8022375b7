"""
Clusters in pieces: quotas that are not used are taken up, and nothing false is proven.
"""

import pytest

from adapters.files import scenario_of
from exact import UndecidedError, best_round, first_worse
from solver.next_snapshot import carry_out
from solver.problem.problem import problem_of
from solver.round import decide
from tests.helpers.pieces import pieces_case
from tests.properties.test_choices import check, tiers_of, value

FEW = range(40)
MANY = range(1_000, 1_400)


def read(document):
    scenario = scenario_of("case", document)
    return scenario.snapshot, scenario.policy


def hold_exactly(document):
    snapshot, policy = read(document)
    plan = decide(snapshot, policy)
    try:
        exact = best_round(snapshot, policy, problem_of(snapshot, policy).shares, 30)
    except UndecidedError:
        pytest.skip("too many outcomes are equally good")
    shown = {key: tier.proof for key, tier in tiers_of(plan).items()}
    sure = [x for x in exact if shown.get(x[:2], "proven") == "proven"]

    assert first_worse({x[:2]: value(plan, x[:2]) for x in sure}, sure) is None


def is_used(seed):
    plan = decide(*read(pieces_case(seed)))
    return any(line.guaranteed for line in plan.gangs)


@pytest.mark.parametrize("seed", FEW)
def test_no_outcome_is_better_than_what_is_proven(seed):
    hold_exactly(pieces_case(seed))


@pytest.mark.parametrize("seed", FEW)
def test_names_change_nothing_that_is_proven_and_greedy_is_no_better(seed):
    check(pieces_case(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_clusters_in_pieces_are_planned_as_the_exact_model_says(seed):
    hold_exactly(pieces_case(seed))
    check(pieces_case(seed), seed)


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
