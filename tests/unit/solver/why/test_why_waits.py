"""
Why one gang waits: one verdict, a sentence with numbers, and a core behind it.
"""

from dataclasses import replace

import pytest

from models.gangs import DisruptionBudget
from models.memory.aged_gangs import older
from models.neighbours import Apart, Near, Neighbours, ReachedVolumes, Spread
from models.nodes import HOSTNAME, Taint
from models.policy import Evict, Policy, WaitingPolicy
from models.queues import QueueResource
from models.resources import GPU
from models.why.verdicts import PlaceInLine, Verdict
from solver import RoundAsked, why_waits
from solver.round import decide
from tests.helpers.build import (
    gang,
    leaf,
    node,
    nodes,
    queue,
    required,
    selector,
    snapshot,
)

CALM = Evict(preempt=False, reclaim=False, consolidate=False)


def why(case, name, policy=None):
    policy = policy or Policy(evict=CALM)
    return why_waits(case, policy, decide(case, policy), f"default/{name}")


def rules(found):
    return [(one.rule.value, one.at) for one in found.because]


def test_what_starts_does_not_wait():
    found = why(snapshot(nodes(1), [gang("a", gpus=8)]), "a")

    assert Verdict.NONE is found.verdict
    assert "starts in this round" == found.sentence


def test_a_full_cluster_is_said_with_what_is_free():
    running = gang("runs", gpus=6, running=["n0"])
    found = why(snapshot(nodes(1), [running, gang("a", gpus=4)]), "a")

    assert [("room", "")] == rules(found)
    assert "needs 4 GPUs; 2 of 8 are free where it may be" == found.sentence
    (room,) = found.because
    assert (8, 6, 4) == (room.has, room.used, room.needs)
    assert "counting" == found.proof


def test_pods_that_terminate_are_named_as_what_still_holds_room():
    old = older(gang("old", gpus=6, terminating=["n0"]), 600)
    case = snapshot(nodes(1), [old, gang("a", gpus=4)])
    plan = decide(case, Policy(evict=CALM))
    told = next(x.waiting for x in plan.gangs if x.name == "default/a")
    more = "6 more once pods of default/old have ended"

    assert f"needs 4 GPUs; 2 of 8 are free where it may be, {more}" == (
        why(case, "a").sentence
    )
    assert told.message.endswith(f"matching nodes have 2 free, {more}")


def test_a_reserved_gang_names_who_leaves_for_it():
    case = snapshot(
        nodes(1), [gang("old", gpus=6, terminating=["n0"]), gang("a", gpus=4)]
    )

    assert "has 1 place on 1 node, and waits for default/old to leave" == (
        why(case, "a", Policy()).sentence
    )


def test_more_than_all_nodes_offer_is_a_lack_of_room():
    assert [("room", "")] == rules(
        why(snapshot(nodes(1), [gang("a", minimum=3, gpus=4)]), "a")
    )


def test_a_pod_larger_than_any_node_never_starts():
    found = why(snapshot(nodes(3), [gang("a", gpus=9)]), "a")

    assert Verdict.NEVER is found.verdict
    assert "the largest node has 8" in found.sentence


def test_room_in_pieces_is_said_to_be_so():
    running = [gang(f"r{i}", gpus=4, running=[f"n{i}"]) for i in range(2)]
    found = why(snapshot(nodes(2), [*running, gang("a", gpus=8)]), "a")

    assert [("fragments", "")] == rules(found)
    assert found.sentence.startswith("needs 8 GPUs; 8 are free, but in pieces")


def test_a_drained_node_is_named_with_what_is_free_there():
    closed = node("away", unschedulable=True)
    found = why(snapshot([node("n0", 4), closed], [gang("a", gpus=8)]), "a")

    assert [("nodes", "away")] == rules(found)
    assert "away is closed to new pods, with 8 GPUs free" == found.sentence


def test_room_beside_a_drained_node_is_part_of_the_core():
    closed = node("away", unschedulable=True)
    running = gang("runs", gpus=8, running=["n0"])
    found = why(snapshot([node("n0"), closed], [running, gang("a", gpus=8)]), "a")

    assert Verdict.NODES is found.verdict
    assert [("nodes", "away"), ("room", "")] == rules(found)


