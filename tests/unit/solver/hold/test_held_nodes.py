"""
Which nodes are held for a head, until when, and against whom.
"""

import pytest

from models.policy import Evict, Policy
from solver.hold.heads import heads_of
from solver.hold.held_nodes import with_heads
from solver.round import decide
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    queue,
    required,
    selector,
    snapshot,
)
from tests.helpers.rounds.heads import (
    HOUR,
    LATE,
    ask,
    busy,
    large,
    only,
    since,
    started,
    waiting,
)


def names(problem, head):
    return [problem.room.nodes[at].name for at in head.nodes]


def test_a_head_that_fits_holds_what_it_would_use_now():
    problem = ask(nodes(3), busy("full", "n1"), large())
    head = only(problem)

    assert names(problem, head) == ["n0", "n2"]
    assert head.start == 0


def test_the_start_is_the_end_after_which_there_is_room():
    ends = [
        busy(f"r{i}", f"n{i}", max_runtime=HOUR * (i + 1), ran=600) for i in range(4)
    ]
    problem = ask(nodes(4), *ends, large())
    head = only(problem)

    assert names(problem, head) == ["n0", "n1"]
    assert head.start == 2 * HOUR - 600


def test_pods_without_a_longest_run_time_never_end():
    problem = ask(
        nodes(3),
        busy("endless", "n0", gpus=1),
        busy("ends", "n1", max_runtime=HOUR),
        large(minimum=2),
        busy("late", "n2", max_runtime=5 * HOUR),
    )
    head = only(problem)

    assert names(problem, head) == ["n1", "n2"]
    assert head.start == 5 * HOUR


def test_a_pod_that_overruns_is_expected_to_end_at_any_moment():
    problem = ask(
        nodes(1),
        busy("over", "n0", max_runtime=HOUR, ran=LATE),
        large(minimum=1, passed_over=17 * HOUR),
        gang("quick", max_runtime=1),
    )

    assert only(problem).start == 0
    assert started(problem) == set()


@pytest.mark.parametrize(("seconds", "start"), [(119, 0), (120, None)])
def test_a_leaving_pod_is_counted_on_for_two_minutes(seconds, start):
    leaves = since(gang("leaves", terminating=["n0"], gpus=4), seconds)
    problem = ask(nodes(1), leaves, large(minimum=1))

    assert (only(problem).nodes, only(problem).start) == ((0,), start)


@pytest.mark.parametrize(("minimum", "held"), [(2, [(0,)]), (3, [])])
def test_a_heads_own_running_pods_stay_where_they_are(minimum, held):
    half = gang(
        "half",
        minimum=minimum,
        gpus=4,
        running=["n0"],
        passed_over=LATE,
        max_runtime=HOUR,
        topology=required(),
    )
    hosts = [node(f"n{i}", zone="z", rack=f"r{i}") for i in range(2)]
    heads = heads_of(ask(hosts, half, busy("full", "n0")))

    assert [head.nodes for head in heads] == held


def test_pods_on_nodes_that_are_gone_end_nowhere():
    problem = ask(
        nodes(1),
        busy("gone", "n7", max_runtime=HOUR),
        busy("full", "n0"),
        large(minimum=1),
    )
    head = only(problem)

    assert (head.nodes, head.start) == ((0,), None)


def test_ends_of_other_queues_make_room_below_a_common_limit():
    queues = [
        queue("top", limit=12),
        queue("mine", parent="top"),
        queue("theirs", parent="top"),
    ]
    problem = ask(
        nodes(3, gpus=4),
        busy("r", "n0", "n1", queue="theirs", max_runtime=HOUR),
        busy("s", "n2", queue="theirs", max_runtime=LATE),
        large(gpus=4, queue="mine"),
        queues=queues,
    )

    assert only(problem).start == HOUR


def test_who_waits_for_a_limit_only_holds_nothing():
    queues = [queue("full", limit=12), queue("other")]
    problem = ask(
        nodes(2),
        busy("r", "n0", queue="full", gpus=8),
        large(minimum=1, queue="full"),
        queues=queues,
    )

    assert heads_of(problem) == ()
    assert with_heads(problem, heads_of(problem)) is problem


def test_who_fits_no_nodes_even_empty_holds_nothing():
    never = gang(
        "never",
        leaf("x", minimum=2, gpus=5),
        leaf("y", minimum=1, gpus=4),
        passed_over=LATE,
    )

    assert heads_of(ask(nodes(2), never)) == ()


def test_who_finds_all_nodes_held_holds_nothing():
    problem = ask(
        nodes(2),
        large("first", passed_over=3 * HOUR),
        large("second"),
        policy=waiting(heads=2),
    )

    assert only(problem).nodes == (0, 1)


