"""
Plans with evictions that look broken to the judge and are not.
"""

from dataclasses import replace

import pytest

from models.gangs import DisruptionBudget, MatchPolicy
from models.policy import Policy
from models.snapshot import Snapshot
from solver.verify import verify
from tests.helpers.build import (
    bind,
    gang,
    group,
    key,
    leaf,
    nodes,
    queue,
    snapshot,
    tier,
)
from tests.unit.solver.verify.verify_cases import (
    FULL,
    GOOD,
    POLICY,
    aged,
    evict,
    evicting,
    made,
    move,
    needy,
    reserve,
    reserves,
    stale,
    victim,
)
from tests.unit.solver.verify.verify_evictions import ailing

LATE = {"gpus": 8, "timed_out": True}


def rules(given: Snapshot, *steps, policy=POLICY, **fields):
    return [found.rule for found in verify(given, policy, made(*steps, **fields))]


def holds(given: Snapshot, *steps, **fields):
    return rules(given, *steps, **fields) == []


# What is reserved


def test_a_reserved_pod_is_bound_reserved_again_or_forgotten():
    given = snapshot(nodes(2), [gang("a", reserved=["n0"]), gang("b")])

    assert holds(given, bind("a-0"))
    assert holds(given, reserve("a-0"))
    assert holds(given, bind("b-0"))


def test_a_satisfied_gang_is_bound_and_reserved_in_one_plan():
    given = snapshot(nodes(2), [victim("a", "n0", minimum=1, replicas=3, gpus=4)])

    assert holds(given, bind("a-1", "n1"), reserve("a-2", "n1"))


def test_reserved_pods_ask_for_their_share_as_pending_ones_do():
    queues = [queue("q"), queue("p")]
    mine = gang("a", queue="q", gpus=8)
    other = gang("b", queue="p", gpus=8)
    held = gang("b", queue="p", gpus=8, reserved=["n0"])
    for rival in (other, held):
        given = snapshot(nodes(1), [mine, rival], queues)

        assert ["entitled"] == rules(given, bind("a-0"), entitled=["a"])


def test_what_is_reserved_may_wait_for_limits_too():
    given = snapshot(
        nodes(1),
        [victim(gpus=4), needy(gpus=4)],
        [queue(quota=None, limit=4)],
    )

    assert holds(given, *GOOD)


# Who leaves


def test_surplus_leaves_pod_by_pod_and_a_gang_goes_whole():
    grown = victim("v", "n0", "n0", "n1", gpus=4, minimum=1)
    given = snapshot(nodes(2), [grown, needy(gpus=4), needy("x", gpus=4)])
    both = reserves("w", "n0") + reserves("x", "n0")

    assert holds(given, evict("v-0"), reserve("w-0"))
    assert holds(given, evict("v-0"), evict("v-1", "n0", "x"), *both)


def test_a_whole_child_is_surplus_where_there_are_more_than_needed():
    tree = gang(
        "v",
        group("g", leaf("x", 1, gpus=4, running=["n0"]), leaf("y", 1, running=["n0"])),
        group("h", leaf("z", 2, gpus=3, running=["n1", "n1"])),
        min_groups=1,
    )
    given = snapshot(nodes(2), [tree, needy("w", gpus=5)])
    child = [evict("v-x-0", gang="v"), evict("v-y-0", gang="v")]

    assert holds(given, *child, reserve("w-0"))


def test_what_was_never_satisfied_below_the_root_loses_pods_freely():
    tree = gang(
        "v",
        leaf("x", 1, running=["n0"]),
        leaf("y", 3, running=["n0", "n0"]),
        min_groups=1,
    )
    given = snapshot(nodes(1), [tree, needy("w", gpus=6)])

    assert holds(given, evict("v-y-0", gang="v"), reserve("w-0"))


def test_ordinary_pods_leave_one_by_one():
    once = {"match_policy": MatchPolicy.ONCE_SATISFIED, "once_satisfied": True}
    given = snapshot(nodes(2), [victim("v", "n0", "n1", **once), needy()])

    assert holds(given, evict("v-0"), reserve("w-0"))


def test_pods_leave_nodes_that_have_vanished():
    given = snapshot(nodes(1), [victim("v", "n0", "gone"), needy()])

    assert holds(given, evict("v-0"), evict("v-1", "gone"), reserve("w-0"))


def test_surplus_moves_by_itself_and_a_gang_with_pods_that_keep_their_node():
    grown = victim("v", "n0", "n1", minimum=1, gpus=4)
    given = snapshot(nodes(3), [grown, needy()])

    assert holds(given, move("v-0", "n0", "n1"), reserve("w-0"))
    both = [move("v-0", "n0", "n1"), move("v-1", "n1", "n1")]
    assert holds(given, *both, reserve("w-0"))


def test_stale_gangs_count_for_nothing_that_is_bounded():
    given = snapshot(
        nodes(3), [replace(aged(ailing(), 100), preemptible=False, evicted_ago=1)]
    )
    given = replace(
        given, budgets=(DisruptionBudget(name="b", gangs=(key("s"),), allowed=0),)
    )
    policy = evicting(maxPods=0, maxGangs=0, maxLostPerGpu=0, again=60)

    assert holds(
        given,
        stale("s-0", "n2"),
        policy=policy,
        tiers=[tier("disruption", 0, direction="min")],
    )
    assert holds(given, stale("s-0", "n2"), policy=Policy(tiers=["gpus"]))


def test_a_gang_may_have_a_grace_of_its_own():
    given = snapshot(nodes(3), [ailing(stale_after=10, stale_since=10)])

    assert holds(given, stale("s-0", "n2"))


# How much may leave


