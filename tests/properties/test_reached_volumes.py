"""
Free volumes that several nodes reach, on random small cases, against all the rest.
"""

import pytest

from adapters.files import scenario_of
from benchmarks.cases.reached import (
    with_shared_claims,
    with_shared_slots,
    with_volumes,
)
from benchmarks.cases.victims import victim_case
from benchmarks.planned import decide_alone
from benchmarks.quality import exact_vector, vector_of
from exact import best_first_step, best_later, first_worse
from models.policy import Evict, Policy, Tier
from solver.problem.problem import problem_of
from solver.round import decide
from solver.verify import verify
from tests.helpers.rounds.cases import random_snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
TIERS = ("entitled", "disruption", "borrowing", "topology", "surplus")
POLICY = Policy(evict=CALM, tiers=tuple(Tier(name=name) for name in TIERS))


ALONE = [(with_volumes, seed) for seed in range(60)]
BY_HAND = [(with_volumes, seed) for seed in range(60, 100)]
SHARED = [(with_shared_claims, seed) for seed in range(100, 300)]
SLOTS = [(with_shared_slots, seed) for seed in range(300, 340)]
LEFT = [(with_volumes, seed) for seed in range(24)]
LEFT += [(with_shared_claims, seed) for seed in range(24, 48)]
LEFT += [(with_shared_slots, seed) for seed in range(48, 72)]


@pytest.mark.drawn
@pytest.mark.parametrize(("made", "seed"), ALONE + SHARED + SLOTS)
def test_the_plan_is_proven_and_the_best_of_the_exact_model(made, seed):
    snapshot = made(f"case-{seed}", random_snapshot(seed))
    plan = decide(snapshot, POLICY)

    assert () == verify(snapshot, POLICY, plan)
    assert plan.status == "optimal"
    assert exact_vector(snapshot, POLICY) == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize(("made", "seed"), BY_HAND + SHARED + SLOTS)
def test_greedy_gives_each_claim_a_volume(made, seed):
    snapshot = made(f"case-{seed}", random_snapshot(seed))

    assert () == verify(snapshot, POLICY, decide(snapshot, POLICY, strategy="greedy"))


@pytest.mark.drawn
@pytest.mark.parametrize(("made", "seed"), LEFT)
def test_who_leaves_for_claims_is_what_the_exact_model_says(made, seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    policy = scenario.policy
    snapshot = made(f"case-{seed}", scenario.snapshot)
    shares = problem_of(snapshot, policy).shares
    plan = decide_alone(snapshot, policy)
    exact = best_first_step(snapshot, policy, shares)
    later = best_later(snapshot, policy, shares, plan)

    assert () == verify(snapshot, policy, plan)
    assert exact is not None
    assert later is not None
    assert first_worse(vector_of(plan), (*exact, *later)) is None