def test_a_taint_is_named_by_its_key():
    kept = node("n0", taints=(Taint(key="team", value="x"),))
    found = why(snapshot([kept], [gang("a", gpus=8)]), "a")

    assert [("nodes", "team")] == rules(found)
    assert found.sentence.startswith("team is a taint that it does not tolerate")


def test_a_selector_is_named_by_its_labels():
    h100 = node("n0", 4, labels={"gpu": "h100"})
    asks = gang("a", gpus=8, demand=selector(gpu="h100"))
    found = why(snapshot([h100, node("n1")], [asks]), "a")

    assert [("nodes", "gpu=h100")] == rules(found)


def test_one_rack_is_too_small_though_two_are_not():
    racks = [node(f"n{i}", rack=f"r{i}", zone="z") for i in range(2)]
    found = why(
        snapshot(racks, [gang("a", minimum=2, gpus=8, topology=required())]), "a"
    )

    assert Verdict.TOPOLOGY is found.verdict
    assert [("topology", "rack"), ("room", "")] == rules(found)
    assert "needs 16 GPUs in one rack; the best one has 8 free, of 8 in all" == (
        found.sentence
    )


def test_pods_that_run_in_two_racks_are_what_keeps_others_out():
    racks = [node(f"n{i}", rack=f"r{i}", zone="z") for i in range(2)]
    asks = gang("a", minimum=3, gpus=1, running=["n0", "n1"], topology=required())
    found = why(snapshot(racks, [asks]), "a")

    assert "needs one rack for all its pods; those that run are not in one" == (
        found.sentence
    )


def test_a_level_that_no_node_has_is_named():
    asks = gang("a", minimum=3, gpus=1, topology=required())
    found = why(snapshot(nodes(2), [asks]), "a")

    assert "needs one rack for all its pods; no node has the labels of a rack" == (
        found.sentence
    )


def test_roles_alike_share_the_places_of_a_rack():
    racks = [node(f"n{i}", rack=f"r{i // 2}", zone="z") for i in range(4)]
    roles = [leaf("m", 1, gpus=5), leaf("w", 2, gpus=5)]
    found = why(snapshot(racks, [gang("a", *roles, topology=required())]), "a")

    assert "needs 3 pods in one rack; the best one has 2 free, of 2 in all" == (
        found.sentence
    )


def test_a_number_of_pods_of_any_role_is_what_one_rack_lacks():
    racks = [node(f"n{i}", rack=f"r{i // 2}", zone="z") for i in range(4)]
    roles = [leaf("m", 0, 2, gpus=4), leaf("w", 0, 3, gpus=3)]
    asks = gang("a", *roles, min_groups=0, min_pods=5, topology=required())
    found = why(snapshot(racks, [asks]), "a")

    assert "needs 17 GPUs in one rack; the best one has 16 free, of 16 in all" == (
        found.sentence
    )


def test_a_limit_is_named_with_its_queue_and_what_is_left():
    running = gang("runs", queue="q", gpus=4, running=["n0"])
    case = snapshot(
        nodes(2), [running, gang("a", queue="q", gpus=4)], [queue("q", limit=6)]
    )
    found = why(case, "a")

    assert [("limit", "q")] == rules(found)
    assert "needs 4 GPUs; queue q may still use 2 of its limit 6" == found.sentence


def test_a_quota_bounds_what_is_not_preemptible():
    running = gang("runs", queue="q", gpus=6, preemptible=False, running=["n0"])
    claim = gang("a", queue="q", gpus=4, preemptible=False)
    found = why(snapshot(nodes(2), [running, claim], [queue("q", quota=8)]), "a")

    assert [("quota", "q")] == rules(found)
    assert "needs 4 GPUs; queue q may still use 2 of its 8" == found.sentence


