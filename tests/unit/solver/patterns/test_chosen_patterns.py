"""
Patterns that the model chooses: whatever pods ask for, plans hold and fall behind none.
"""

from dataclasses import replace
from random import Random

import pytest

from models.policy import Policy
from models.resources import CPU, GPU
from solver.round import decide
from solver.score.tier import LOSSES
from solver.tuning import DEFAULT
from tests.helpers.build import gang, node, snapshot

ALWAYS = replace(
    DEFAULT,
    search=replace(DEFAULT.search, small_model=-1),
    patterns=replace(DEFAULT.patterns, many_shapes=-1),
)


def waiting(seed, *resources):
    rnd = Random(seed)
    gangs = [
        gang(
            f"g{at}",
            minimum=rnd.randint(1, 3),
            requests={name: rnd.randint(1, 7) * 1000 for name in resources},
        )
        for at in range(12)
    ]
    offered = [
        node(f"n{at}", allocatable=dict.fromkeys(resources, 9000)) for at in range(4)
    ]
    return snapshot(nodes=offered, gangs=gangs)


def values(plan):
    return [tier.value for tier in plan.tiers if tier.name not in LOSSES]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("resources", [(CPU,), (CPU, GPU), ()], ids=["cpu", "gpu", "-"])
def test_a_round_is_no_worse_for_what_whole_nodes_hold(seed, resources):
    given, policy = waiting(seed, *resources), Policy()

    found = decide(given, policy, tuning=ALWAYS)

    assert values(found)[0] >= values(decide(given, policy))[0]
    assert values(found)[0] >= values(decide(given, policy, strategy="greedy"))[0]
