"""
Moves by greedy, and for whom none is asked for.
"""

from math import isinf

import pytest

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from solver.evict.greedy.victim_table import VictimTable
from solver.place.draft import Draft
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import Places
from solver.round import decide
from tests.helpers.rounds.greedy_evictions import (
    GPU,
    leaving,
    nodes,
    planned,
    queues,
    reclaimable,
    runs,
    started,
    waits,
)


def fragmented():
    gangs = [runs(f"v{i}", (f"n{i}", 60), queue="prod", gpus=4) for i in range(2)]
    return reclaimable([*gangs, waits("want")], prod=16)


def test_gang_is_moved_where_holes_are_too_small():
    draft = planned(fragmented())

    (one,) = draft.exits
    assert "consolidate" == one.rule
    assert 1 - one.host == one.target
    assert {"default/want": Places(((one.host,),))} == draft.places


@pytest.mark.parametrize("evict", [{"maxMoves": 0}, {"consolidate": False}])
def test_nobody_is_moved_where_the_policy_forbids_it(evict):
    assert Draft() == planned(fragmented(), evict)


def test_wide_gang_is_moved_with_all_its_pods():
    gangs = [
        runs("pair", ("n0", 60), ("n0", 60), ("n1", 60), queue="prod", gpus=2),
        waits("want", 2),
    ]

    draft = planned(reclaimable(gangs, 3, prod=24))

    assert {("pair", "consolidate"): 3} == leaving(draft)
    assert all(one.whole and one.target != NOWHERE for one in draft.exits)


def test_who_could_be_evicted_is_moved_where_there_is_room():
    gangs = [runs(f"v{i}", (f"n{i}", 60), gpus=4) for i in range(2)]

    draft = planned(reclaimable([*gangs, waits("want")]))

    assert ["consolidate"] == [one.rule for one in draft.exits]


def full(number):
    """
    Give nodes of eight of which six are taken by pairs, and a gang that waits.
    """
    pairs = [
        runs(f"pair-{at}", (f"n{at // 3}", 60), queue="prod", gpus=2)
        for at in range(3 * number)
    ]
    return {
        "nodes": nodes(number),
        "queues": queues(prod=64),
        "gangs": [*pairs, waits("waits")],
    }


def asked_of(monkeypatch, given):
    """
    Plan a round in which others may only be moved; say how often a bound spared it.
    """
    spared = []
    known = VictimTable.least_lost

    def told(self, *asked):
        least = known(self, *asked)
        spared.append(isinf(least))
        return least

    monkeypatch.setattr(VictimTable, "least_lost", told)
    return planned(given), spared


def test_pairs_move_together_where_all_free_room_is_enough(monkeypatch):
    draft, spared = asked_of(monkeypatch, full(4))

    assert {"waits"} <= started(draft)
    assert [False] == spared


def test_nobody_is_asked_to_move_where_all_free_room_is_too_little(monkeypatch):
    draft, spared = asked_of(monkeypatch, full(3))

    assert not draft.exits
    assert [True] == spared


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(120))
def test_no_plan_depends_on_what_is_not_asked(monkeypatch, seed):
    given = scenario_of(f"case-{seed}", victim_case(seed))
    quick = decide(given.snapshot, given.policy, strategy="greedy")
    monkeypatch.setattr(VictimTable, "least_lost", lambda *_: 0.0)

    assert quick == decide(given.snapshot, given.policy, strategy="greedy")


def _served_of(number):
    """
    Let some of equal gangs have the room of another queue, which is above its share.
    """
    other = [
        {
            "name": f"busy-{at:02d}",
            "queue": "b",
            "min": 1,
            "requests": {GPU: 1},
            "running": [{"node": f"n-{at % 3}", "pods": 1, "for": f"{at + 1}m"}],
        }
        for at in range(24)
    ]
    mine = [
        {"name": f"mine-{at:02d}", "queue": "a", "min": 1, "requests": {GPU: 1}}
        for at in range(number)
    ]
    queues = [{"name": "a", "resources": {GPU: {"quota": 11, "weight": 0}}}]
    queues.append({"name": "b", "resources": {GPU: {"quota": 13, "weight": 0}}})
    nodes = [{"name": "n", "count": 3, "allocatable": {GPU: 8}}]
    return planned({"nodes": nodes, "queues": queues, "gangs": [*other, *mine]})


def test_how_many_wait_behind_those_who_are_served_changes_nothing_for_these():
    few, many = _served_of(17), _served_of(53)

    assert 11 == len(few.places)
    assert few.places.keys() == many.places.keys()
    assert leaving(few) == leaving(many)
    assert all((few.places[key] == many.places[key]) for key in few.places)
