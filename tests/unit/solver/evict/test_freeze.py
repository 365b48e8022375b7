"""
Freezing: who has room now, who waits for somebody to leave, and what that leaves.
"""

from dataclasses import replace

import pytest

from adapters.files import scenario_of
from models.gangs import pod_sets
from models.policy import Policy
from models.resources import GPU, PODS
from solver.evict.freeze import freeze, requests_of, waiting_units, without
from solver.place.draft import Draft
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.node_room import Places
from solver.problem.pod_shapes import refitted
from solver.problem.problem import Step, problem_of
from tests.helpers.build import gang, leaf, nodes, queue, snapshot

QUEUES = (queue("guest", quota=0, weight=0), queue("owner", quota=16))


def stage(*gangs, queues=QUEUES, hosts=2):
    return problem_of(snapshot(nodes(hosts), gangs, queues), Policy())


def running(name, *where, **fields):
    defaults = {"minimum": len(where), "queue": "guest", "running": where}
    return gang(name, **(defaults | fields))


def starting(name, **fields):
    return gang(name, **({"queue": "owner"} | fields))


def key(name):
    return f"default/{name}"


def leaves(problem, name, rule="reclaim", *, pods=None, targets=(), seconds=0):
    """
    Let pods of a gang leave, all of them unless told otherwise.
    """
    made = problem.gangs[key(name)]
    found = []
    for at, part in enumerate(pod_sets(made.tree)):
        found += [(at, part, pod) for pod in part.pods if pod.node]
    chosen = found[:pods]
    to = iter(targets)
    return tuple(
        Exit(
            gang=made.key,
            leaf=at,
            pod=replace(pod, seconds=seconds),
            host=problem.room.index.get(pod.node, NOWHERE),
            gpus=part.requests.get(GPU, 0),
            work=part.requests.get(GPU, 0) * seconds,
            size=problem.values.of_pod(part.requests),
            rule=rule,
            whole=len(chosen) == len(found),
            target=next(to, NOWHERE),
            band=problem.bands.of(made.priority),
        )
        for at, part, pod in chosen
    )


def draft(places, exits=(), entitled=None):
    """
    Place gangs of one leaf on nodes, all of them entitled unless told otherwise.
    """
    made = {key(name): Places((tuple(hosts),)) for name, hosts in places.items()}
    called = made if entitled is None else map(key, entitled)
    return Draft(places=made, entitled=frozenset(called), exits=tuple(exits))


def waiting(problem, made, step=Step.ENTITLED):
    units = waiting_units(replace(problem, step=step), made)
    return [unit.key.removeprefix("default/") for unit in units]


def amounts(table, name=GPU):
    return {queue: row[name] for queue, row in table.items() if row.get(name)}


def room(problem, what):
    column = problem.room.resources.index(GPU)
    return getattr(problem.room, what)[:, column].tolist()


# --- who waits ----------------------------------------------------------------------


def test_who_has_room_now_is_not_reserved():
    problem = stage(running("loan", "n0", gpus=8), starting("a"))
    frozen, rest = freeze(problem, draft({"a": [1]}), Step.ENTITLED)

    assert frozen is problem
    assert rest.places == {"default/a": Places(((1,),))}


def test_who_has_room_only_when_somebody_leaves_is_reserved():
    problem = stage(running("loan", "n0", gpus=8), starting("a"), starting("b"))
    made = draft({"a": [0], "b": [1]}, leaves(problem, "loan"))
    frozen, rest = freeze(problem, made, Step.ENTITLED)

    assert frozen.frozen.places == {"default/a": Places(((0,),))}
    assert list(rest.places) == ["default/b"]
    assert (rest.entitled, rest.exits) == (frozenset({"default/b"}), ())


def test_a_gang_of_which_one_pod_waits_is_reserved_whole():
    problem = stage(running("loan", "n0", gpus=8), starting("a", minimum=2))

    assert waiting(problem, draft({"a": [0, 1]}, leaves(problem, "loan"))) == ["a"]


def test_a_group_of_which_one_gang_waits_is_reserved_whole():
    mates = {"mates": ["a", "b"]}
    problem = stage(
        running("loan", "n0", gpus=8), starting("a", **mates), starting("b", **mates)
    )
    made = draft({"a": [1], "b": [0]}, leaves(problem, "loan"))
    frozen, _ = freeze(problem, made, Step.ENTITLED)

    assert sorted(frozen.frozen.places) == ["default/a", "default/b"]


