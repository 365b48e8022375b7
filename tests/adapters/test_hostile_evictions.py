"""
Odd and hostile input about evictions: each has one outcome, and every plan holds.
"""

from collections import Counter

import pytest

from adapters.files import scenario_of
from models.policy import Policy
from solver.round import decide
from tests.adapters.documents import GPU, scenario

pytestmark = pytest.mark.parametrize("strategy", ["greedy", "solver"])
LOWEST, HIGHEST = -(2**31), 2**31 - 1


def queue(name, quota=0, **fields):
    return {"name": name, "resources": {GPU: {"quota": quota} | fields}}


def runs(name="old", node="n0", pods=1, gpus=8, **fields):
    words = {"queue": "rest", "min": pods, "requests": {GPU: gpus}}
    running = [{"node": node, "pods": pods, "for": "1h"}]
    return {"name": name, "running": running} | words | fields


def wants(name="new", gpus=8, **fields):
    return {"name": name, "queue": "vip", "min": 1, "requests": {GPU: gpus}} | fields


def planned(strategy, *gangs, queues=None, policy=None, **given):
    document = scenario(
        gangs=list(gangs),
        queues=[queue("vip", 8), queue("rest")] if queues is None else queues,
        **given,
    )
    snapshot = scenario_of("hostile", document).snapshot
    plan = decide(snapshot, policy or Policy(), strategy=strategy)
    return Counter(step.op for step in plan.operations), {
        line.name.removeprefix("default/"): line for line in plan.gangs
    }


def test_the_plain_case_evicts(strategy):
    steps, lines = planned(strategy, runs(), wants())

    assert {"Evict": 1, "Reserve": 1} == steps
    assert ("Evicting", "Reserved") == (lines["old"].state, lines["new"].state)


def test_of_budgets_that_contradict_each_other_all_hold(strategy):
    budgets = [
        {"name": "a", "gangs": ["old"], "allowed": 5},
        {"name": "b", "gangs": ["old"], "allowed": 0},
    ]
    steps, lines = planned(strategy, runs(), wants(), budgets=budgets)

    assert not steps
    assert "Waiting" == lines["new"].state


def test_victims_on_a_node_that_vanished_make_no_room(strategy):
    steps, lines = planned(strategy, runs(), runs("gone", "lost"), wants(gpus=16))

    assert not steps
    assert "Waiting" == lines["new"].state


def test_a_victim_on_a_node_that_vanished_is_no_cheaper_than_one_that_helps(strategy):
    steps, lines = planned(strategy, runs(), runs("gone", "lost"), wants())

    assert {"Evict": 1, "Reserve": 1} == steps
    assert "Evicting" == lines["old"].state


def test_a_reservation_on_a_node_that_vanished_is_void(strategy):
    held = wants(gpus=4, reserved=[{"node": "lost"}])
    steps, _ = planned(strategy, held, nodes=[_node("n0"), _node("n1")])

    assert {"Bind": 1} == steps


def test_a_reservation_on_a_node_that_others_fill_is_void(strategy):
    filling = runs(preemptible=False)
    held = wants(reserved=[{"node": "n0"}])
    steps, _ = planned(
        strategy,
        filling,
        held,
        nodes=[_node("n0"), _node("n1")],
        queues=[queue("vip", 8), queue("rest", 8)],
    )

    assert {"Bind": 1} == steps


def test_room_of_a_reservation_whose_gang_is_gone_is_free(strategy):
    steps, _ = planned(strategy, wants())

    assert {"Bind": 1} == steps


def test_two_gangs_that_need_the_same_rack_never_share_it(strategy):
    nodes = [_node("n0") | {"labels": {"rack": "r"}}]
    topologies = [{"name": "t", "levels": ["rack"]}]
    both = [wants(name, topology={"required": "rack"}) for name in ("a", "b")]
    steps, lines = planned(
        strategy,
        runs(),
        *both,
        nodes=nodes,
        topologies=topologies,
        queues=[queue("vip", 16), queue("rest")],
    )

    assert {"Evict": 1, "Reserve": 1} == steps
    assert ["Reserved", "Waiting"] == sorted(lines[name].state for name in ("a", "b"))


def test_where_nothing_may_be_evicted_nothing_is(strategy):
    steps, lines = planned(strategy, runs(preemptible=False), wants())

    assert not steps
    assert "PreemptionProtected" == lines["new"].waiting.reason.value


def test_quotas_above_the_cluster_give_no_right_between_queues_within_theirs(strategy):
    queues = [queue("vip", 8), queue("rest", 8)]
    steps, _ = planned(strategy, runs(), wants(), queues=queues)

    assert not steps


def test_a_quota_above_its_limit_gives_no_more_than_the_limit(strategy):
    queues = [queue("vip", 8, limit=4), queue("rest")]
    steps, lines = planned(strategy, runs(), wants(), queues=queues)

    assert not steps
    assert "QuotaExceedsMaximum" == lines["new"].waiting.reason.value


def test_queues_without_weight_still_have_their_quota(strategy):
    queues = [queue("vip", 8, weight=0), queue("rest", 0, weight=0)]
    steps, _ = planned(strategy, runs(), wants(), queues=queues)

    assert {"Evict": 1, "Reserve": 1} == steps


@pytest.mark.parametrize(("mine", "theirs"), [(HIGHEST, LOWEST), (LOWEST, HIGHEST)])
def test_priorities_at_both_ends_are_compared_as_they_are(mine, theirs, strategy):
    old = runs(priority=theirs)
    new = wants(queue="rest", priority=mine)
    steps, _ = planned(strategy, old, new)

    assert (mine > theirs) == bool(steps["Evict"])


def test_a_pod_that_leaves_a_node_that_vanished_is_in_nobodys_way(strategy):
    leaving = wants("leaving", terminating=[{"node": "lost", "since": "5s"}], gpus=1)
    steps, lines = planned(strategy, leaving, wants(gpus=8))

    assert {"Bind": 1} == steps
    assert "Starting" == lines["new"].state


def test_bounds_of_nothing_evict_nothing(strategy):
    for word in ("maxPods", "maxGangs", "maxLostPerGpu"):
        policy = Policy.model_validate({"evict": {word: 0}})
        steps, _ = planned(strategy, runs(), wants(), policy=policy)

        assert not steps, word


def _node(name):
    return {"name": name, "allocatable": {"cpu": 96, GPU: 8}}
