"""
Choices: what is proven holds for every equally good way to evict.
"""

import pytest

from models.policy import Policy
from solver.round import decide
from tests.helpers.build import gang, node, queue, snapshot

QUEUES = (queue("guest", quota=0), queue("owner", quota=8))


def proofs(*more, hole="b"):
    """
    Plan for a gang that gets a full node; another one has room for a third of it.
    """
    nodes = [node("a"), node(hole, 2)]
    hog = gang("hog", queue="guest", gpus=8, minimum=1, running=["a"])
    claim = gang("claim", queue="owner", gpus=2, minimum=3, replicas=3)
    case = snapshot(nodes, [hog, claim, *more], QUEUES)
    return {tier.name: tier.proof for tier in decide(case, Policy()).tiers}


def borrower(gpus=2):
    return gang("borrower", queue="guest", gpus=gpus, minimum=1)


def test_what_arithmetic_bounds_is_proven_whoever_leaves():
    assert {"proven"} == set(proofs().values())


def test_who_is_evicted_and_what_it_costs_is_proven_by_the_step():
    found = proofs(borrower())

    assert ("proven", "proven") == (found["entitled"], found["disruption"])


@pytest.mark.parametrize("hole", ["b", "0"])
def test_nothing_is_proven_that_another_choice_could_better(hole):
    found = proofs(borrower(3), hole=hole)

    assert "conditional" == found["borrowing"]
