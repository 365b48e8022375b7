"""
Reservations: which of them hold, which are bound, and what they take from others.
"""

from dataclasses import replace

import pytest

from models.gangs import PodPhase, pod_sets
from models.policy import Policy
from models.resources import GPU
from solver.evict.reservations import keep, promise_of, promises_of
from solver.problem.problem import problem_of
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    preferred,
    queue,
    required,
    selector,
    snapshot,
)


def leaving(name, *where, gpus=4, seconds=10):
    """
    Build a gang whose only pods are about to go.
    """
    made = gang(name, minimum=len(where), gpus=gpus, terminating=where)
    pods = tuple(replace(pod, seconds=seconds) for pod in made.tree.pods)
    return replace(made, tree=replace(made.tree, pods=pods))


def promised(name="promised", *where, gpus=4, **fields):
    return gang(name, minimum=len(where), gpus=gpus, reserved=where, **fields)


def ask(hosts, *gangs, queues=(), topologies=None):
    """
    Give a round with its reservations kept.
    """
    problem = problem_of(snapshot(hosts, gangs, queues, topologies), Policy())
    return keep(problem, promises_of(problem))


def names(problem, places):
    """
    Name the nodes of kept places, by gang.
    """
    return {
        key.removeprefix("default/"): [
            problem.room.nodes[host].name for row in rows for host in row
        ]
        for key, rows in places.items()
    }


def bound(problem):
    return names(problem, problem.frozen.bound)


def reserved(problem):
    return names(problem, problem.frozen.places)


def free(problem, what="now"):
    column = problem.room.resources.index(GPU)
    return getattr(problem.room, what)[:, column].tolist()


# --- what is promised ---------------------------------------------------------------


def test_a_promise_lists_the_nodes_of_each_leaf():
    tree = gang(
        "tree",
        leaf("a", 1, reserved=["n1"]),
        leaf("b", 1),
        leaf("c", 2, reserved=["n0", "n1"]),
    )

    assert promise_of(tree) == {0: ("n1",), 2: ("n0", "n1")}


def test_reserved_pods_are_pending_in_a_round_and_its_gang_is_promised():
    problem = problem_of(snapshot(nodes(1), [promised("p", "n0")]), Policy())
    (pod_set,) = pod_sets(problem.gangs["default/p"].tree)

    assert [pod.phase for pod in pod_set.pods] == [PodPhase.PENDING]
    assert promises_of(problem) == {"default/p": {0: ("n0",)}}


def test_without_promises_a_round_is_left_as_it_is():
    problem = problem_of(snapshot(nodes(1), [gang("a")]), Policy())

    assert keep(problem, promises_of(problem)) is problem


def test_a_gang_that_may_not_start_is_promised_nothing():
    shut = queue("shut", open=False)
    problem = problem_of(
        snapshot(nodes(1), [promised("p", "n0", queue="shut")], [shut]), Policy()
    )

    assert promises_of(problem) == {}


# --- bound, reserved or void --------------------------------------------------------


def test_what_has_room_now_is_bound():
    problem = ask(nodes(2), promised("p", "n0", "n1", gpus=8))

    assert bound(problem) == {"p": ["n0", "n1"]}
    assert reserved(problem) == {}


def test_a_gang_waits_whole_for_one_place_that_is_not_free():
    problem = ask(
        nodes(2), leaving("gone", "n0", gpus=8), promised("p", "n0", "n1", gpus=8)
    )

    assert bound(problem) == {}
    assert reserved(problem) == {"p": ["n0", "n1"]}


def test_a_group_waits_whole_for_one_place_that_is_not_free():
    problem = ask(
        nodes(2),
        leaving("gone", "n0", gpus=8),
        promised("p", "n0", gpus=8, mates=["p", "q"]),
        promised("q", "n1", gpus=8, mates=["p", "q"]),
    )

    assert reserved(problem) == {"p": ["n0"], "q": ["n1"]}


@pytest.mark.parametrize(("seconds", "kept"), [(0, True), (119, True), (120, False)])
def test_pods_that_leave_are_room_for_two_minutes(seconds, kept):
    problem = ask(
        nodes(1), leaving("gone", "n0", gpus=8, seconds=seconds), promised("p", "n0")
    )

    assert kept == ("default/p" in problem.frozen.places)


VOID = {
    "a node that vanished": promised("p", "gone"),
    "a node with somebody who still runs": promised("p", "n1"),
    "a node it may not use": promised("p", "n0", demand=selector(kind="none")),
    "fewer places than it needs": gang("p", minimum=2, gpus=4, reserved=["n0"]),
    "one host for two pods that must be apart": promised(
        "p", "n0", "n0", gpus=1, exclusive=True
    ),
    "two racks for one": promised("p", "n0", "n2", topology=required()),
    "a mate without a place": promised("p", "n0", mates=["p", "q"]),
}