def test_only_nodes_that_the_pods_may_use_are_held():
    hosts = [node(f"n{i}", labels={"pool": "ab"[i % 2]}) for i in range(6)]
    problem = ask(
        hosts,
        busy("r", "n1", "n3", "n5"),
        large(demand=selector(pool="b")),
    )

    assert names(problem, only(problem)) == ["n1", "n3"]


def test_a_tree_is_seated_with_all_its_leaves():
    tree = gang(
        "tree",
        group("p", leaf("x", gpus=8), topology=required()),
        group("q", leaf("y", minimum=2, gpus=8), topology=required()),
        passed_over=LATE,
    )
    hosts = [node(f"n{i}", zone="z", rack=f"r{i // 2}") for i in range(4)]
    problem = ask(hosts, busy("r", "n2", "n3", max_runtime=HOUR), tree)
    head = only(problem)

    assert head.start == HOUR
    assert len(head.nodes) == 3


def test_the_choice_of_draining_nodes_stays_while_they_drain():
    loads = {"n0": 6, "n1": 3, "n2": 5, "n3": 4}
    chosen = []
    for drained in range(4):
        left = {at: max(0, gpus - drained) for at, gpus in loads.items()}
        left |= {at: loads[at] for at in ("n0", "n2")}
        runs = [
            busy(f"r-{at}-{i}", at, gpus=1)
            for at, pods in left.items()
            for i in range(pods)
        ]
        problem = ask(nodes(4), *runs, large())
        chosen.append(names(problem, only(problem)))

    assert chosen == [["n1", "n3"]] * 4


def test_units_that_are_not_held_back_keep_their_shapes():
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1"),
        large(),
        gang("higher", priority=1, gpus=2),
        gang("equal", gpus=2),
    )
    held = with_heads(problem, heads_of(problem))
    shape = held.shapes.of_leaf

    assert shape["default/higher", 0] == problem.shapes.of_leaf["default/higher", 0]
    assert shape["default/large", 0] == problem.shapes.of_leaf["default/large", 0]
    assert held.shapes.items[shape["default/equal", 0]].banned == (0, 1)
    assert not held.shapes.allowed[shape["default/equal", 0]].any()


def test_who_may_not_be_there_anyway_keeps_its_shape():
    hosts = [node("n0"), node("n1", 2, labels={"pool": "small"})]
    problem = ask(
        hosts,
        busy("r", "n0"),
        large(minimum=1),
        gang("small", demand=selector(pool="small")),
    )

    assert with_heads(problem, heads_of(problem)) is problem


def proofs(pool):
    """
    Plan for one who waits beside a head, in a pool; one node of two is held.
    """
    hosts = [node(f"n{i}", labels={"pool": f"p{i}"}) for i in range(3)]
    plan = decide(
        snapshot(
            hosts,
            [
                busy("r", "n0", gpus=7, max_runtime=HOUR),
                busy("s", "n1", gpus=7, max_runtime=HOUR),
                busy("t", "n2"),
                large(minimum=1),
                gang("other", gpus=1, demand=selector(pool=pool)),
            ],
        ),
        Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False)),
    )
    return bool(plan.operations), {tier.proof for tier in plan.tiers}


def test_nothing_is_proven_but_what_no_choice_of_held_nodes_would_change():
    starts, said = proofs("p0")

    assert not starts
    assert "conditional" in said


def test_all_is_proven_where_held_nodes_keep_nobody_off():
    assert proofs("p2") == (True, {"proven"})


def test_hosts_banned_for_mates_stay_banned():
    apart = gang("apart", minimum=3, gpus=1, exclusive=True, running=["n0"])
    problem = ask(nodes(3), busy("r", "n1"), large(minimum=1), apart)
    held = with_heads(problem, heads_of(problem))

    assert names(problem, only(problem)) == ["n2"]
    item = held.shapes.items[held.shapes.of_leaf["default/apart", 0]]
    assert item.banned == (0, 2)


def test_a_head_may_not_use_what_is_held_for_another():
    problem = ask(
        nodes(2),
        large("first", minimum=1, passed_over=3 * HOUR),
        large("second", minimum=1),
        policy=waiting(heads=2),
    )
    first, second = heads_of(problem)
    held = with_heads(problem, (first, second))

    assert (first.nodes, second.nodes) == ((0,), (1,))
    fits = held.shapes.fits[held.shapes.of_leaf["default/second", 0]]
    assert fits.tolist() == [False, True]


@pytest.mark.parametrize(
    ("times", "starts"),
    [((HOUR,), True), ((HOUR + 1,), False), ((HOUR, None), False), ((0,), False)],
)
def test_backfilling_needs_an_end_before_the_start_of_every_mate(times, starts):
    mates = [f"m{i}" for i in range(len(times))]
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1", max_runtime=HOUR),
        large(),
        *(
            gang(m, mates=mates, max_runtime=t)
            for m, t in zip(mates, times, strict=True)
        ),
    )

    assert bool(started(problem)) == starts
