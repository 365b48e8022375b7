"""
Pods beside others on random small cases: near, apart, spread, and what they prefer.
"""

from dataclasses import replace

import pytest

from adapters.files import scenario_of
from benchmarks.cases.beside import preferring, with_neighbours
from benchmarks.cases.victims import victim_case
from benchmarks.planned import decide_alone
from benchmarks.quality import exact_vector, vector_of
from exact import best_first_step, best_later, best_second_step, worse_in_a_step
from models.gangs import pod_sets
from models.policy import Evict, Policy, Tier
from solver.next_snapshot import carry_out
from solver.problem.problem import problem_of
from solver.round import decide
from solver.verify import verify
from tests.helpers.rounds.cases import random_snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
TIERS = ("entitled", "disruption", "borrowing", "topology", "neighbours", "surplus")
POLICY = Policy(evict=CALM, tiers=tuple(Tier(name=name) for name in TIERS))


def beside(seed, *, only_preferred=False):
    snapshot = random_snapshot(seed)
    gangs = with_neighbours(f"case-{seed}", snapshot.gangs, 1.0)
    if only_preferred:
        gangs = preferring(gangs)
    return replace(snapshot, gangs=tuple(gangs))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(12))
def test_what_pods_prefer_is_weighed_as_the_exact_model_weighs_it(seed):
    snapshot = beside(seed, only_preferred=True)

    assert exact_vector(snapshot, POLICY) == vector_of(decide(snapshot, POLICY))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(20, 40))
def test_what_is_proven_of_pods_beside_others_is_what_the_exact_model_says(seed):
    snapshot = beside(seed)
    plan = decide(snapshot, POLICY)
    exact = exact_vector(snapshot, POLICY)

    assert () == verify(snapshot, POLICY, plan)
    assert plan.status != "optimal" or exact == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [1, 23, 46, 136, 138, 261])
def test_the_best_plan_is_proven_where_one_pod_must_be_the_first_of_its_like(seed):
    snapshot = beside(seed)
    plan = decide(snapshot, POLICY)

    assert plan.status == "optimal"
    assert exact_vector(snapshot, POLICY) == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [*range(24), 7005])
def test_who_leaves_for_pods_beside_others_is_what_the_exact_model_says(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    policy = scenario.policy
    gangs = with_neighbours(f"case-{seed}", scenario.snapshot.gangs, 1.0)
    snapshot = replace(scenario.snapshot, gangs=tuple(gangs))
    shares = problem_of(snapshot, policy).shares
    plan = decide_alone(snapshot, policy)
    exact = best_first_step(snapshot, policy, shares)
    second = best_second_step(snapshot, policy, shares, plan)
    later = best_later(snapshot, policy, shares, plan)

    assert () == verify(snapshot, policy, plan)
    assert exact is not None
    assert later is not None
    assert second is not None
    assert worse_in_a_step(vector_of(plan), exact, second, later) is None


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [6, 8, 12, 18, 24, 25, 29, 31, 40])
def test_who_moves_beside_others_gets_its_place(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    policy = scenario.policy
    gangs = with_neighbours(f"case-{seed}", scenario.snapshot.gangs, 1.0)
    snapshot = replace(scenario.snapshot, gangs=tuple(gangs))
    beside = {one.key for one in gangs if any(x.neighbours for x in pod_sets(one.tree))}
    plan = decide(snapshot, policy)
    moved = {
        step.pod: step.node
        for step in plan.operations
        if step.op == "Move" and step.gang in beside
    }
    after = carry_out(snapshot, plan, 60)
    then = decide(after, policy)

    assert moved
    assert () == verify(snapshot, policy, plan)
    assert () == verify(after, policy, then)
    assert moved.items() <= {step.pod: step.node for step in then.operations}.items()


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(20, 40))
def test_greedy_puts_pods_beside_others_by_the_rules(seed):
    snapshot = beside(seed)

    assert () == verify(snapshot, POLICY, decide(snapshot, POLICY, strategy="greedy"))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(10))
def test_what_is_preferred_changes_nothing_where_the_policy_does_not_ask(seed):
    snapshot = random_snapshot(seed)
    gangs = preferring(with_neighbours(f"case-{seed}", snapshot.gangs, 1.0))
    plan = decide(replace(snapshot, gangs=tuple(gangs)), Policy(evict=CALM))

    assert vector_of(decide(snapshot, Policy(evict=CALM))) == vector_of(plan)


def test_the_judge_leaves_open_whether_who_is_kept_away_asks_for_a_share():
    scenario = scenario_of("case-11", victim_case(11))
    gangs = with_neighbours("case-11", scenario.snapshot.gangs, 1.0)
    snapshot = replace(scenario.snapshot, gangs=tuple(gangs))

    assert () == verify(snapshot, scenario.policy, decide(snapshot, scenario.policy))