def test_who_needs_the_limit_that_somebody_leaves_waits_though_nodes_are_idle():
    limited = queue("owner", quota=2, limit=2)
    problem = stage(
        running("low", "n0", gpus=2, queue="owner"),
        starting("high", gpus=2, priority=1),
        queues=(limited,),
    )
    made = draft({"high": [1]}, leaves(problem, "low", "preempt"))

    assert waiting(problem, made) == ["high"]


def test_those_get_the_room_that_is_free_for_whom_nobody_may_leave():
    problem = stage(
        running("low", "n0", gpus=7, queue="owner"),
        starting("high", gpus=1, priority=1, age=9),
        starting("same", gpus=1, age=1),
        hosts=1,
    )
    made = draft({"high": [0], "same": [0]}, leaves(problem, "low", "preempt"))

    assert waiting(problem, made) == ["high"]


@pytest.mark.parametrize(
    ("step", "who"), [(Step.ENTITLED, ["older"]), (Step.BORROWING, ["urgent"])]
)
def test_in_the_second_step_nobody_leaves_for_the_entitled(step, who):
    problem = stage(
        running("low", "n0", gpus=7, queue="owner"),
        starting("urgent", gpus=1, priority=1, age=9),
        starting("older", gpus=1, priority=1, age=1),
        hosts=1,
    )
    exits = leaves(problem, "low", "preempt")
    made = draft({"urgent": [0], "older": [0]}, exits, entitled=["older"])

    assert waiting(problem, made, step) == who


def test_somebody_who_may_ask_is_reserved_where_none_of_those_that_wait_may():
    problem = stage(
        running("loan", "n0", gpus=8),
        starting("claim", gpus=8),
        starting("own", gpus=8, queue="guest"),
    )
    made = draft({"claim": [1], "own": [0]}, leaves(problem, "loan"))

    assert sorted(waiting(problem, made)) == ["claim", "own"]


# --- what is left -------------------------------------------------------------------


def test_room_is_what_is_free_now_and_free_afterwards():
    problem = stage(
        running("loan", "n0", gpus=6), starting("a", gpus=5), starting("b"), hosts=2
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan")), Step.ENTITLED
    )

    assert room(frozen, "after") == [3, 8]
    assert room(frozen, "later") == [2, 8]
    assert room(frozen, "now") == [2, 8]


def test_a_moved_pod_takes_the_room_of_its_new_place():
    problem = stage(running("loan", "n0", gpus=3), starting("a", gpus=8))
    moved = leaves(problem, "loan", "consolidate", targets=[1])
    frozen, _ = freeze(problem, draft({"a": [0]}, moved), Step.ENTITLED)

    assert room(frozen, "after") == [0, 5]
    assert frozen.running_gpus == problem.running_gpus - 3


def test_shapes_fit_where_there_is_room_left():
    problem = stage(
        running("loan", "n0", gpus=6), starting("a", gpus=8), starting("b", gpus=2)
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan")), Step.ENTITLED
    )
    shape = frozen.shapes.of_leaf["default/b", 0]

    assert frozen.shapes.fits[shape].tolist() == [False, True]
    assert refitted(problem.shapes, problem.room.now).fits[shape].tolist() == [
        True,
        True,
    ]


def test_who_lost_pods_or_is_reserved_is_no_candidate_any_more():
    problem = stage(
        running("grows", "n0", "n0", minimum=1, replicas=3, gpus=4),
        starting("a", gpus=4),
        starting("b"),
    )
    made = draft({"a": [0]}, leaves(problem, "grows", pods=1))
    frozen, _ = freeze(problem, made, Step.ENTITLED)

    assert [unit.key for unit in frozen.units] == ["default/b"]


@pytest.mark.parametrize(
    ("pods", "rule", "stopped"),
    [(1, "reclaim", 0), (2, "reclaim", 1), (2, "consolidate", 1)],
)
def test_gangs_that_leave_whole_are_no_longer_satisfied(pods, rule, stopped):
    problem = stage(
        running("loan", "n0", "n0", minimum=1, gpus=4), starting("a", gpus=8)
    )
    exits = leaves(problem, "loan", rule, pods=pods, targets=[1, 1])
    frozen, _ = freeze(problem, draft({"a": [0]}, exits), Step.ENTITLED)

    assert frozen.satisfied == problem.satisfied - stopped
    assert frozen.running_pods == problem.running_pods - pods