def test_two_cores_that_have_no_rule_in_common_are_both_said():
    running = gang("runs", queue="q", gpus=8, running=["n0"])
    case = snapshot(
        nodes(1), [running, gang("a", queue="q", gpus=4)], [queue("q", limit=8)]
    )
    found = why(case, "a")

    assert [("limit", "q")] == rules(found)
    assert [["room"]] == [[one.rule.value for one in core] for core in found.besides]


def test_further_cores_are_looked_for_only_where_they_are_told():
    running = gang("runs", queue="q", gpus=8, running=["n0"])
    case = snapshot(
        nodes(1), [running, gang("a", queue="q", gpus=4)], [queue("q", limit=8)]
    )
    asked = RoundAsked(case, Policy(), decide(case, Policy()))

    assert () == asked.told("default/a").besides


def test_who_gets_what_it_could_have_used_is_named():
    first = gang("first", gpus=6, priority=5)
    found = why(snapshot(nodes(1), [first, gang("late", gpus=4)]), "late")

    assert [("outranked", ""), ("room", "")] == rules(found)
    assert (
        "could start alone; needs 4 GPUs; this plan gives 6 GPUs to default/first, "
        "of 8 GPUs that are free"
    ) == found.sentence


def test_equal_gangs_that_can_never_start_are_each_told_of_their_own_pods():
    case = snapshot(nodes(1), [gang(name, gpus=9) for name in ("a", "b")])
    asked = RoundAsked(case, Policy(), decide(case, Policy()))
    for name in ("a", "b"):
        assert (
            f"pod default/{name}-0 fits no node"
            in asked.told(f"default/{name}").sentence
        )


def test_what_is_free_beside_what_it_could_use_is_not_said_to_be_all():
    first = gang("first", gpus=6, priority=5)
    there = [*nodes(1), node("odd", gpus=1)]
    found = why(snapshot(there, [first, gang("late", gpus=4)]), "late")

    assert [("outranked", ""), ("room", "")] == rules(found)
    assert found.sentence.endswith("of 8 GPUs that are free where it fits")


def test_what_the_search_left_open_is_said_with_its_gap():
    running = gang("runs", queue="p", gpus=8, running=["n0"])
    first = gang("first", queue="q", gpus=8, priority=5)
    late = gang("late", queue="q", gpus=4)
    queues = [queue("p", quota=0), queue("q", quota=8)]
    case, policy = snapshot(nodes(1), [running, first, late], queues), Policy()
    plan = decide(case, policy)
    tiers = tuple(
        replace(tier, bound=4 * (tier.value or 1)) if tier.name == "entitled" else tier
        for tier in plan.tiers
    )
    found = why_waits(case, policy, replace(plan, tiers=tiers), "default/late")

    assert Verdict.UNDECIDED is found.verdict
    assert found.sentence.startswith("undecided within the limit of this round: it ")
    assert "could start alone if others left for it; needs 4 GPUs" in found.sentence
    assert "this plan gives 8 GPUs to default/first; that nobody" in found.sentence
    assert found.sentence.endswith("ended with a gap of 75.0 %")


def test_who_gets_what_a_limit_leaves_is_named():
    gangs = [
        gang("first", queue="q", gpus=4, priority=5),
        gang("late", queue="q", gpus=4),
    ]
    found = why(snapshot(nodes(2), gangs, [queue("q", limit=6)]), "late")

    assert [("outranked", "q"), ("limit", "q")] == rules(found)


def test_who_is_held_back_for_a_head_is_told_for_whom():
    running = gang("runs", gpus=4, running=["n0"])
    head = gang("head", gpus=8, passed_over=7200)
    case = snapshot(nodes(1), [running, head, gang("late", gpus=4)])
    policy = Policy(evict=CALM, waiting=WaitingPolicy(idle="hold"))

    found = why(case, "late", policy)

    assert "could start alone, and is held back for default/head" == found.sentence


