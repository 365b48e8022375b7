"""
What is always true of gangs that are told that they can never start as written.

Neither the model nor the judge sees a gang that was left out before: a wrong block is
a false proof.  So the exact model is asked about each of them by itself.
"""

import pytest

from exact import could_start, gather
from models.policy import Policy
from models.why.reasons import Reason
from solver.problem.problem import problem_of
from tests.helpers.rounds.cases import random_snapshot
from tests.helpers.rounds.odd_trees import alike_snapshot, odd_snapshot

NEVER = {
    Reason.NO_FITTING_NODE,
    Reason.DEMAND_EXCEEDS_CLUSTER,
    Reason.TOPOLOGY_TOO_SMALL,
    Reason.QUOTA_EXCEEDS_MAXIMUM,
}
FAST, SLOW = range(120), range(120, 1000)
EACH = 20


def wrongly_blocked(snapshot):
    blocked = problem_of(snapshot, Policy()).blocked
    facts = gather(snapshot)
    return [
        (key, waiting.reason)
        for key, waiting in blocked.items()
        if waiting.reason in NEVER and could_start(facts, key)
    ]


def confirm(first):
    for seed in range(first, first + EACH):
        for make in (random_snapshot, odd_snapshot, alike_snapshot):
            assert [] == wrongly_blocked(make(seed)), (make.__name__, seed)


@pytest.mark.drawn
@pytest.mark.parametrize("first", FAST[::EACH])
def test_whoever_is_blocked_does_not_start_alone_in_the_empty_cluster(first):
    confirm(first)


@pytest.mark.slow
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_whoever_of_many_is_blocked_does_not_start_alone_in_the_empty_cluster(first):
    confirm(first)
