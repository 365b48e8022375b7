"""
What looks broken and is not.
"""

import pytest

from models.gangs import MatchPolicy
from models.neighbours import Near, Neighbours
from models.plan import Operation
from models.policy import Policy
from models.resources import GPU
from models.snapshot import Snapshot
from solver.verify import verify
from tests.helpers.build import (
    bind,
    binds,
    gang,
    leaf,
    node,
    nodes,
    plan,
    queue,
    required,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import POLICY


def holds(given: Snapshot, *steps: Operation, **fields) -> bool:
    return verify(given, POLICY, plan(*steps, lines=(), **fields)) == ()


def test_every_queue_name_is_fine_when_no_queue_is_listed():
    assert holds(snapshot(nodes(1), [gang("a", queue="anything")]), bind("a-0"))


def test_a_queue_over_its_limit_may_get_what_the_limit_does_not_name():
    given = snapshot(
        nodes(2),
        [
            gang("a", queue="q", gpus=8, running=["n0"]),
            gang("b", queue="q", gpus=0, preemptible=False),
        ],
        [queue("q", quota=2, limit=4)],
    )

    assert holds(given, bind("b-0", "n1"))


def test_a_gang_below_its_minimum_may_be_completed():
    given = snapshot(nodes(1), [gang("a", minimum=3, running=["n0"])])

    assert holds(given, *binds("a", "n0", "n0", start=1))


@pytest.mark.parametrize(
    "fields",
    [{"once_satisfied": True}, {"running": ["n0", "n0"]}, {"succeeded": 2}],
    ids=["marked", "running", "succeeded"],
)
def test_pods_are_ordinary_after_the_first_success(fields):
    made = gang(
        "a",
        leaf("x", 2, 3, **{k: v for k, v in fields.items() if k != "once_satisfied"}),
        leaf("y", 2, 2, after=("x",)),
        min_groups=1,
        match_policy=MatchPolicy.ONCE_SATISFIED,
        once_satisfied="once_satisfied" in fields,
    )

    assert holds(snapshot(nodes(1), [made]), bind("a-y-0", gang="a"))


def test_succeeded_pods_count_where_the_policy_says_so():
    for match in (MatchPolicy.WAITING_RUNNING_SUCCEED, MatchPolicy.ONCE_SATISFIED):
        made = gang("a", minimum=3, match_policy=match, succeeded=1)

        assert holds(snapshot(nodes(1), [made]), *binds("a", "n0", "n0", start=1))


def test_a_member_lost_later_starts_again_alone():
    mates = ["a", "b"]
    given = snapshot(
        nodes(1), [gang("a", mates=mates), gang("b", mates=mates, running=["n0"])]
    )

    assert holds(given, bind("a-0"))


def test_a_satisfied_member_grows_without_the_others():
    mates = ["a", "b"]
    grown = gang("a", mates=mates, minimum=1, replicas=2, running=["n0"])

    assert holds(snapshot(nodes(1), [grown, gang("b", mates=mates)]), bind("a-1"))
    assert holds(snapshot(nodes(1), [grown]), bind("a-1"))


def test_members_on_nodes_that_are_gone_pin_nothing():
    made = gang("a", minimum=1, replicas=2, running=["gone"], topology=required())

    assert holds(
        snapshot([node("n0", rack="r0", zone="z0")], [made]), bind("a-1", "n0")
    )


def test_a_node_without_the_labels_does_not_matter_where_nothing_is_required():
    made = gang("a", leaf("x", 1, topology=required()), leaf("y", 1))
    given = snapshot([node("n0", rack="r0", zone="z0"), node("n1")], [made])

    assert holds(given, bind("a-x-0", "n0", "a"), bind("a-y-0", "n1", "a"))


def test_surplus_does_not_use_up_entitlement():
    elastic = gang("a", queue="q", minimum=4, replicas=8)
    given = snapshot(
        nodes(1),
        [elastic, gang("b", queue="p", gpus=8)],
        [queue("q", quota=4), queue("p", quota=4)],
    )

    assert () == verify(given, POLICY, plan(*binds("a", *["n0"] * 8), entitled=["a"]))


def test_the_cheapest_core_decides_about_entitlement():
    made = gang(
        "a", leaf("x", 1, gpus=4), leaf("y", 1, gpus=2), queue="q", min_groups=1
    )
    given = snapshot(
        nodes(1),
        [made, gang("b", queue="p", gpus=8)],
        [queue("q", quota=2), queue("p", quota=6)],
    )
    steps = [bind("a-x-0", gang="a"), bind("a-y-0", gang="a")]

    assert () == verify(given, POLICY, plan(*steps, entitled=["a"]))
    assert ["entitled"] == [
        found.rule for found in verify(given, POLICY, plan(steps[0], entitled=["a"]))
    ]


def test_gangs_that_can_never_start_take_no_share():
    queues = [queue("q", weight=1), queue("p", weight=1)]
    mine = gang("a", queue="q", gpus=8)
    impossible = {
        "a pod larger than any node": gang("b", queue="p", gpus=9),
        "larger than the cluster": gang("b", queue="p", minimum=9),
        "more than one rack": gang("b", queue="p", minimum=5, topology=required()),
        "timed out": gang("b", queue="p", gpus=8, timed_out=True),
        "too few pods": gang("b", queue="p", minimum=4, created=3),
        "no such group": gang("b", queue="p", gpus=8, mates=["b", "c"]),
    }
    made = plan(bind("a-0"), entitled=["a"])
    for label, other in impossible.items():
        given = snapshot(nodes(1), [mine, other], queues)

        assert () == verify(given, POLICY, made), label
    rival = snapshot(nodes(1), [mine, gang("b", queue="p", gpus=8)], queues)

    assert ["entitled"] == [found.rule for found in verify(rival, POLICY, made)]


def test_who_is_around_a_gang_is_its_own_and_its_mates_affair():
    lonely = Neighbours(near=Near("nobody", ("zone",)))
    beside = {
        "alike but for who is around": [
            gang("b", queue="p", gpus=8),
            gang("c", queue="p", gpus=8, neighbours=lonely),
        ],
        "its mate": [
            gang("b", queue="p", gpus=8, mates=["b", "c"]),
            gang("c", queue="p", neighbours=lonely, mates=["b", "c"]),
        ],
    }
    wanted = {"alike but for who is around": 3, "its mate": 4}
    queues = [queue("q"), queue("p")]
    for label, others in beside.items():
        pods = wanted[label]
        mine = gang("a", queue="q", gpus=8, minimum=pods)
        given = snapshot(nodes(4), [mine, *others], queues)
        steps = binds("a", *(f"n{i}" for i in range(pods)))

        assert () == verify(given, POLICY, plan(*steps, entitled=["a"])), label


def test_impossible_subtrees_take_no_share_and_the_rest_of_the_tree_does():
    mine = gang("a", queue="q", gpus=8)
    tree = gang(
        "b", leaf("x", 1, gpus=8), leaf("y", 1, gpus=9), min_groups=1, queue="p"
    )
    given = snapshot(nodes(1), [mine, tree], [queue("q"), queue("p")])

    found = verify(given, POLICY, plan(bind("a-0"), entitled=["a"]))

    assert ["entitled"] == [violation.rule for violation in found]


@pytest.mark.parametrize(("exclusive", "rules"), [(True, []), (False, ["entitled"])])
def test_what_is_arguably_impossible_is_read_in_favour_of_the_plan(exclusive, rules):
    mine = gang("a", queue="q", minimum=3, gpus=4)
    other = gang("b", queue="p", minimum=3, gpus=4, running=["n0"], exclusive=exclusive)
    given = snapshot(nodes(2), [mine, other], [queue("q"), queue("p")])
    made = plan(*binds("a", "n0", "n1", "n1"), entitled=["a"])

    assert rules == [violation.rule for violation in verify(given, POLICY, made)]


@pytest.mark.parametrize(("quota", "rules"), [(7, []), (6, ["entitled"])])
def test_the_cheapest_core_keeps_the_order_of_roles(quota, rules):
    roles = gang(
        "a",
        leaf("driver", 1, gpus=6),
        leaf("worker", 0, 2, gpus=1, after=("driver",)),
        min_pods=2,
        queue="q",
    )
    rival = gang("b", queue="p", gpus=8)
    queues = [queue("q", quota=quota), queue("p", quota=8 - quota)]
    given = snapshot(nodes(1), [roles, rival], queues)
    workers = binds("a", "n0", "n0", leaf="worker")
    made = plan(bind("a-driver-0", gang="a"), *workers, entitled=["a"])

    assert rules == [violation.rule for violation in verify(given, POLICY, made)]


def test_a_policy_without_entitlement_ignores_the_word():
    given = snapshot(
        nodes(1), [gang("a", queue="q", gpus=8)], [queue("q"), queue("p", quota=8)]
    )
    made = plan(bind("a-0"), entitled=["a"])

    assert () == verify(given, Policy(tiers=["gpus"]), made)


def test_minimum_resources_bind_only_gangs_that_start():
    grown = gang("a", replicas=2, minimum=1, running=["n0"], min_resources={GPU: 8})

    assert holds(snapshot(nodes(1), [grown]), bind("a-1"))


def test_a_pod_of_no_room_fits_a_full_node():
    given = snapshot(nodes(1), [gang("a", requests={}), gang("b", gpus=9)])

    assert holds(given, bind("a-0"))