def test_of_protected_work_that_is_named_which_the_gang_itself_could_take():
    """
    What only a queue with a larger share could take is not in its way.
    """
    guarded = {"preempt_min_runtime": 7200, "reclaim_min_runtime": 7200}
    mine = gang("mine", queue="q", gpus=8, running=["n0"])
    theirs = gang("theirs", queue="other", gpus=8, running=["n1"])
    claim = gang("a", queue="q", gpus=8, priority=5)
    queues = [
        queue("q", quota=8, **guarded),
        queue("other", quota=0, **guarded),
    ]
    case = snapshot(nodes(2), [older(mine, 3600), older(theirs, 60), claim], queues)

    found = why(case, "a", Policy())

    assert "default/mine (within its min runtime, for 1h more)" in found.sentence


def test_nodes_on_which_no_pod_of_it_has_room_when_empty_are_not_counted():
    small = [node(f"small-{i}", gpus=4) for i in range(3)]
    found = why(snapshot([*nodes(1), *small], [gang("a", minimum=2, gpus=8)]), "a")

    assert [("room", "")] == rules(found)
    assert "needs 16 GPUs; 8 of 8 are free where it may be" == found.sentence


def test_of_a_choice_no_part_that_has_room_is_said_to_be_enough():
    """
    Two of three parts are needed; each of two would fit if it were the only one.
    """
    parts = [
        leaf("x", minimum=2, gpus=4),
        leaf("y", minimum=2, gpus=3),
        leaf("z", minimum=3, gpus=4),
    ]
    runs = gang("runs", minimum=2, gpus=2, running=["n0", "n1"])
    more = gang("more", gpus=1, running=["n2"])
    claim = gang("a", *parts, min_groups=2)

    found = why(snapshot(nodes(5, gpus=4), [runs, more, claim]), "a")

    assert Verdict.FRAGMENTS is found.verdict
    assert found.sentence.endswith("but not for enough of them at once")


def test_protected_work_is_named_with_what_protects_it():
    guest = gang("guest", queue="g", preemptible=False, gpus=8, running=["n0"])
    queues = [queue("g", quota=0), queue("o", quota=8)]
    case = snapshot(nodes(1), [guest, gang("claim", queue="o", gpus=8)], queues)

    found = why(case, "claim", Policy())

    assert [("protected", ""), ("room", "")] == rules(found)
    assert "default/guest (not preemptible)" in found.sentence


def test_a_budget_protects_also_who_leaves_whole_where_it_allows_too_few():
    below = gang("below", minimum=2, gpus=8, running=["n0", "n1"])
    case = snapshot(nodes(2), [below, gang("above", gpus=8, priority=5)])
    budgets = (DisruptionBudget(name="b", gangs=("default/below",), allowed=1),)

    found = why(replace(case, budgets=budgets), "above", Policy())

    assert [("protected", ""), ("room", "")] == rules(found)
    assert "default/below (kept by a disruption budget)" in found.sentence


@pytest.mark.parametrize(
    ("limit", "mine"),
    [(4, QueueResource(quota=8)), (None, QueueResource(quota=16, lend=6))],
)
def test_who_may_not_move_since_its_queue_has_too_much_is_protected(limit, mine):
    """
    In the second case a queue keeps room of its own, and all others have too much.
    """
    queues = [
        queue("full", quota=8, limit=limit),
        queue("mine", resources={GPU: mine}),
    ]
    running = [
        gang(f"r{at}", queue="full", gpus=4, running=[f"n{at}"]) for at in (0, 1)
    ]
    case = snapshot(nodes(2), [*running, gang("a", queue="mine", gpus=8)], queues)
    policy = Policy(evict=Evict(preempt=False, reclaim=False))

    found = why(case, "a", policy)

    assert [("protected", ""), ("fragments", "")] == rules(found)
    assert "default/r0 (not moved, since its queue has more than" in found.sentence


@pytest.mark.parametrize(
    "bound", [{"maxPods": 1}, {"maxGangs": 0}, {"maxLostPerGpu": 60}]
)
def test_bounds_of_the_policy_protect_whom_nothing_else_does(bound):
    below = gang("below", minimum=2, gpus=8, running=["n0", "n1"])
    case = snapshot(nodes(2), [below, gang("above", minimum=2, gpus=8, priority=5)])
    policy = Policy(evict=Evict(**bound))

    found = why(
        replace(case, gangs=tuple(older(x, 600) for x in case.gangs)), "above", policy
    )

    assert [("protected", ""), ("room", "")] == rules(found)
    assert "default/below (kept by the policy's bounds" in found.sentence


