"""
The round in which a gang that is outranked starts all the same.
"""

import pytest

from models.memory.aged_gangs import older
from models.policy import Evict, Policy
from solver import RoundsTakeLongError, decide, start_anyway
from tests.helpers.build import gang, nodes, queue, snapshot

CALM = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False))
GANGS = (gang("h", minimum=1, gpus=8), gang("g", minimum=1, gpus=4))


def test_it_starts_and_the_rest_is_planned_as_well_as_may_be():
    case = snapshot(nodes(2), [*GANGS, gang("i", minimum=1, gpus=8)])

    found = start_anyway(case, CALM, "default/g")

    states = [found.states[f"default/{name}"] for name in "ghi"]
    assert "Starting" == states[0]
    assert 1 == states[1:].count("Starting")
    assert {x.name for x in decide(case, CALM).tiers} == {x.name for x in found.tiers}


def test_the_gangs_of_a_group_start_together():
    pair = [gang(x, minimum=1, gpus=2, mates=("g", "k")) for x in "gk"]
    case = snapshot(nodes(1), [GANGS[0], *pair])

    found = start_anyway(case, CALM, "default/k")

    assert ["Starting", "Starting"] == [found.states[f"default/{x}"] for x in "gk"]


def test_who_may_be_evicted_does_not_change():
    """
    Its queue has no right to what the other one runs within its quota.
    """
    runs = older(gang("v", minimum=1, gpus=8, queue="low", running=["n0"]), 10)
    case = snapshot(
        nodes(1),
        [runs, gang("g", minimum=1, gpus=8, queue="high")],
        queues=(queue("high", quota=0), queue("low", quota=8)),
    )

    assert "Waiting" == start_anyway(case, Policy(), "default/g").states["default/g"]


def test_others_leave_for_it_instead_of_for_whom_they_would():
    runs = older(gang("v", minimum=1, gpus=8, queue="low", running=["n0"]), 10)
    waits = [
        gang(x, minimum=1, gpus=8, queue="high", age=age)
        for x, age in (("h", 60), ("g", 30))
    ]
    queues = (queue("high", quota=8), queue("low", quota=0))
    case = snapshot(nodes(1), [runs, *waits], queues=queues)

    found = start_anyway(case, Policy(), "default/g")

    states = [found.states[f"default/{x}"] for x in "hgv"]
    assert ["Waiting", "Reserved", "Evicting"] == states


def test_a_large_round_is_not_planned_once_more():
    case = snapshot(nodes(600), GANGS)

    with pytest.raises(RoundsTakeLongError):
        start_anyway(case, CALM, "default/g")


def test_who_has_room_without_it_may_make_others_leave_beside_it():
    runs = older(gang("v", minimum=1, gpus=8, queue="low", running=["n0"]), 10)
    waits = [gang("h", minimum=1, gpus=8, queue="high"), gang("g", gpus=8, queue="mid")]
    queues = (queue("high", quota=8), queue("mid", quota=0), queue("low", quota=0))
    case = snapshot(nodes(2), [runs, *waits], queues=queues)

    found = start_anyway(case, Policy(), "default/g")

    assert ["Reserved", "Starting", "Evicting"] == [
        found.states[f"default/{x}"] for x in "hgv"
    ]
    assert {"proven"} == {tier.proof for tier in found.tiers}