def reclaim(pod, at, *names):
    return evict(pod, at, *names, rule="reclaim")


def test_the_last_unit_takes_a_queue_below_its_share():
    one = victim("v", "n0", "n1", queue="p")
    queues = [queue("p"), queue("q", quota=1)]
    given = snapshot(nodes(2), [one, needy(queue="q", gpus=1)], queues)
    both = [reclaim("v-0", "n0"), reclaim("v-1", "n1")]

    assert holds(given, *both, reserve("w-0"), entitled=["w"])


def test_an_inner_queue_answers_only_for_what_leaves_it():
    queues = [
        queue("top", quota=8),
        queue("p", "top"),
        queue("r", "top", quota=8),
        queue("q", quota=8),
    ]
    running = [victim(queue="p"), victim("u", "n1", queue="p")]
    waiting = [needy("x", queue="r"), needy("w", queue="q")]
    given = snapshot(nodes(2), [*running, *waiting], queues)
    first = [reclaim("v-0", "n0", "x"), reserve("x-0")]
    second = [reclaim("u-0", "n1", "w"), reserve("w-0", "n1")]

    assert holds(given, *first, *second, entitled=["x", "w"])


@pytest.mark.parametrize(("named", "found"), [("w", []), ("e", ["reclaim-bound"])])
def test_starts_that_may_have_come_later_are_not_counted_elsewhere(named, found):
    queues = [
        queue("top", quota=9),
        queue("p", "top"),
        queue("r", "top", quota=5),
        queue("q", quota=15),
        queue("s", quota=5),
    ]
    running = [
        victim("v", queue="p", gpus=4),
        victim("u", queue="p", gpus=4),
        victim("t", "n1", queue="p", gpus=4),
    ]
    waiting = [
        needy(queue="q", gpus=4),
        gang("e", queue="q", minimum=3, gpus=2),
        gang("x", queue="r", gpus=5),
        gang("y", queue="s", gpus=5),
    ]
    given = snapshot(nodes(3), [*running, *waiting], queues)
    steps = [reclaim("v-0", "n0"), reclaim("u-0", "n0", named), reserve("w-0")]
    place = bind if named == "w" else reserve
    steps += [place(f"e-{i}", "n2", "e") for i in range(3)]

    assert found == rules(given, *steps, entitled=["w", "e"])


@pytest.mark.parametrize(
    ("fields", "found"),
    [({"gpus": 8}, []), ({"gpus": 9}, []), (LATE, ["reclaim-bound"])],
    ids=["possible", "arguable", "held"],
)
def test_a_share_that_is_arguable_is_read_in_favour_of_a_reclaim(fields, found):
    hope = gang("h", queue="r", **fields)
    running = [victim(name, queue="p", gpus=4) for name in ("v", "u")]
    given = snapshot(
        nodes(2),
        [*running, hope, needy(queue="q", gpus=4)],
        [queue("p"), queue("q"), queue("r")],
    )

    assert found == rules(given, reclaim("v-0", "n0"), reserve("w-0"), entitled=["w"])


def test_queues_that_name_nothing_reclaim_nothing():
    bare = [queue("p", resources={}), queue("q", resources={})]
    given = replace(FULL, queues=tuple(bare))

    assert ["reclaim-bound"] == rules(
        given, reclaim("v-0", "n0"), reserve("w-0"), entitled=["w"]
    )


def test_nobody_leaves_for_gangs_that_were_evicted():
    queues = [queue("p"), queue("q", quota=8, limit=8)]
    waiting = [gang("w", queue="q", gpus=4, evicted_ago=60)]
    running = [victim("v", queue="p"), victim("u", "n1", queue="p")]
    given = snapshot(nodes(2), [*running, *waiting], queues)

    assert "right-to-evict" in rules(
        given, reclaim("v-0", "n0", "w"), reserve("w-0"), entitled=["w"]
    )


def test_gangs_that_were_evicted_are_in_nobodys_way_inside_their_queue():
    queues = [queue("q", quota=12, limit=12)]
    running = [victim("v", queue="q", gpus=4)]
    waiting = [needy("w", queue="q"), needy("y", queue="q", evicted_ago=60)]
    given = snapshot(nodes(1), [*running, *waiting], queues)

    assert holds(given, *GOOD, entitled=["w"])


# What is said of it


@pytest.mark.parametrize("gangs", [0, 1])
def test_a_gang_that_needs_none_of_its_pods_may_be_called_whole_or_not(gangs):
    given = snapshot(nodes(1), [victim(minimum=0, replicas=1), needy()])
    tiers = [
        tier("disruption", 0, direction="min"),
        tier("disruption-gangs", gangs, direction="min"),
        tier("disruption-pods", 1, direction="min"),
        tier("disruption-size", 10**9, direction="min"),
    ]

    assert holds(given, *GOOD, tiers=tiers)


def test_a_plan_that_claims_nothing_is_not_judged_for_it():
    given = snapshot(nodes(1), [aged(victim(), 10), needy()])

    assert holds(given, *GOOD, tiers=[tier("gpus", 8)])


def test_thousands_of_evictions_have_a_message_each_only_where_they_are_wrong():
    gangs = [victim(f"v{i}", f"n{i // 8}", gpus=1) for i in range(80)]
    big = needy("w", minimum=10, replicas=10)
    given = snapshot(nodes(10), [*gangs, big])
    steps = [evict(f"v{i}-0", f"n{i // 8}", gang=f"v{i}") for i in range(80)]
    places = reserves("w", *(f"n{i}" for i in range(10)))

    assert holds(given, *steps, *places)
    assert ["node-capacity"] == rules(given, *steps[:-1], *places)