def test_a_share_that_is_too_small_gives_no_right():
    guest = gang("guest", queue="g", gpus=8, running=["n0"])
    queues = [queue("g", quota=4), queue("o", quota=4)]
    case = snapshot(nodes(1), [guest, gang("claim", queue="o", gpus=8)], queues)

    found = why(case, "claim", Policy())

    assert [("share", "o"), ("room", "")] == rules(found)


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [({"created": 1}, Verdict.PODS), ({"backoff": 9}, Verdict.BACKOFF)],
)
def test_who_is_not_ready_is_told_what_is_missing(fields, verdict):
    found = why(snapshot(nodes(1), [gang("a", **({"minimum": 2} | fields))]), "a")

    assert verdict is found.verdict
    assert 1 == len(found.because)


def test_it_is_told_who_waits_before_it():
    waiting = [
        gang(x, queue=x[0], gpus=8, age=9 - n) for n, x in enumerate(("pa", "qb"))
    ]
    case = snapshot(
        nodes(1),
        [gang("runs", queue="p", gpus=8, running=["n0"]), *waiting],
        [queue("p"), queue("q")],
    )
    policy = Policy(evict=CALM)
    found = why_waits(case, policy, decide(case, policy), "default/qb")

    expected = PlaceInLine(at=2, waiting=2, in_queue=1, before=("default/pa",))
    assert expected == found.place


@pytest.mark.parametrize("strategy", ["solver", "greedy"])
def test_who_does_not_start_since_the_next_round_would_evict_it_is_told_for_whom(
    strategy,
):
    queues = [queue("also", quota=10), queue("line", quota=1)]
    gangs = [
        gang("held", queue="also", minimum=3, gpus=4, running=["n0", "n1", "n1"]),
        gang("behind", queue="also", gpus=8),
        gang("first", queue="line", priority=30, gpus=8),
        gang("later", queue="line", priority=20, minimum=3, gpus=2),
    ]
    room = [node(f"n{at}", gpus) for at, gpus in enumerate((4, 8, 4, 8))]
    case, policy = snapshot(room, gangs, queues), Policy()
    plan = decide(case, policy, strategy=strategy)

    found = why_waits(case, policy, plan, "default/later")

    assert [Verdict.OUTRANKED] == [one.rule for one in found.because]
    assert found.sentence == found.because[0].sentence
    assert found.sentence == (
        "could start alone; it is held back for default/first, "
        "for whom the next round would evict it"
    )
    (first,) = found.because
    assert (first.resource, first.needs, first.has, first.used) == (GPU, 6, 12, 8)
    assert not found.proof


def test_of_a_limit_is_counted_what_leaves_it_for_who_gets_it():
    low = gang("low", queue="q", gpus=8, running=["n0"])
    big = gang("big", queue="q", minimum=3, gpus=4, priority=5)
    wide = gang("wide", queue="r", minimum=3, gpus=8)
    case = snapshot(
        nodes(3),
        [low, big, gang("late", queue="q", gpus=4), wide],
        [queue("q", quota=8, limit=12), queue("r", quota=16)],
    )

    assert why(case, "late", Policy()).sentence == (
        "could start alone; needs 4 GPUs; this plan gives 12 GPUs to default/big, "
        "of 12 GPUs that queue q may still use once others have left"
    )


def test_room_on_nodes_that_it_may_not_use_is_said_to_be_counted():
    old = replace(nodes(1)[0], name="old", taints=(Taint(key="old"),))
    case = snapshot((*nodes(1), old), [gang("a", minimum=3, gpus=8)])
    found = why(case, "a")
    counted = "needs 24 GPUs; 16 of 16 are free, counting nodes that it may not use"

    assert counted == found.sentence


def test_nodes_in_no_domain_of_a_required_level_are_not_where_it_may_be():
    inside = node("n0", rack="r", zone="z")
    fixed = gang("fixed", gpus=2, running=["n0"], preemptible=False)
    asks = gang("a", minimum=2, gpus=4, topology=required())
    found = why(snapshot((inside, node("outside")), [fixed, asks]), "a")
    room = next(x for x in found.because if x.rule is Verdict.ROOM)

    assert (8, 2) == (room.has, room.used)


