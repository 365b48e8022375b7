"""
Tests of evictions by hand: who leaves for whom, and that no rule is broken.
"""

import pytest

from solver.evict.greedy.evict import evict_by_hand
from solver.place.draft import Draft
from solver.problem.node_room import Places
from tests.helpers.rounds.greedy_evictions import (
    GPU,
    leaving,
    planned,
    queues,
    reclaimable,
    runs,
    stage,
    started,
    waits,
)


def test_the_cheapest_pod_leaves():
    gangs = [runs("old", ("n0", 900)), runs("new", ("n1", 100)), waits("want")]

    draft = planned(reclaimable(gangs))

    assert {("new", "reclaim"): 1} == leaving(draft)
    assert {"default/want": Places(((1,),))} == draft.places
    assert {"default/want"} == draft.entitled


def test_free_room_is_used_before_anybody_leaves():
    gangs = [runs("old", ("n0", 900)), waits("want", 2)]

    draft = planned(reclaimable(gangs, prod=16))

    assert {("old", "reclaim"): 1} == leaving(draft)
    assert {"want"} == started(draft)


def test_spare_pods_leave_before_a_gang_that_costs_as_much():
    gangs = [
        runs("single", ("n0", 100)),
        runs("elastic", ("n1", 100), ("n2", 900), least=1),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, 3))

    assert {("elastic", "reclaim"): 1} == leaving(draft)
    assert [False] == [one.whole for one in draft.exits]


def test_gang_keeps_its_minimum_or_goes_whole():
    gangs = [runs("elastic", ("n0", 100), ("n1", 900), least=1), waits("want", 2)]

    draft = planned(reclaimable(gangs, prod=16))

    assert {("elastic", "reclaim"): 2} == leaving(draft)
    assert [True, True] == [one.whole for one in draft.exits]


def test_room_of_a_gang_that_goes_whole_is_used_on_all_its_nodes():
    gangs = [
        runs("wide", ("n0", 100), ("n1", 100)),
        runs("a", ("n2", 150)),
        runs("b", ("n3", 150)),
        waits("want", 2),
    ]

    draft = planned(reclaimable(gangs, 4, prod=16))

    assert {("wide", "reclaim"): 2} == leaving(draft)


def test_wide_gang_stays_where_less_is_lost_otherwise():
    gangs = [
        runs("wide", ("n0", 100), ("n1", 100)),
        runs("single", ("n2", 150)),
        waits("want"),
    ]

    draft = planned(reclaimable(gangs, 3))

    assert {("single", "reclaim"): 1} == leaving(draft)


def test_nobody_leaves_who_need_not():
    gangs = [
        runs("small", ("n0", 10), gpus=2),
        runs("large", ("n0", 100), gpus=6),
        waits("want", gpus=6),
    ]

    draft = planned(reclaimable(gangs, 1))

    assert {("large", "reclaim"): 1} == leaving(draft)


def test_trees_go_whole():
    tree = {
        "name": "tree",
        "queue": "batch",
        "groups": [
            {
                "name": name,
                "min": 1,
                "requests": {GPU: 4},
                "running": [{"node": node, "for": "60s"}],
            }
            for name, node in (("a", "n0"), ("b", "n0"), ("c", "n1"))
        ],
        "minGroups": 3,
    }

    draft = planned(reclaimable([tree, waits("want")]))

    assert {("tree", "reclaim"): 3} == leaving(draft)


def test_gang_that_starts_loses_nothing():
    gangs = [
        runs("half", ("n0", 1), queue="other", least=2, priority=9) | {"replicas": 2},
        runs("old", ("n1", 900)),
        runs("older", ("n2", 950)),
        waits("want"),
    ]
    given = reclaimable(gangs, 3, queues=queues(batch=0, other=16, prod=8))

    draft = planned(given)

    assert {("old", "reclaim"): 1, ("older", "reclaim"): 1} == leaving(draft)
    assert {"half", "want"} == started(draft)


def test_gang_in_one_rack_takes_the_cheapest_one():
    racks = [
        {"name": f"n{i}", "allocatable": {GPU: 8}, "labels": {"rack": f"r{i // 2}"}}
        for i in range(4)
    ]
    seconds = (1, 900, 300, 300)
    gangs = [runs(f"v{i}", (f"n{i}", s)) for i, s in enumerate(seconds)]
    gangs.append(waits("want", 2, topology={"required": "rack"}))
    levels = [{"name": "default", "levels": ["rack"]}]

    draft = planned(reclaimable(gangs, prod=16, nodes=racks, topologies=levels))

    assert {("v2", "reclaim"): 1, ("v3", "reclaim"): 1} == leaving(draft)
    assert {2, 3} == set(draft.places["default/want"][0])


def test_exclusive_pods_clear_a_node_each():
    gangs = [runs(f"v{i}", (f"n{i // 2}", 60 + i), gpus=4) for i in range(4)]
    gangs.append(waits("want", 2, gpus=4, exclusive=True))

    draft = planned(reclaimable(gangs))

    assert {("v0", "reclaim"): 1, ("v2", "reclaim"): 1} == leaving(draft)


def test_equal_gangs_start_as_far_as_there_are_victims():
    gangs = [runs(f"v{i}", ("n0", 60), gpus=1) for i in range(8)]
    gangs += [waits(f"w{i}", gpus=2) for i in range(9)]

    draft = planned(reclaimable(gangs, 1, prod=18))

    assert 4 == len(draft.places)
    assert 8 == sum(leaving(draft).values())


def test_nothing_changes_where_nobody_may_leave():
    gangs = [runs("fixed", ("n0", 60), preemptible=False), waits("want")]

    draft = planned(reclaimable(gangs, 1))

    assert Draft() == draft


def test_starts_that_need_nobody_to_leave_are_kept():
    gangs = [runs("old", ("n0", 900)), waits("a"), waits("b")]
    problem, victims = stage(reclaimable(gangs, prod=16))
    before = Draft({"default/b": Places(((1,),))}, frozenset({"default/b"}))

    draft = evict_by_hand(problem, before, victims)

    assert {"default/a": Places(((0,),)), "default/b": Places(((1,),))} == dict(
        draft.places
    )


@pytest.mark.parametrize(
    ("evict", "starts"),
    [
        ({"maxPods": 1}, set()),
        ({"maxPods": 2}, {"want"}),
        ({"maxGangs": 1}, set()),
        ({"maxGangs": 2}, {"want"}),
        ({"maxLostPerGpu": 59}, set()),
        ({"maxLostPerGpu": 60}, {"want"}),
    ],
)
def test_bounds_of_the_policy_hold(evict, starts):
    gangs = [runs(f"v{i}", ("n0", 60), gpus=4) for i in range(2)]

    draft = planned(reclaimable([*gangs, waits("want")], 1), evict)

    assert starts == started(draft)


@pytest.mark.parametrize(("allowed", "victim"), [(0, "b"), (1, "a")])
def test_budgets_hold(allowed, victim):
    gangs = [runs("a", ("n0", 60)), runs("b", ("n1", 900)), waits("want")]
    budgets = [{"name": "some", "gangs": ["a"], "allowed": allowed}]

    draft = planned(reclaimable(gangs, budgets=budgets))

    assert {(victim, "reclaim"): 1} == leaving(draft)
