"""
What queues share is the same for who plans a round and for who only shows it.
"""

import pytest

from adapters.files import scenario_of
from adapters.ui.frame import FramesMemo, RoundFacts, frame_document
from solver import carry_out, decide, shared_out
from solver.problem.problem import problem_of
from tests.helpers.looked_at import seen_of
from tests.odd.rounds import odd_round

KINDS = ("one", "parts", "parts+full", "beside", "tied", "parts+stale", "timed")
FACTS = RoundFacts(name="one")


def drawn(kind, seed):
    scenario = scenario_of("odd", odd_round(f"{kind}-shares-{seed}"))
    return scenario.snapshot, scenario.policy


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("kind", KINDS)
def test_who_only_shows_a_round_shares_out_as_who_plans_it(kind, seed):
    given, policy = drawn(kind, seed)

    planned, shown = problem_of(given, policy), shared_out(given, policy, devices=False)

    assert (planned.shares, planned.blocked) == (shown.shares, shown.blocked)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["one", "parts", "parts+full", "tied"])
def test_a_frame_is_the_same_whatever_was_kept_of_frames_before(kind, seed):
    given, policy = drawn(kind, seed)
    memo = FramesMemo()
    for _ in range(3):
        plan = decide(given, policy, strategy="greedy")
        for each in (None, plan):
            fresh = frame_document(seen_of(given), each, FACTS)

            assert fresh == frame_document(seen_of(given), each, FACTS, memo)
        given = carry_out(given, plan, 60)