def test_others_get_what_is_free_where_a_pod_fits_as_the_reason_of_the_plan_says():
    """
    Of the five GPUs free on a used node, and of those in no rack, it can use none.
    """
    racks = [node(f"n{i}", rack="r", zone="z") for i in range(3)]
    gangs = [
        gang("fixed", gpus=3, running=["n0"], preemptible=False),
        gang("first", minimum=2, gpus=8, priority=9, topology=required()),
        gang("a", gpus=8, topology=required()),
    ]
    case = snapshot((*racks, node("outside")), gangs)
    plan = decide(case, Policy(evict=CALM))
    said = next(x.waiting for x in plan.gangs if x.name == "default/a").facts
    (others,) = (x for x in why(case, "a").because if x.rule is Verdict.OUTRANKED)

    assert (16, 16) == (said["given"], said["free"])
    assert (16, 16) == (others.used, others.has)


def test_what_is_free_on_nodes_that_it_may_not_use_is_what_is_free_now():
    runs = gang("runs", gpus=6, running=["n0"])
    picky = gang("a", minimum=3, gpus=1, demand=selector(kind="h100"))
    found = why(snapshot(nodes(1), [runs, picky]), "a")
    (node,) = (one for one in found.because if one.rule is Verdict.NODES)

    assert "kind=h100 is asked for; 2 GPUs are free on n0 without it" == node.sentence
    assert (8, 6) == (node.has, node.used)


def test_what_leaves_for_others_is_not_counted_beside_what_comes_for_it():
    """
    In place of one gang another one comes, so the limit has room for a third.
    """
    old = replace(nodes(1)[0], name="old", taints=(Taint(key="old"),))
    gangs = [
        gang("borrows", queue="b", gpus=8, running=["n0"]),
        gang("first", queue="a", minimum=2, gpus=8, age=60),
        gang("late", queue="a", gpus=8),
    ]
    queues = [
        queue("org", quota=24, limit=24),
        queue("a", parent="org", quota=24),
        queue("b", parent="org", quota=0),
    ]
    found = why(snapshot((*nodes(2), old), gangs, queues), "late", Policy())
    freed = "gives 8 GPUs to default/first, of 8 GPUs that are free"

    assert {"outranked", "nodes", "room"} == {word for word, _ in rules(found)}
    assert freed in found.sentence


def claiming(made, number):
    said = Neighbours(claims=(("data", number),))
    return replace(made, tree=replace(made.tree, neighbours=said))


def reaching(made, *names):
    volumes = tuple(ReachedVolumes(name, ("data",)) for name in names)
    return replace(made, volumes=volumes)


def test_too_few_free_volumes_are_a_lack_of_volumes():
    two = claiming(gang("two", minimum=2, gpus=1), 1)
    found = why(snapshot([reaching(node("a", 8), "v")], [two]), "two")

    assert [("volumes", "data")] == rules(found)
    told = "needs 2 free volumes of data; 1 of 1 is free where it may be"
    assert told == found.sentence
    assert (2, 1, 0) == next((x.needs, x.has, x.used) for x in found.because)
    assert "model" == found.proof


def test_places_that_are_missed_by_hand_are_not_counted_as_none():
    given = [("a", "pq"), ("b", "pr"), ("c", "qs")]
    room = [reaching(node(name, 1), *volumes) for name, volumes in given]
    full = queue("full", quota=0, limit=0)
    two = claiming(gang("two", minimum=2, gpus=1, queue="full"), 2)

    assert [("limit", "full")] == rules(why(snapshot(room, [two], [full]), "two"))


def test_pods_that_are_apart_on_hosts_wait_for_hosts_and_not_for_ever():
    said = Neighbours(selected=("a",), apart=(Apart("a", HOSTNAME),))
    found = why(snapshot(nodes(2), [gang("a", minimum=3, neighbours=said)]), "a")

    assert {Verdict.NEIGHBOURS, Verdict.FRAGMENTS} == {x.rule for x in found.because}
    assert found.sentence == (
        "needs 3 GPUs; 16 are free, but in pieces: there is room for 2 of its 3 pods "
        "with a host each; no two of its pods may share a host"
    )


