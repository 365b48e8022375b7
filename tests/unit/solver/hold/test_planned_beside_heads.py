"""
Rounds beside heads: planned once where nobody comes to what is held, and else again.
"""

import pytest

from models.policy import Policy
from solver.effort.budget import Budget, Stopwatch
from solver.hold.heads import heads_of
from solver.plan.serve_heads import BesideHeads, start_heads
from solver.search.greedy_steps import plan_greedily
from solver.search.round_steps import search
from tests.helpers.build import gang, nodes
from tests.helpers.rounds.heads import ask, busy, large


def planned(strategy, *small):
    """
    Plan beside a head that waits for two nodes, one of them free: in how many rounds?
    """
    calls = []

    def plan(problem, budget):
        calls.append(problem)
        return strategy(problem, budget)

    problem = ask(nodes(3), busy("full", "n0", gpus=8), busy("half", "n1"), *small)
    heads = heads_of(problem)
    assert [("default/large", (0, 2))] == [(head.key, head.nodes) for head in heads]
    budget = Budget(Policy().limits, 0, Stopwatch(None))
    found = start_heads(problem, heads, BesideHeads(plan, problem, budget))
    places = {key: set(rows.nodes) for key, rows in found.draft.places.items()}
    return places, len(calls), {tier.proof for tier in found.tiers}


@pytest.mark.parametrize("strategy", [search, plan_greedily])
def test_a_round_in_which_nobody_comes_to_held_nodes_is_planned_once(strategy):
    small = gang("small", gpus=4, minimum=1)
    places, calls, _ = planned(strategy, large(), small)

    assert ({"default/small": {1}}, 1) == (places, calls)


@pytest.mark.parametrize("strategy", [search, plan_greedily])
def test_a_round_in_which_somebody_would_is_planned_again(strategy):
    small = gang("small", gpus=8, minimum=1)
    places, calls, proofs = planned(strategy, large(), small)

    assert ({}, 2) == (places, calls)
    assert "conditional" in proofs or strategy is plan_greedily


def test_who_may_be_where_nodes_are_held_is_no_reason_to_plan_again():
    higher = gang("higher", gpus=8, minimum=1, priority=1)
    small = gang("small", gpus=4, minimum=1)
    places, calls, proofs = planned(search, large(), higher, small)

    assert ({"default/higher": {2}, "default/small": {1}}, 1) == (places, calls)
    assert {"proven"} == proofs
