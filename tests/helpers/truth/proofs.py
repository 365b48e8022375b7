"""
Hold what a plan calls proven: neither names nor the exact model know better.
"""

import pytest

from adapters.files import scenario_of
from exact import UndecidedError, best_round, first_worse
from solver.problem.problem import problem_of
from solver.round import decide
from solver.score.tiers import tier_keys
from tests.helpers.rounds.renamed import renamed


def read(document, seed=0):
    scenario = scenario_of("case", document)
    return scenario.snapshot, scenario.policy.model_copy(update={"seed": seed})


def plan_of(document, seed=0, strategy="solver"):
    snapshot, policy = read(document, seed)
    return decide(snapshot, policy, strategy=strategy)


def tiers_of(plan):
    return {(tier.name, tier.band): tier for tier in plan.tiers}


def proven(plan):
    """
    Give what a plan calls proven; measures of losses that are nothing are not listed.
    """
    return {
        key: tier.value
        for key, tier in tiers_of(plan).items()
        if tier.proof == "proven"
    }


def value(plan, key):
    tier = tiers_of(plan).get(key)
    return 0 if tier is None else tier.value


def first_lost(plan, other, keys):
    """
    Name the first tier that differs, where the other plan is better in it.
    """
    for key in keys:
        name = key.name, key.label
        mine, theirs = value(plan, name), value(other, name)
        if mine != theirs:
            return name if (theirs > mine) == (key.direction == "max") else None
    return None


def check_names(document, seed):
    plan = plan_of(document)
    other = plan_of(renamed(document, seed), seed=seed)

    assert proven(plan) == {key: value(other, key) for key in proven(plan)}
    assert proven(other) == {key: value(plan, key) for key in proven(other)}
    greedy = plan_of(document, strategy="greedy")
    assert first_lost(plan, greedy, tier_keys(problem_of(*read(document)))) is None


def check_outcomes(document):
    """
    Hold the part of a plan that is proven against the best of all outcomes.
    """
    snapshot, policy = read(document)
    check_best(snapshot, policy, decide(snapshot, policy))


def check_best(snapshot, policy, plan):
    try:
        exact = best_round(snapshot, policy, problem_of(snapshot, policy).shares, 30)
    except UndecidedError:
        pytest.skip("too many outcomes are equally good")
    shown = {key: tier.proof for key, tier in tiers_of(plan).items()}
    sure = [x for x in exact if shown.get(x[:2], "proven") == "proven"]

    assert first_worse({x[:2]: value(plan, x[:2]) for x in sure}, sure) is None
