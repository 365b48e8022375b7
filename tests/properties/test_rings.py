"""
Gangs that look for each other in rings: who starts is held against trying all orders.
"""

import pytest

from benchmarks.quality import exact_vector, vector_of
from models.policy import Evict, Policy, Tier
from solver.round import decide
from solver.verify import verify
from tests.helpers.build import bind, plan
from tests.helpers.truth.brute_neighbours import (
    in_some_order,
    most_starts,
    ring_case,
    some_places,
)

CALM = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
POLICY = Policy(evict=CALM, tiers=(Tier(name="gangs"),))
FAST, SLOW = range(40), range(40, 600)
EACH = 40


def starts_of(found):
    return len({one.gang for one in found.operations})


def confirm(seed):
    given = ring_case(seed)
    most = most_starts(given)
    found = decide(given, POLICY)
    greedy = decide(given, POLICY, strategy="greedy")

    assert () == verify(given, POLICY, found)
    assert () == verify(given, POLICY, greedy)
    assert most == starts_of(found) >= starts_of(greedy)
    assert found.status in {"optimal", "idle"}
    assert exact_vector(given, POLICY) == vector_of(found)


def confirm_judge(seed):
    given = ring_case(seed)
    for places in some_places(given, seed):
        binds = [bind(f"{g.removeprefix('default/')}-0", n) for g, n in places.items()]
        rules = {one.rule for one in verify(given, POLICY, plan(*binds))}

        assert ("pods-near" in rules) is not in_some_order(given, places), places


@pytest.mark.drawn
@pytest.mark.parametrize("first", FAST[::EACH])
def test_what_is_proven_of_rings_is_the_most_of_all_orders(first):
    for seed in range(first, first + EACH):
        confirm(seed)


@pytest.mark.parametrize("first", FAST[::EACH])
def test_the_judge_takes_just_those_places_that_have_an_order(first):
    for seed in range(first, first + EACH):
        confirm_judge(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_what_is_proven_of_many_rings_is_the_most_of_all_orders(first):
    for seed in range(first, first + EACH):
        confirm(seed)
        confirm_judge(seed)