@pytest.mark.parametrize("apart", [True, False])
def test_pods_that_are_apart_from_others_on_hosts_wait_for_hosts(apart):
    one = Neighbours(selected=("a",))
    other = Neighbours(apart=(Apart("a", HOSTNAME),))
    runs = gang("r", running=["n0", "n1"], neighbours=other if apart else one)
    waits = gang("a", minimum=9, gpus=1, neighbours=one if apart else other)
    found = why(snapshot(nodes(3), [runs, waits]), "a")

    assert {Verdict.NEIGHBOURS, Verdict.FRAGMENTS} == {x.rule for x in found.because}
    assert "must be apart from a by kubernetes.io/hostname" in found.sentence


def test_of_a_group_what_all_of_it_needs_is_told_and_each_has_its_own_queue():
    both = ["m", "n"]
    case = snapshot(
        nodes(2),
        [
            gang("runs", queue="q", gpus=6, running=["n0"]),
            gang("early", queue="q", gpus=3, age=9),
            gang("m", queue="p", gpus=1, mates=both),
            gang("n", queue="q", gpus=3, mates=both),
        ],
        [queue("p", "top"), queue("q", "top"), queue("top", limit=8)],
    )
    first, second = why(case, "m"), why(case, "n")

    said = "needs 4 GPUs with its group; queue top may still use 2 of its limit 8"
    assert (said, said) == (first.sentence, second.sentence)
    assert (1, 2) == (first.place.in_queue, second.place.in_queue)


def zoned(*names):
    return [replace(node(name, 8), labels={"zone": name}) for name in names]


def saying(made, **said):
    return replace(made, tree=replace(made.tree, neighbours=Neighbours(**said)))


def test_whom_a_gang_must_be_apart_from_is_named_with_what_that_keeps_it_off():
    db = saying(gang("db", gpus=1, running=["a"]), selected=("db",))
    web = saying(gang("web", minimum=2, gpus=5), apart=(Apart("db", "zone"),))
    found = why(snapshot(zoned("a", "b"), [db, web]), "web")

    assert {("neighbours", "db by zone"), ("fragments", "")} == {*rules(found)}
    assert "must be apart from db by zone; that keeps it off a" in found.sentence


def test_who_selects_a_gang_and_lets_it_nowhere_is_named():
    shy = saying(gang("shy", gpus=1, running=["a"]), apart=(Apart("web", "zone"),))
    web = saying(gang("web", gpus=1), selected=("web",))
    found = why(snapshot(zoned("a"), [shy, web]), "web")
    asks = "others must be apart from web by zone, and web selects it"

    assert [("neighbours", "web by zone")] == rules(found)
    assert f"{asks}; that keeps it off a" == found.sentence


def test_whom_a_gang_must_be_near_is_named():
    web = saying(gang("web", gpus=1), near=Near("db", ("zone",)))
    found = why(snapshot(zoned("a"), [web]), "web")

    assert "must be near db by zone; that keeps it off a" == found.sentence
    assert "model" == found.proof


def test_how_even_pods_must_lie_is_said():
    rule = Spread("web", "zone", domains=3)
    web = gang("web", minimum=3, gpus=1)
    web = saying(web, selected=("web",), spread=(rule,))
    found = why(snapshot(zoned("a", "b"), [web]), "web")

    assert [("neighbours", "web by zone")] == rules(found)
    assert found.sentence.startswith(
        "must be spread among web by zone (skew 1, at least 3 domains)"
    )


