"""
What a plan would lose with a gang that it passes over: the tier, how much, and who.
"""

from dataclasses import replace

import pytest

from adapters.compare.start_cost import start_cost, with_cost
from adapters.files import read_scenario
from adapters.inventory.listed import proven, seen_with
from models.memory.aged_gangs import older
from models.policy import Evict, Policy
from models.resources import CPU, PODS
from models.why.verdicts import Verdict
from solver import decide, why_waits
from tests.helpers.build import ZONE, gang, node, nodes, queue, selector, snapshot

CALM = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False))


def cost(case, name="g", policy=CALM):
    plan = decide(case, policy)
    why = why_waits(case, policy, plan, f"default/{name}")
    assert why.verdict is Verdict.OUTRANKED
    return start_cost(case, policy, plan, why)


def test_the_tier_that_is_worse_is_said_with_who_would_wait():
    large, small = gang("h", minimum=1, gpus=8), gang("g", minimum=1, gpus=4)

    found = cost(snapshot(nodes(1), [large, small]))

    assert found.sentence == (
        "with it, entitled work would be worth 4 GPUs less: "
        "default/h (8 GPUs) would wait"
    )
    assert ("entitled", True, ("default/h",)) == (found.tier, found.proven, found.waits)
    assert found.value == 2 * found.then


def test_of_a_higher_band_the_priority_is_said():
    high = gang("h", minimum=1, gpus=4, priority=100)
    low = gang("g", minimum=1, gpus=8)

    found = cost(snapshot(nodes(1), [high, low]))

    said = "with it, entitled work of priority ≥ 100 would be worth 4 GPUs less: "
    assert found.sentence.startswith(said)
    assert 100 == found.band


def test_where_nothing_but_the_order_is_worse_that_is_said():
    old = gang("h", minimum=1, gpus=8, age=60)
    young = gang("g", minimum=1, gpus=8, age=30)

    found = cost(snapshot(nodes(1), [old, young]))

    assert found.sentence == (
        "with it, nothing would be worse but the order, in which older gangs come "
        "first: default/h (8 GPUs) would wait"
    )


def test_that_nothing_but_the_order_is_worse_is_sure_without_a_proof():
    """
    The best plan with it is as good as the one that was found, or better.
    """
    ages = {"h": 60, "g": 30}
    gangs = [gang(x, minimum=1, gpus=8, age=age) for x, age in ages.items()]
    case = snapshot(nodes(1), gangs)
    plan = decide(case, CALM)
    tiers = tuple(replace(x, proof="conditional") for x in plan.tiers)
    why = why_waits(case, CALM, plan, "default/g")

    found = start_cost(case, CALM, replace(plan, tiers=tiers), why)

    assert found.sentence.startswith("with it, nothing would be worse but the order,")


def test_nodes_that_are_held_come_before_all_tiers():
    case = read_scenario("scenarios/waiting/a-hold-that-has-not-slipped-goes-on.yaml")

    found = cost(case.snapshot, "small", case.policy)

    said = "no plan was found in which it starts beside the nodes that are held"
    assert found.sentence.startswith(said)


def test_who_the_next_round_would_evict_again_is_told_so():
    case = read_scenario("scenarios/groups/the-band-is-that-of-the-lowest-gang.yaml")

    found = cost(case.snapshot, "duo-a", case.policy)

    assert found.sentence == (
        "with it, the next round would evict it again, for default/middle"
    )


def test_who_would_have_fewer_pods_is_named():
    grows = gang("k", minimum=1, replicas=3, gpus=2)
    old, young = gang("h", minimum=1, gpus=4, age=30_000), gang("g", minimum=1, gpus=6)

    found = cost(snapshot(nodes(1), [grows, old, young]))

    assert (("default/h",), ("default/k",)) == (found.waits, found.shrinks)
    assert found.sentence.endswith(
        "default/h (4 GPUs) would wait, default/k (2 GPUs) would have fewer pods"
    )


def test_without_any_gpu_value_is_told_as_a_part_of_the_cluster():
    host = node("n0", gpus=0, allocatable={CPU: 8000, PODS: 10})
    gangs = [
        gang(x, minimum=1, requests={CPU: cpu}) for x, cpu in (("h", 8000), ("g", 4000))
    ]

    assert "worth 50.0 % of the cluster less" in cost(snapshot([host], gangs)).sentence


def test_work_that_would_be_lost_is_told_in_gpu_hours():
    """
    Either start makes one leave; the one that has run longer costs more.
    """
    short = older(gang("s", minimum=1, gpus=8, queue="low", running=["n0"]), 3600)
    long = older(gang("l", minimum=1, gpus=8, queue="low", running=["n1"]), 7200)
    hosts = [node(f"n{i}", zone=zone) for i, zone in enumerate("ab")]
    waits = [
        gang(x, minimum=1, gpus=8, queue="high", demand=selector(**{ZONE: zone}))
        for x, zone in (("h", "a"), ("g", "b"))
    ]
    queues = (queue("high", quota=8), queue("low", quota=0))

    found = cost(snapshot(hosts, [short, long, *waits], queues=queues), policy=Policy())

    assert "with it, 8.0 GPU-hours more of work would be lost" in found.sentence
    assert "default/l (8 GPUs) would leave" in found.sentence
    assert "disruption" == found.tier


def test_of_a_round_that_is_too_large_nothing_is_tried(monkeypatch):
    gangs = [gang("h", minimum=1, gpus=8), gang("g", minimum=1, gpus=4)]
    case = snapshot(nodes(1), gangs)
    monkeypatch.setattr("solver.why.start_anyway.SMALL", 2)

    found = cost(case)

    assert not found.tried
    assert "not tried" in found.sentence


def test_of_who_waits_for_something_else_nothing_is_said():
    case = snapshot(nodes(1), [gang("g", minimum=2, gpus=8)])
    plan = decide(case, CALM)

    found = start_cost(case, CALM, plan, why_waits(case, CALM, plan, "default/g"))

    assert found is None


def test_what_is_not_proven_is_the_most_that_is_lost(monkeypatch):
    gangs = [gang("h", minimum=1, gpus=8), gang("g", minimum=1, gpus=4)]
    case = snapshot(nodes(1), gangs)
    plan = decide(case, CALM)
    tiers = tuple(replace(x, proof="conditional") for x in plan.tiers)
    why = why_waits(case, CALM, plan, "default/g")

    found = start_cost(case, CALM, replace(plan, tiers=tiers), why)

    assert "would be worth at most 4 GPUs less" in found.sentence
    assert not found.proven


@pytest.mark.parametrize(("name", "said"), [("g", True), ("h", False)])
def test_a_description_has_it_in_short(name, said):
    gangs = [gang("h", minimum=1, gpus=8), gang("g", minimum=1, gpus=4)]
    case = snapshot(nodes(1), gangs)
    key = f"default/{name}"
    seen = proven(seen_with(case, CALM, "", decide(case, CALM)), [key])

    found = with_cost(seen, key)

    assert said == (found is not seen)
    if said:
        short = "; with it, entitled work would be worth 4 GPUs less"
        assert found.whys[key].message.endswith(short)
