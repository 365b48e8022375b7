"""
What a waiting gang is told: whom, where and how much.
"""

from dataclasses import replace

import pytest

from models.neighbours import Neighbours, ReachedVolumes
from models.policy import Evict, Policy, WaitingPolicy
from models.queues import QueueResource
from models.resources import CPU, GPU
from models.why.reasons import Reason
from solver.round import decide
from tests.helpers.build import gang, leaf, node, nodes, queue, snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False)


def told(case, name, *, strategy="solver", policy=None):
    plan = decide(case, policy or Policy(evict=CALM), strategy=strategy)
    (line,) = [line for line in plan.gangs if line.name == f"default/{name}"]
    return line.waiting


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_who_gets_what_a_gang_needs_is_named_with_the_amounts(strategy):
    first = [gang(f"first-{i}", priority=5, gpus=2) for i in range(4)]
    case = snapshot(nodes(1), [*first, gang("late", gpus=1)])

    waiting = told(case, "late", strategy=strategy)

    assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
    assert {
        "resource": "nvidia.com/gpu",
        "needs": 1,
        "free": 8,
        "given": 8,
        "gangs": 4,
        "to": "default/first-0, default/first-1, default/first-2 and 1 more gang",
    } == waiting.facts


def test_who_gets_nothing_of_what_a_gang_lacks_is_not_named():
    first = [
        gang("first", priority=5, gpus=8),
        gang("light", priority=5, requests={CPU: 1_000}),
    ]
    late = gang("late", queue="q", gpus=1)
    limited = [replace(each, queue="q") for each in first]
    cases = (
        snapshot(nodes(1), [*first, replace(late, queue="default")]),
        snapshot(nodes(2), [*limited, late], [queue("q", limit=8)]),
    )

    for case in cases:
        waiting = told(case, "late")

        assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
        assert (1, "default/first") == (waiting.facts["gangs"], waiting.facts["to"])


def test_of_a_tree_with_a_choice_one_way_is_told_with_all_it_needs():
    first = gang("first", priority=5, requests={GPU: 4, CPU: 50_000})
    either = [
        leaf("small", requests={GPU: 6, CPU: 1_000}),
        leaf("large", requests={GPU: 0, CPU: 90_000}),
    ]
    case = snapshot(nodes(1), [first, gang("late", *either, min_groups=1)])

    waiting = told(case, "late")

    assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
    assert ("nvidia.com/gpu", 6) == (waiting.facts["resource"], waiting.facts["needs"])


def test_what_others_get_elsewhere_is_not_counted():
    small = node("small", 2, labels={"kind": "x"})
    case = snapshot(
        [small, node("large", 8)],
        [gang("big", priority=5, gpus=8), gang("a", gpus=2, age=9), gang("b", gpus=2)],
    )

    waiting = told(case, "b")

    assert 2 == waiting.facts["gangs"]
    assert 10 == waiting.facts["free"]


def test_who_takes_what_a_limit_leaves_is_named_with_the_queue():
    queues = [queue("q", limit=3), queue("other", quota=8)]
    case = snapshot(
        nodes(2),
        [
            gang("first", queue="q", priority=5, gpus=2),
            gang("late", queue="q", gpus=2),
            gang("elsewhere", queue="other", gpus=4),
        ],
        queues,
    )

    waiting = told(case, "late")

    assert ("q", 3, 2, 2, "default/first") == tuple(
        waiting.facts[name] for name in ("queue", "free", "given", "needs", "to")
    )


def test_a_limit_takes_nothing_from_who_waits_where_others_leave_for_who_gets_it():
    low = gang("low", queue="q", gpus=8, running=["n0"])
    big = gang("big", queue="q", gpus=8, priority=5)
    case = snapshot(
        nodes(2),
        [low, big, gang("other", queue="r", gpus=8, priority=9)],
        [queue("q", limit=16), queue("r", quota=8)],
    )
    late = gang("late", queue="q", gpus=8)

    waiting = told(replace(case, gangs=(*case.gangs, late)), "late", policy=Policy())

    assert "8 of 8 GPUs free where it fits" in waiting.message


def test_of_a_limit_is_counted_what_leaves_it_for_who_gets_it():
    low = gang("low", queue="q", gpus=8, running=["n0"])
    big = gang("big", queue="q", minimum=3, gpus=4, priority=5)
    wide = gang("wide", queue="r", minimum=3, gpus=8)
    case = snapshot(
        nodes(3),
        [low, big, gang("late", queue="q", gpus=4), wide],
        [queue("q", quota=8, limit=12), queue("r", quota=16)],
    )

    waiting = told(case, "late", policy=Policy())

    said = "12 of 12 GPUs that queue q may still take once others have left"
    assert said in waiting.message


def test_room_that_a_queue_keeps_is_told_of_as_of_all_others():
    keeps = queue("keeps", resources={GPU: QueueResource(quota=8, lend=0)})
    gangs = [
        gang("first", queue="q", gpus=8, priority=5),
        gang("late", queue="q", gpus=8),
    ]

    waiting = told(snapshot(nodes(2), gangs, [keeps, queue("q")]), "late")

    assert "8 of 8 GPUs that all queues but keeps may still take" in waiting.message