def test_who_starts_spread_and_leaves_others_no_even_place_is_named():
    """
    One pod may come to each zone, and one zone is full: no room alone, no rule alone.
    """
    strict, loose = (
        saying(
            gang(name, minimum=2, gpus=1, age=age),
            selected=("web",),
            spread=(Spread("web", "zone", skew=skew),),
        )
        for name, age, skew in (("strict", 3600, 1), ("loose", 0, 3))
    )
    large, small = zoned("a", "b")
    small = replace(small, used={"nvidia.com/gpu": 7})
    case = snapshot((large, small), [strict, loose])
    plan = decide(case, Policy(evict=CALM))
    told = next(x.waiting for x in plan.gangs if x.name == "default/loose")
    found = why(case, "loose")

    assert "gives places to default/strict, and beside these" in told.message
    assert [("outranked", ""), ("neighbours", "web by zone"), ("room", "")] == (
        rules(found)
    )
    assert "counting" == found.proof


def test_who_starts_and_leaves_a_gang_no_place_is_named():
    apart = (Apart("web", "zone"),)
    web = saying(
        gang("web", minimum=2, gpus=1, priority=9), selected=("web",), apart=apart
    )
    late = saying(gang("late", gpus=1), apart=apart)
    found = why(snapshot(zoned("a", "b"), [web, late]), "late")

    assert {("outranked", ""), ("neighbours", "web by zone")} == {*rules(found)}
    assert found.sentence.startswith(
        "could start alone; this plan gives places to default/web; must be apart from"
    )


def test_who_gets_the_last_free_volumes_is_named():
    gangs = [
        claiming(gang(name, gpus=1, age=age), 1) for name, age in (("a", 9), ("b", 0))
    ]
    found = why(snapshot([reaching(node("n", 8), "v")], gangs), "b")

    assert {("outranked", ""), ("volumes", "data")} == {*rules(found)}
    assert (
        "could start alone; this plan gives places to default/a; "
        "needs 1 free volume of data; 0 of 1 are free where it may be" == found.sentence
    )


def test_a_quota_that_others_fill_is_said_with_what_they_get_of_it():
    """
    Who gets it is not preemptible, also where nothing is said to be protected.
    """
    first = replace(gang("first", gpus=3, queue="q", age=9), preemptible=False)
    late = replace(gang("late", gpus=2, queue="q"), preemptible=False)
    runs = gang("runs", queue="other", gpus=1, running=["n0"])
    queues = [queue("q", quota=4), queue("other", quota=0)]
    found = why(snapshot(nodes(1), [runs, first, late], queues), "late", Policy())

    assert {("outranked", "q"), ("quota", "q")} == {*rules(found)}
    assert "gives 3 GPUs to default/first, of 4 GPUs that queue q" in found.sentence


@pytest.mark.parametrize(
    ("limits", "same_queue", "said"),
    [
        ({"reclaim_min_runtime": 3600}, False, "within its min runtime, for 50m more"),
        ({"preempt_min_runtime": 3600}, True, "within its min runtime, for 50m more"),
        ({"preempt_min_runtime": 600}, True, "evicted a short while ago, for 2m more"),
    ],
)
def test_who_is_protected_is_said_with_for_how_long(limits, same_queue, said):
    """
    A min runtime protects from one rule only, and the longer of two clocks is told.
    """
    queues = [queue("lab", quota=8 * same_queue, weight=0, **limits)]
    queues += [] if same_queue else [queue("owner", quota=8)]
    ran = gang("ran", queue="lab", minimum=8, gpus=1, running=["n0"] * 8)
    ran = replace(older(ran, 600), evicted_ago=180 if "evicted" in said else None)
    asks = gang("asks", queue=queues[-1].name, priority=10, minimum=4, gpus=1)
    policy = Policy(evict=Evict(again=300))
    found = why(snapshot(nodes(1), [ran, asks], queues=queues), "asks", policy)

    assert Verdict.PROTECTED is found.verdict
    assert f"are protected: default/ran ({said})" in found.sentence


def test_in_a_large_cluster_less_is_searched_for_each_gang():
    small = snapshot(nodes(2), [gang("a", gpus=9)])
    large = snapshot(nodes(2000), [gang("a", gpus=9)])
    units = [
        RoundAsked(case, Policy(), decide(case, Policy())).limits.deterministic
        for case in (small, large)
    ]

    assert 20 == units[0]
    assert units[1] < 1
