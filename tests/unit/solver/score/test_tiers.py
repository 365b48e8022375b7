"""
Tiers: each has one record, and no tier has another one's bound.
"""

from typing import get_args

import pytest

from models.policy import Policy, TierName
from solver.encode.tier_rows import tier_sum
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import problem_of
from solver.score.tier import LOSSES, LossName, TierKey, tier_of
from solver.score.tiers import score, tier_keys, trivial_bound, value_of
from tests.helpers.build import gang, nodes, snapshot
from tests.helpers.rounds.cases import random_snapshot

NAMES = ("asked", *get_args(TierName), *get_args(LossName))
ONE = snapshot(nodes(1), [gang("a", minimum=1)])


def unknown():
    return TierKey("carbon", range(0), None, "min", 0.0)


@pytest.mark.parametrize("name", dict.fromkeys(NAMES))
def test_every_tier_has_a_record_and_rows(name):
    problem = problem_of(ONE, Policy())
    key = TierKey(name, range(1), None, tier_of(name).direction, 0.0)

    assert tier_of(name).direction == key.direction
    assert tier_sum(problem, [], key).constant == value_of(problem, Draft(), key)


def test_what_is_lost_is_named_once():
    assert set(get_args(LossName)) == set(LOSSES)


def test_a_tier_that_nobody_knows_has_no_bound_instead_of_that_of_another():
    with pytest.raises(AssertionError, match="carbon"):
        trivial_bound(problem_of(ONE, Policy()), unknown())


def test_a_tier_that_nobody_knows_has_no_rows():
    with pytest.raises(AssertionError, match="carbon"):
        tier_sum(problem_of(ONE, Policy()), [], unknown())


def every_tier():
    late = {"name": "late", "after": 60}
    names = [name for name in get_args(TierName) if name not in {"late", "order"}]
    return Policy.model_validate({"tiers": [*names, late]})


@pytest.mark.parametrize("seed", range(60))
def test_no_draft_is_better_than_the_bound_of_its_tier(seed):
    problem = problem_of(random_snapshot(seed), every_tier())
    keys = tier_keys(problem)
    for draft in (Draft(), greedy(problem)):
        for key, value in zip(keys, score(problem, draft), strict=True):
            bound = trivial_bound(problem, key)
            better = value > bound if key.direction == "max" else value < bound
            assert not better, (key, value, bound)


def test_one_gang_that_starts_reaches_its_own_bound_in_each_tier():
    problem = problem_of(ONE, every_tier())
    keys = tier_keys(problem)
    reached = {
        key.name
        for key, value in zip(keys, score(problem, greedy(problem)), strict=True)
        if value == trivial_bound(problem, key)
    }

    assert {"entitled", "gpus", "pods", "gangs", "order", "surplus"} <= reached
