"""
What is true some time after a plan was carried out.
"""

from dataclasses import replace

import pytest

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.devices.gpu_models import PRODUCT, of_model, with_models
from models.gangs import DisruptionBudget, MatchPolicy, PodPhase, pod_sets
from models.policy import Policy
from models.queues import QueueResource
from models.resources import GPU
from models.why.reasons import Reason, Waiting
from solver import next_snapshot
from solver.next_snapshot import carry_out
from solver.round import decide
from tests.helpers.build import (
    bind,
    gang,
    leaf,
    line,
    node,
    nodes,
    plan,
    queue,
    snapshot,
)
from tests.helpers.rounds.cases import random_snapshot


def after(one, *steps, seconds=60, lines=None):
    """
    Carry a plan out for one gang and give the gang.
    """
    (found,) = carry_out(
        snapshot(nodes(3), [one]), plan(*steps, lines=lines), seconds
    ).gangs
    return found


def pods(one):
    return [
        (pod.phase.value, pod.node, pod.seconds)
        for each in pod_sets(one.tree)
        for pod in each.pods
    ]


def test_bound_pods_run_since_the_plan_and_others_run_on():
    one = gang("a", replicas=3, minimum=1, running=["n1"])
    one = after(one, bind("a-1", "n0"), seconds=90)

    assert [("Running", "n1", 90), ("Running", "n0", 90), ("Pending", None, 0)] == pods(
        one
    )
    assert 180 == pods(after(one, seconds=90))[0][2]


def test_evicted_pods_are_pending_again():
    one = after(
        gang("a", replicas=2, running=["n0", "n1"]), bind("a-1", "n1", op="Evict")
    )

    assert [("Running", "n0", 60), ("Pending", None, 0)] == pods(one)


def test_an_evicted_gang_asks_for_the_first_gpu_model_of_its_queue_again():
    models = ("old", "new")
    rules = {of_model(GPU, model): QueueResource() for model in models}
    before = snapshot(
        [node(name, labels={PRODUCT: name}) for name in models],
        [gang("a", running=["new"])],
        [queue("default", resources=rules)],
    )
    leaves = plan(bind("a-0", "new", op="Evict"))

    (one,) = carry_out(with_models(before), leaves, 60).gangs

    assert {of_model(GPU, "old"): 1} == {
        name: asked
        for name, asked in one.tree.requests.items()
        if name.startswith(f"{GPU}@")
    }


def test_a_moved_pod_is_reserved_where_it_goes():
    step = bind("a-0", "n2", op="Move", source="n0", rule="consolidate")
    one = after(gang("a", running=["n0"]), step)

    assert [("Reserved", "n2", 0)] == pods(one)


def test_reservations_hold_only_while_they_are_repeated():
    one = gang("a", replicas=3, reserved=["n0", "n1", "n2"])
    one = after(one, bind("a-0", "n0"), bind("a-1", "n2", op="Reserve"))

    assert [("Running", "n0", 60), ("Reserved", "n2", 0), ("Pending", None, 0)] == pods(
        one
    )


def test_terminating_pods_are_gone_and_made_anew():
    one = after(gang("a", replicas=2, running=["n0"], terminating=["n1"]))

    assert [("Running", "n0", 60), ("Pending", None, 0)] == pods(one)


def test_a_terminating_pod_that_is_replaced_already_is_not_made_again():
    one = gang("a", replicas=2, running=["n0"], terminating=["n1"])
    more = replace(one.tree.pods[1], name="a-2", phase=PodPhase.PENDING, node=None)
    tree = replace(one.tree, pods=(*one.tree.pods, more))

    assert [("Running", "n0", 60), ("Pending", None, 0)] == pods(
        after(replace(one, tree=tree))
    )


def test_finished_and_gated_pods_stay_as_they_are():
    one = after(gang("a", replicas=3, succeeded=1, failed=1, gated=1))

    assert ["Succeeded", "Failed", "Gated"] == [phase for phase, _, _ in pods(one)]


def test_ages_grow_and_back_off_ends():
    one = after(gang("a", age=5, backoff=70), seconds=60)

    assert (65, 10) == (one.age, one.backoff)
    assert 0 == after(one).backoff


@pytest.mark.parametrize(
    ("reason", "grown"),
    [
        (Reason.FRAGMENTED, 130),
        (Reason.LOWER_TIER_OR_PRIORITY, 130),
        (Reason.PREEMPTION_PROTECTED, 130),
        (Reason.WAITING_FOR_PODS, 70),
        (Reason.NO_FITTING_NODE, 70),
        (Reason.BIND_REJECTED, 70),
    ],
)
def test_only_a_ready_gang_that_is_not_chosen_is_passed_over(reason, grown):
    lines = [line("a", waiting=Waiting(reason))]
    one = after(gang("a", passed_over=70), lines=lines)

    assert grown == one.passed_over