@pytest.mark.parametrize("void", VOID.values(), ids=VOID.keys())
def test_a_reservation_is_void_with(void):
    hosts = [
        node("n0", rack="r0"),
        node("n1", rack="r0"),
        node("n2", rack="r1"),
    ]
    problem = ask(
        hosts,
        gang("full", gpus=8, running=["n1"]),
        gang("q", gpus=4, mates=void.mates),
        void,
    )

    assert problem.frozen.committed == ()
    assert "default/p" in {s.key for unit in problem.units for s in unit.states} or (
        "default/p" in problem.blocked
    )


def test_two_racks_are_no_reason_where_one_is_only_preferred():
    hosts = [node("n0", rack="r0"), node("n1", rack="r1")]
    problem = ask(hosts, promised("p", "n0", "n1", topology=preferred()))

    assert bound(problem) == {"p": ["n0", "n1"]}


def test_a_promise_may_hold_more_than_is_needed_now():
    lowered = gang("p", minimum=1, replicas=3, gpus=1, reserved=["n0", "n0"])

    assert bound(ask(nodes(1), lowered)) == {"p": ["n0", "n0"]}


def test_of_a_tree_any_children_that_satisfy_it_are_enough():
    tree = gang(
        "tree",
        group("x", leaf("a", 1, gpus=8), leaf("b", 1, gpus=8)),
        group("y", leaf("c", 2, gpus=4, reserved=["n0", "n0"])),
        min_groups=1,
    )

    assert bound(ask(nodes(1), tree)) == {"tree": ["n0", "n0"]}


# --- who comes first ----------------------------------------------------------------


def test_of_two_that_do_not_fit_the_higher_band_is_kept():
    problem = ask(
        nodes(1),
        promised("a", "n0", gpus=6, priority=1),
        promised("b", "n0", gpus=6, priority=2),
    )

    assert bound(problem) == {"b": ["n0"]}


def test_of_two_of_one_band_that_do_not_fit_the_first_by_name_is_kept():
    problem = ask(nodes(1), promised("b", "n0", gpus=6), promised("a", "n0", gpus=6))

    assert bound(problem) == {"a": ["n0"]}


def test_one_waits_where_another_one_is_bound_to_what_is_free_of_its_place():
    problem = ask(
        nodes(1),
        leaving("gone", "n0", gpus=4),
        promised("a", "n0", gpus=4),
        promised("b", "n0", gpus=4),
    )

    assert (bound(problem), reserved(problem)) == ({"a": ["n0"]}, {"b": ["n0"]})


def test_those_declared_void_are_not_kept():
    problem = problem_of(snapshot(nodes(1), [promised("p", "n0")]), Policy())
    kept = keep(problem, promises_of(problem), {"default/p"})

    assert kept is problem


# --- what others have left ----------------------------------------------------------


def test_bound_places_are_taken_now_and_reserved_ones_as_far_as_they_are_free():
    problem = ask(
        nodes(2),
        leaving("gone", "n1", gpus=5),
        promised("now", "n0", gpus=6),
        promised("soon", "n1", gpus=7),
        gang("next", gpus=1),
    )

    assert free(problem, "idle") == [2, 3]
    assert free(problem, "later") == [2, 1]
    assert free(problem) == [2, 1]


def test_kept_gangs_are_no_candidates_and_those_bound_are_satisfied():
    problem = ask(
        nodes(2),
        leaving("gone", "n1", gpus=8),
        promised("now", "n0", gpus=2),
        promised("soon", "n1", gpus=8),
        gang("next", gpus=1),
    )

    assert [unit.key for unit in problem.units if unit.starts] == ["default/next"]
    assert (problem.satisfied, problem.running_pods, problem.running_gpus) == (1, 1, 2)


def test_queues_count_what_is_kept_on_the_whole_path():
    queues = [queue("lab"), queue("team", "lab")]
    fixed = promised("fixed", "n0", gpus=2, queue="team", preemptible=False)
    loose = promised("loose", "n0", gpus=3, queue="team")
    quota = [replace(q, resources=queue("q", quota=8).resources) for q in queues]
    tree = ask(nodes(1), fixed, loose, queues=quota).queues

    assert [tree.drift[name][GPU] for name in ("lab", "team")] == [5, 5]
    assert [tree.booked[name][GPU] for name in ("lab", "team")] == [5, 5]
    assert [tree.drift_fixed[name][GPU] for name in ("lab", "team")] == [2, 2]


def test_a_place_beyond_the_limit_of_a_queue_is_void():
    queues = [queue("lab", quota=4, limit=4)]
    problem = ask(
        nodes(1),
        promised("a", "n0", gpus=3, queue="lab"),
        promised("b", "n0", gpus=3, queue="lab"),
        queues=queues,
    )

    assert bound(problem) == {"a": ["n0"]}
