"""
Claims: tiers locked at what the model's answer comes to, which is decoded once.
"""

from dataclasses import replace

import pytest

from adapters.files import read_scenario
from adapters.machine.threads import ThreadLanes
from models.policy import Limits, Policy
from solver.decode.reading import read
from solver.effort.budget import Budget, Stopwatch
from solver.place.draft import Draft
from solver.problem.problem import problem_of
from solver.round import decide
from solver.search.claims import ClaimedTiers
from solver.search.tier_search import TierSearch
from solver.tuning import DEFAULT, Search
from tests.helpers.build import gang, node, snapshot
from tests.helpers.rounds.cases import random_snapshot

BY_CLAIMS = replace(DEFAULT, search=Search(small_model=-1))
UNPACKED = "scenarios/packing/a-packing-that-fails-gives-way-to-the-next-best.yaml"


def differences(case, policy):
    """
    Name the tiers that are proven either way and come to something else.
    """
    one, other = (
        decide(case, policy, tuning=tuning) for tuning in (DEFAULT, BY_CLAIMS)
    )
    return [
        (mine.name, mine.value, theirs.value)
        for mine, theirs in zip(one.tiers, other.tiers, strict=True)
        if mine.proof == theirs.proof == "proven" and mine.value != theirs.value
    ]


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(3000, 3040))
def test_what_is_proven_by_claims_is_what_is_proven_by_plans(seed):
    assert [] == differences(random_snapshot(seed), Policy())


def test_counts_that_cannot_be_packed_are_left_to_the_search_by_plans():
    scenario = read_scenario(UNPACKED)

    assert [] == differences(scenario.snapshot, scenario.policy)


@pytest.mark.parametrize(("tuning", "most"), [(BY_CLAIMS, 1), (DEFAULT, 9)])
def test_answers_of_large_models_are_decoded_once(tuning, most, monkeypatch):
    calls = []

    def counted(*args):
        calls.append(args)
        return read(*args)

    monkeypatch.setattr("solver.search.tier_search.read", counted)
    gangs = [
        gang(f"g{i}", gpus=3 + i % 3, minimum=1 + i % 2, replicas=2 + i % 2)
        for i in range(12)
    ]
    nodes = [node("small", 5), *(node(f"n{i}", 8) for i in range(3))]

    plan = decide(snapshot(nodes, gangs), Policy(), tuning=tuning)

    assert {"proven"} == {tier.proof for tier in plan.tiers}
    assert 1 <= len(calls) <= most


def test_small_models_are_decoded_tier_by_tier(monkeypatch):
    asked = []
    monkeypatch.setattr(ClaimedTiers, "_adopt", lambda *args: asked.append(args))

    decide(random_snapshot(3001), Policy())

    assert [] == asked


def test_claims_that_no_plan_keeps_bound_nothing_that_comes_after(monkeypatch):
    problem = problem_of(random_snapshot(3012), Policy())
    problem = replace(problem, tuning=BY_CLAIMS)
    search = TierSearch(
        problem, Draft(), Budget(Limits(), 0, Stopwatch(None, ThreadLanes()))
    )
    monkeypatch.setattr("solver.search.tier_search.read", lambda *_: (Draft(), ()))
    search.model.ready(0, search.best.values)
    unlocked = search.model.size.constraints

    done = search._by_claims()

    assert 0 == done == search.best.values[0] < search.best.bounds[0]
    assert search.best.trivial[1:] == search.best.bounds[1:]
    search.model.ready(0, search.best.values)
    assert unlocked == search.model.size.constraints