def test_losses_are_added_to_those_of_their_step():
    problem = stage(
        running("loan", "n0", gpus=8),
        running("old", "n1", gpus=2),
        starting("a", gpus=8),
        starting("b", gpus=8),
    )
    first, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan", seconds=10)), Step.ENTITLED
    )
    exits = leaves(problem, "old", "preempt", seconds=3)
    second, _ = freeze(first, draft({"b": [1]}, exits, entitled=[]), Step.BORROWING)

    assert [loss.measures[:3] for loss in second.frozen.losses] == [
        (80, 1, 1),
        (6, 1, 1),
    ]
    assert sorted(second.frozen.places) == ["default/a", "default/b"]
    assert second.frozen.entitled == {"default/a"}


# --- what queues count --------------------------------------------------------------


TREE = (
    queue("firm", quota=16),
    queue("guest", "firm", quota=0, weight=0),
    queue("owner", "firm", quota=16),
)


def test_queues_lose_what_is_evicted_and_gain_what_is_reserved():
    problem = stage(
        running("loan", "n0", gpus=8), starting("a", gpus=5), queues=TREE, hosts=1
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan")), Step.ENTITLED
    )

    assert amounts(frozen.queues.drift) == {"guest": -8, "firm": -3, "owner": 5}


def test_only_inner_queues_get_room_in_their_share_by_what_is_evicted():
    problem = stage(
        running("loan", "n0", gpus=8), starting("a", gpus=5), queues=TREE, hosts=1
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan")), Step.ENTITLED
    )

    assert amounts(frozen.queues.booked) == {"firm": -3, "owner": 5}


def test_who_is_not_entitled_takes_nothing_of_the_share():
    problem = stage(
        running("low", "n0", gpus=8, queue="owner"), starting("a", gpus=5, priority=1)
    )
    exits = leaves(problem, "low", "preempt")
    frozen, _ = freeze(problem, draft({"a": [0]}, exits, []), Step.BORROWING)

    assert amounts(frozen.queues.booked) == {}
    assert amounts(frozen.queues.drift) == {"owner": -3}


def test_moved_pods_stay_in_their_queue():
    problem = stage(running("loan", "n0", gpus=3), starting("a", gpus=8))
    moved = leaves(problem, "loan", "consolidate", targets=[1])
    frozen, _ = freeze(problem, draft({"a": [0]}, moved), Step.ENTITLED)

    assert amounts(frozen.queues.drift) == {"owner": 8}


def test_fixed_work_that_is_reserved_takes_quota():
    problem = stage(
        running("loan", "n0", gpus=8), starting("a", gpus=5, preemptible=False), hosts=1
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "loan")), Step.ENTITLED
    )

    assert amounts(frozen.queues.drift_fixed) == {"owner": 5}


# --- what a pod asks for ------------------------------------------------------------


def test_a_leaving_pod_asks_for_what_its_leaf_says():
    problem = stage(
        gang(
            "tree",
            leaf("a", 1, gpus=1, running=["n0"]),
            leaf("b", 1, gpus=3, running=["gone"]),
            queue="guest",
        ),
        starting("c"),
    )
    exits = leaves(problem, "tree")

    assert [requests_of(problem, one) for one in exits] == [
        {PODS: 1, GPU: 1},
        {PODS: 1, GPU: 3},
    ]


def test_pods_on_nodes_that_are_gone_leave_no_room():
    problem = stage(
        running("half", "gone", "n0", gpus=8), starting("a", gpus=8), hosts=1
    )
    frozen, _ = freeze(
        problem, draft({"a": [0]}, leaves(problem, "half")), Step.ENTITLED
    )

    assert room(frozen, "after") == [0]
    assert amounts(frozen.queues.drift) == {"guest": -16, "owner": 8}


def test_a_part_that_is_moved_has_its_room_on_the_other_node():
    half = {"queue": "guest", "min": 1, "gpu": {"fraction": 0.5}}
    run = {"node": "n0", "devices": [0]}
    given = {
        "nodes": [{"name": f"n{at}", "allocatable": {GPU: 1}} for at in range(2)],
        "queues": [{"name": "guest"}],
        "gangs": [{"name": "a", "running": [run], **half}, {"name": "b", **half}],
    }
    head = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}
    problem = problem_of(scenario_of("moved", head).snapshot, Policy())
    exits = leaves(problem, "a", "consolidate", targets=[1])
    column = problem.room.parts.columns[0]

    assert [1, 2] == problem.room.now[:, column].tolist()
    assert [2, 1] == without(problem, exits).room.now[:, column].tolist()