def test_a_group_is_told_that_it_needs_more_than_a_limit_leaves():
    mates = ("left", "right")
    gangs = [gang(name, queue="q", mates=mates, gpus=3) for name in mates]
    case = snapshot(nodes(1), gangs, [queue("q", limit=5)])

    waiting = told(case, "left")

    assert Reason.QUOTA_LIMIT_REACHED == waiting.reason
    assert waiting.message.startswith("needs 6 GPUs with its group, queue q ")


@pytest.mark.parametrize("strategy", ["fifo", "easy", "conservative"])
def test_who_waits_in_line_is_told_behind_whom(strategy):
    running = gang("runs", gpus=4, running=["n0"])
    first = gang("first", gpus=8, age=60)
    case = snapshot(nodes(1), [running, first, gang("late", gpus=4)])

    waiting = told(case, "late", strategy=strategy)

    assert {"gangs": 1, "behind": "default/first"} == waiting.facts
    assert Reason.INSUFFICIENT_CAPACITY == told(case, "first", strategy=strategy).reason


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_of_a_group_the_queue_that_may_not_use_kept_room_is_named(strategy):
    keeps = queue("keeps", resources={GPU: QueueResource(quota=6, lend=0)})
    runs = gang("runs", queue="takes", gpus=2, running=["n0"])
    first = gang("first", queue="keeps", gpus=1, mates=("first", "second"))
    second = gang("second", queue="takes", gpus=1, mates=("first", "second"))
    case = snapshot(nodes(1), [runs, first, second], queues=[keeps, queue("takes")])

    facts = told(case, "first", strategy=strategy).facts

    assert ("takes", 2, 2) == (facts["queue"], facts["used"], facts["limit"])


def test_who_is_kept_off_held_nodes_is_told_for_whom_they_are_held():
    running = gang("runs", gpus=4, running=["n0"])
    head = gang("head", gpus=8, passed_over=7200)
    case = snapshot(nodes(1), [running, head, gang("late", gpus=4)])
    policy = Policy(evict=CALM, waiting=WaitingPolicy(idle="hold"))

    assert {"gangs": 1, "behind": "default/head"} == (
        told(case, "late", policy=policy).facts
    )
    assert 1 == told(case, "head", policy=policy).facts["held"]


def test_who_is_protected_is_named_with_what_protects_them():
    guests = [
        gang(f"g{i}", queue="guest", preemptible=False, gpus=3, running=["n0"])
        for i in range(2)
    ]
    queues = [queue("guest", quota=0), queue("owner", quota=8)]
    case = snapshot(nodes(1), [*guests, gang("claim", queue="owner", gpus=8)], queues)

    waiting = told(case, "claim", policy=Policy())

    assert Reason.PREEMPTION_PROTECTED == waiting.reason
    assert {
        "resource": "nvidia.com/gpu",
        "needs": 8,
        "free": 2,
        "used": 6,
        "gangs": 2,
        "who": "default/g0 (not preemptible) and default/g1 (not preemptible)",
    } == waiting.facts


def test_equal_work_that_fills_the_cluster_is_not_called_protected():
    case = snapshot(nodes(1), [gang("runs", gpus=8, running=["n0"]), gang("g", gpus=8)])

    for strategy in ("solver", "greedy"):
        waiting = told(case, "g", strategy=strategy, policy=Policy())

        assert Reason.INSUFFICIENT_CAPACITY == waiting.reason
        assert 0 == waiting.facts["free"]


def test_who_could_start_by_evictions_is_told_who_gets_them_instead():
    queues = [queue("guest", quota=0), queue("owner", quota=8)]
    guests = [gang(f"v{i}", queue="guest", gpus=4, running=["n0"]) for i in range(2)]
    case = snapshot(
        nodes(1),
        [
            *guests,
            gang("first", queue="owner", priority=5, gpus=8),
            gang("late", queue="owner", gpus=8),
        ],
        queues,
    )

    waiting = told(case, "late", policy=Policy())

    assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
    assert ("default/first", 1) == (waiting.facts["to"], waiting.facts["evicting"])


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_who_takes_volumes_that_suit_two_kinds_of_claims_is_named(strategy):
    volumes = (ReachedVolumes("set", ("large", "small"), 3),)
    rack = [replace(each, volumes=volumes) for each in nodes(2)]
    large, small = (Neighbours(claims=((kind, 1),)) for kind in ("large", "small"))
    case = snapshot(
        rack,
        [
            gang("first", minimum=2, priority=5, neighbours=large),
            gang("same", priority=5, neighbours=small),
            gang("late", minimum=2, neighbours=small),
        ],
    )

    waiting = told(case, "late", strategy=strategy)

    assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
    assert "default/first and default/same" == waiting.facts["to"]


def test_who_has_no_right_beside_a_gang_that_was_evicted_before_is_told_of_it():
    hog = gang("hog", queue="hogs", gpus=4, running=["n0", "n0"])
    firm = gang("firm", queue="hogs", gpus=8, running=["n1"], preemptible=False)
    gone = gang("gone", queue="q", gpus=4, evicted_ago=60)
    late = gang("late", queue="q", gpus=4)
    queues = [queue("hogs", quota=12), queue("q", quota=4)]
    case = snapshot(nodes(2), [hog, firm, gone, late], queues)

    waiting = told(case, "late", policy=Policy())

    assert Reason.LOWER_TIER_OR_PRIORITY == waiting.reason
    said = "if others left for it; it is held back for default/gone (evicted before)"
    assert waiting.message == f"could start alone {said}"
