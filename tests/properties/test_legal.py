"""
What waits and runs in odd states never makes a round that its judge rejects.
"""

from dataclasses import replace
from random import Random

import pytest

from adapters.files import scenario_of
from models.policy import Policy
from solver.round import decide
from solver.verify import verify
from tests.helpers.rounds.cases import random_snapshot
from tests.properties.test_late import DAY, waited

BASE = ["entitled", "disruption", "borrowing"]
LATE = {"name": "late", "after": "1d", "gpus": 2}
REST = ["topology", "surplus", "packing"]
ONCE_REJECTED = (6150, 6539)
ORDERS = {
    "none": [*BASE, *REST],
    "first": [LATE, *BASE, *REST],
    "after-losses": [*BASE, LATE, *REST],
    "between": [*BASE[:2], LATE, BASE[2], *REST],
}


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [*range(64, 72), *range(200, 212)])
def test_every_plan_is_legal_wherever_the_tier_late_stands(seed, order, strategy):
    snapshot = waited(seed)
    heads = seed % 3
    waiting = {"protectAfter": seed % 2 * DAY, "heads": heads, "gpus": heads}
    policy = Policy.model_validate({"tiers": ORDERS[order], "waiting": waiting})

    plan = decide(snapshot, policy, strategy=strategy)

    assert () == verify(snapshot, policy, plan)
    for tier in plan.tiers:
        assert tier.direction == "min" or tier.value <= tier.bound


def odd(seed):
    """
    Give a random case in which gangs wait, are held up or were evicted, and a policy.
    """
    snapshot, random = random_snapshot(seed), Random(seed)

    def one(gang):
        fields = {"passed_over": random.choice([0, 0, 7200, DAY])}
        if random.random() < 0.15:
            fields["backoff"] = 30
        if random.random() < 0.1:
            fields["timed_out"] = True
        if random.random() < 0.15:
            fields["evicted_ago"] = random.choice([10, 4000])
        if random.random() < 0.1:
            fields["preemptible"] = False
        if random.random() < 0.1:
            fields["mates"] = (gang.key, random.choice(snapshot.gangs).key)
        return replace(gang, **fields)

    gangs = tuple(one(gang) for gang in snapshot.gangs)
    queues = tuple(replace(q, open=random.random() > 0.12) for q in snapshot.queues)
    heads, after = random.choice([0, 1, 2]), random.choice([0, 3600])
    again, moves = random.choice([0, 3600]), random.choice([None, 1, 16])
    policy = Policy.model_validate(
        {
            "waiting": {"heads": heads, "protectAfter": after},
            "evict": {"again": again, "maxMoves": moves},
        }
    )
    return replace(snapshot, gangs=gangs, queues=queues), policy


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", [*range(5000, 5060), *ONCE_REJECTED])
def test_every_plan_is_legal_in_odd_states(seed, strategy):
    snapshot, policy = odd(seed)

    decide(snapshot, policy, strategy=strategy)


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_a_share_may_be_used_more_once_pods_leave_for_work_that_borrows(strategy):
    gpu = "nvidia.com/gpu"
    node = {"allocatable": {gpu: 8, "cpu": 32}}
    gangs = [
        {"name": "a", "queue": "y", "min": 1, "requests": {"cpu": 16}},
        {"name": "b", "priority": 100, "min": 1, "requests": {gpu: 3}},
        {"name": "c", "queue": "y", "min": 2, "requests": {gpu: 4, "cpu": 16}},
        {"name": "d", "requests": {gpu: 4, "cpu": 1}, "running": [{"node": "n1"}]},
        {"name": "e", "requests": {gpu: 2, "cpu": 16}, "running": [{"node": "n0"}]},
    ]
    given = {
        "nodes": [{"name": "n0", **node}, {"name": "n1", **node}],
        "queues": [{"name": "x"}, {"name": "y", "resources": {gpu: {}}}],
        "gangs": [{"queue": "x", "min": 1, **gang} for gang in gangs],
    }
    document = {"apiVersion": "phalanx/v1", "kind": "Snapshot", "given": given}
    scenario = scenario_of("test", document)

    decide(scenario.snapshot, scenario.policy, strategy=strategy)
