"""
What the model knows of pods that are near each other, apart, or spread.
"""

import pytest

from models.neighbours import Apart, Near, Neighbours, Spread
from models.policy import Policy
from solver.place.round_state import around_now
from solver.place.stranded import stranded
from solver.problem.problem import problem_of
from solver.round import decide
from tests.helpers.build import RACK, ZONE, gang, node, snapshot

MACHINES = [
    node("n0", 8, zone="a", rack="r0"),
    node("n1", 8, zone="b", rack="r1"),
    node("n2", 1, zone="c", rack="r1"),
]
WEB = ("web",)


def said(**rules):
    return Neighbours(selected=WEB, **rules)


GANGS = {
    "apart by zone": said(apart=(Apart("web", ZONE),)),
    "apart by host": said(apart=(Apart("web", "kubernetes.io/hostname"),)),
    "near by rack": said(near=Near("web", (RACK,))),
    "spread by zone": said(spread=(Spread("web", ZONE),)),
    "spread over more zones than there are": said(
        spread=(Spread("web", ZONE, domains=4),)
    ),
}


@pytest.mark.parametrize("rule", GANGS)
def test_what_cannot_start_beside_others_is_known_to_the_model(rule):
    large = gang("large", minimum=12, neighbours=GANGS[rule])
    plan = decide(snapshot(MACHINES, [large, gang("small")]), Policy())
    (tier,) = [tier for tier in plan.tiers if tier.name == "entitled"]

    assert ["default/small"] == [one.gang for one in plan.operations]
    assert tier.value == tier.bound


def test_gangs_that_must_be_apart_are_known_not_to_start_together():
    def other(name, *others):
        apart = tuple(Apart(x, RACK) for x in sorted(others))
        return gang(name, neighbours=Neighbours(selected=(name,), apart=apart))

    gangs = [other("a", "b", "c"), other("b", "a", "c"), other("c", "a", "b")]
    plan = decide(snapshot(MACHINES, gangs), Policy())
    (tier,) = [tier for tier in plan.tiers if tier.name == "entitled"]

    assert 2 == len(plan.operations)
    assert tier.value == tier.bound


def test_who_follows_is_stranded_without_whom_it_follows():
    follows = gang("a", neighbours=Neighbours(near=Near("web", (ZONE,))))
    leads = gang("b", neighbours=said())
    problem = problem_of(snapshot(MACHINES, [follows, leads]), Policy())
    places = {"default/a": {0: [0]}, "default/b": {0: [0]}}

    around = around_now(problem)
    assert not stranded(problem, places, around)
    around = around_now(problem)
    assert {"default/a"} == stranded(problem, {"default/a": {0: [0]}}, around)