def test_a_gang_that_starts_is_passed_over_no_more():
    assert 0 == after(gang("a", passed_over=70), bind("a-0")).passed_over


def test_a_gang_that_runs_below_its_minimum_gets_stale():
    one = gang("a", minimum=2, running=["n0"], stale_since=30)

    assert 90 == after(one).stale_since
    assert 60 == after(replace(one, stale_since=None)).stale_since
    assert after(one, bind("a-1")).stale_since is None
    assert after(one, bind("a-0", op="Evict")).stale_since is None


def test_pods_that_succeeded_and_optional_groups_make_nobody_stale():
    done = gang("a", minimum=2, running=["n0"], succeeded=1)
    two = gang(
        "a",
        leaf("x", 1, running=["n0"]),
        leaf("y", 2, running=["n1"]),
        min_groups=1,
    )

    assert after(done).stale_since is None
    assert after(two).stale_since is None


def test_what_was_once_satisfied_is_remembered_and_never_stale():
    one = gang("a", minimum=2, match_policy=MatchPolicy.ONCE_SATISFIED)
    one = after(one, bind("a-0"), bind("a-1"))

    assert one.once_satisfied

    one = after(one, bind("a-0", op="Evict"))

    assert one.once_satisfied
    assert one.stale_since is None
    assert not after(gang("b", minimum=1), bind("b-0")).once_satisfied


def test_an_eviction_is_remembered_with_its_time():
    one = after(gang("a", running=["n0"]), bind("a-0", op="Evict"))

    assert 60 == one.evicted_ago
    assert 120 == after(one).evicted_ago
    assert (
        60
        == after(
            gang("a", running=["n0"]), bind("a-0", op="Move", source="n0")
        ).evicted_ago
    )


def test_who_leaves_as_stale_leaves_for_nobody():
    step = bind("a-0", op="Evict", rule="stale")

    assert after(gang("a", running=["n0"]), step).evicted_ago is None


def test_only_what_is_no_plan_changes_what_is_wanted():
    quiet = snapshot(nodes(1), [gang("a", running=["n0"]), gang("b", backoff=90)])
    taken = plan(bind("a-0", op="Evict", rule="reclaim"))
    stale = plan(bind("a-0", op="Evict", rule="stale"))

    assert 60 == carry_out(quiet, taken, 60).unchanged_for
    assert 70 == carry_out(replace(quiet, unchanged_for=10), taken, 60).unchanged_for
    assert 0 == carry_out(quiet, stale, 60).unchanged_for
    assert 0 == carry_out(quiet, taken, 90).unchanged_for


def test_a_pause_that_ends_of_who_has_all_its_pods_changes_nothing():
    quiet = snapshot(nodes(1), [gang("a", running=["n0"], backoff=30)])

    assert 60 == carry_out(quiet, plan(), 60).unchanged_for


def test_disturbed_pods_are_taken_off_a_budget():
    one = gang("a", replicas=2, running=["n0", "n1"])
    given = replace(
        snapshot(nodes(2), [one]),
        budgets=(DisruptionBudget(name="b", gangs=("default/a",), allowed=1),),
    )
    later = carry_out(given, plan(bind("a-0", op="Evict")), 60)

    assert 0 == later.budgets[0].allowed


def test_an_empty_plan_of_no_time_changes_nothing():
    given = snapshot(nodes(2), [gang("a", running=["n0"], evicted_ago=3), gang("b")])

    assert replace(given, unchanged_for=0) == carry_out(given, plan(), 0)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(10))
def test_what_was_carried_out_is_a_snapshot_that_can_be_written(seed):
    given = random_snapshot(seed)
    later = carry_out(given, decide(given, Policy()), 60)
    again = scenario_of("later", snapshot_document(later)).snapshot

    assert [g.key for g in later.gangs] == [g.key for g in again.gangs]
    assert [g.key for g in given.gangs] == [g.key for g in later.gangs]


@pytest.mark.parametrize("seed", range(20))
def test_who_runs_whole_is_the_same_object_where_no_time_passes(seed, monkeypatch):
    given = random_snapshot(seed)
    made = decide(given, Policy(), strategy="greedy")
    soon = carry_out(given, made, 0)
    monkeypatch.setattr(next_snapshot, "_stays", lambda _: False)

    assert carry_out(given, made, 0) == soon


def test_of_who_stays_nothing_is_made_anew():
    runs = gang("runs", gpus=1, running=["n0"])
    given = snapshot(nodes(1), [runs])
    (same,) = carry_out(given, plan(), 0).gangs

    assert same is runs
