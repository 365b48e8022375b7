"""
What waits and runs in odd states never makes a round that its judge rejects.
"""

from dataclasses import replace
from random import Random

import pytest

from models.policy import Policy
from solver.round import decide
from solver.verify import verify
from tests.cases import random_snapshot

DAY = 86_400
BASE = ["entitled", "disruption", "borrowing"]
LATE = {"name": "late", "after": "1d", "gpus": 2}
REST = ["topology", "surplus", "packing"]
ORDERS = {
    "none": [*BASE, *REST],
    "first": [LATE, *BASE, *REST],
    "after-losses": [*BASE, LATE, *REST],
    "between": [*BASE[:2], LATE, BASE[2], *REST],
}


def passed_over(seed):
    snapshot, random = random_snapshot(seed), Random(seed)
    gangs = (replace(g, passed_over=random.randrange(4) * DAY) for g in snapshot.gangs)
    return replace(snapshot, gangs=tuple(gangs))


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [*range(64, 72), *range(200, 212)])
def test_every_plan_is_legal_wherever_the_tier_late_stands(seed, order, strategy):
    snapshot = passed_over(seed)
    heads = seed % 3
    waiting = {"protectAfter": seed % 2 * DAY, "heads": heads, "gpus": heads}
    policy = Policy.model_validate({"tiers": ORDERS[order], "waiting": waiting})

    plan = decide(snapshot, policy, strategy=strategy)

    assert () == verify(snapshot, policy, plan)
    for tier in plan.tiers:
        assert tier.direction == "min" or tier.value <= tier.bound
