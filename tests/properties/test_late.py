"""
The tier of those who are late, against the exact model, on random small cases.
"""

from dataclasses import replace
from random import Random

import pytest

from benchmarks.quality import exact_vector, vector_of
from exact import check_feasible
from models.policy import Policy, Tier, WaitingPolicy
from solver.problem.problem import problem_of
from solver.round import decide
from solver.verify import verify
from tests.helpers.rounds.cases import random_snapshot
from tests.properties.test_round import CALM, placement_of

DAY = 86_400
OTHERS = (Tier(name="entitled"), Tier(name="borrowing"), Tier(name="packing"))


def waited(seed):
    """
    Give a random case whose gangs were passed over for up to four days.
    """
    snapshot, random = random_snapshot(seed), Random(seed)
    gangs = (replace(g, passed_over=random.randrange(4) * DAY) for g in snapshot.gangs)
    return replace(snapshot, gangs=tuple(gangs))


def wanting(*tiers):
    return Policy(evict=CALM, waiting=WaitingPolicy(heads=0), tiers=tiers)


@pytest.mark.drawn
@pytest.mark.parametrize("gpus", [None, 2, 4])
@pytest.mark.parametrize("seed", range(3000, 3040))
def test_whole_vector_equals_the_exact_model(seed, gpus):
    snapshot = waited(seed)
    late = Tier(name="late", after=2 * DAY, gpus=gpus)

    for policy in (wanting(late, Tier(name="gangs")), wanting(*OTHERS, late)):
        plan = decide(snapshot, policy)

        assert () == verify(snapshot, policy, plan)
        assert exact_vector(snapshot, policy) == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", range(3040, 3060))
def test_values_are_what_the_exact_model_says(seed, strategy):
    snapshot = waited(seed)
    policy = wanting(Tier(name="late", after=DAY, gpus=2), *OTHERS)
    plan = decide(snapshot, policy, strategy=strategy)
    shares = problem_of(snapshot, policy).shares
    values = check_feasible(snapshot, policy, shares, placement_of(plan))

    assert values is not None
    assert {(n, b): v for n, b, v in values if v} == vector_of(plan)
