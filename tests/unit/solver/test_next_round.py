from dataclasses import replace

import pytest

from models.policy import Policy
from models.queues import Queue
from solver.next_round import next_moment
from tests.helpers.build import gang, nodes, plan, snapshot

POLICY = Policy()


def moment(*gangs, policy: Policy = POLICY, queues=()) -> int | None:
    return next_moment(snapshot(nodes(1), gangs, queues), policy)


def test_where_all_runs_whole_no_moment_matters():
    assert None is moment(gang("g", minimum=1, running=["n0"], age=5))


@pytest.mark.parametrize(
    ("age", "left"), [(0, 600), (599, 1), (600, 3000), (3600, 18000), (21600, None)]
)
def test_a_waiting_gang_counts_more_at_the_next_step_of_its_age(age, left):
    policy = Policy.model_validate({"waiting": {"heads": 0}})

    assert left == moment(gang("g", minimum=1, age=age), policy=policy)


def test_a_gang_is_tried_again_when_its_pause_is_over():
    assert 7 == moment(gang("g", minimum=1, backoff=7))


def test_a_pause_of_who_has_all_its_pods_is_no_moment():
    assert None is moment(gang("g", running=["n0"], backoff=7))


def test_a_gang_that_is_passed_over_is_protected_in_time():
    assert 10 == moment(gang("g", minimum=1, passed_over=3590))


def test_who_was_evicted_may_have_others_leave_in_time_also_where_nobody_is_a_head():
    policy = Policy.model_validate({"waiting": {"heads": 0}})
    waits = replace(gang("g", minimum=1, passed_over=3590, age=86400), evicted_ago=9)

    assert 10 == moment(waits, policy=policy)


def test_the_budget_for_holding_ends_in_time():
    waits = gang("g", minimum=1, passed_over=86400, age=86400)
    day = replace(snapshot(nodes(1), [waits]), held=8 * 86400 // 50 - 100)

    assert 25 == next_moment(day, POLICY, replace(plan(), held=4))
    assert None is next_moment(day, POLICY)


def test_less_counts_in_time_for_which_nodes_were_held():
    day = snapshot(nodes(1), [gang("g", minimum=1, passed_over=86400, age=86400)])
    none = Policy.model_validate({"waiting": {"heads": 0}})

    assert 40 == next_moment(day, POLICY, plan(), 40)
    assert None is next_moment(day, none, plan(), 40)
    assert None is next_moment(snapshot(nodes(1)), POLICY, plan(), 40)


def test_lent_nodes_are_kept_in_time():
    policy = Policy.model_validate({"evict": {"lentFor": 300}})
    runs = gang("g", minimum=1, running=["n0"], lent_by=("default/h",))
    pods = tuple(replace(pod, seconds=290) for pod in runs.tree.pods)
    runs = replace(runs, tree=replace(runs.tree, pods=pods))

    assert 10 == moment(runs, gang("h", minimum=1, age=86400), policy=policy)


def test_a_head_has_its_turn_in_time():
    waits = gang("g", minimum=1, passed_over=86400, age=86400)
    day = snapshot(nodes(1), [waits])

    assert 30 == next_moment(day, POLICY, replace(plan(), turn=30))


def test_a_head_becomes_firm_in_time():
    policy = Policy.model_validate({"waiting": {"firmAfter": "2h"}})

    assert 10 == moment(
        gang("g", minimum=1, passed_over=7190, age=30000), policy=policy
    )


@pytest.mark.parametrize("heads", [0, 1])
def test_a_gang_becomes_late_in_time(heads):
    tiers = [{"name": "late", "after": "1d"}, "gangs"]
    policy = Policy.model_validate({"tiers": tiers, "waiting": {"heads": heads}})
    long = gang("g", minimum=1, passed_over=86_390, age=90_000)

    assert 10 == moment(long, policy=policy)


@pytest.mark.parametrize(("after", "left"), [(None, 20), (100, 60), (-1, None)])
def test_a_gang_below_its_minimum_turns_stale(after, left):
    half = gang("g", minimum=2, replicas=2, created=1, running=["n0"], stale_since=40)

    assert left == moment(replace(half, stale_after=after))


def test_pods_that_leave_are_room_to_come_for_two_minutes_only():
    leaves = gang("g", minimum=1, terminating=["n0"])
    pods = tuple(replace(pod, seconds=50) for pod in leaves.tree.pods)

    assert 70 == moment(replace(leaves, tree=replace(leaves.tree, pods=pods)))


def test_protection_by_run_time_ends_only_where_somebody_waits():
    runs = gang("g", minimum=1, running=["n0"], queue="low")
    pods = tuple(replace(pod, seconds=100) for pod in runs.tree.pods)
    runs = replace(runs, tree=replace(runs.tree, pods=pods))
    queues = (
        Queue(name="top", reclaim_min_runtime=130),
        Queue(name="low", parent="top", preempt_min_runtime=100),
    )

    assert None is moment(runs, queues=queues)
    assert 30 == moment(runs, gang("h", minimum=1), queues=queues)


def test_a_gang_may_be_evicted_again_later():
    policy = Policy.model_validate({"evict": {"again": 300}})
    runs = gang("g", minimum=1, running=["n0"], evicted_ago=290)

    assert 10 == moment(runs, gang("h", minimum=1), policy=policy)
