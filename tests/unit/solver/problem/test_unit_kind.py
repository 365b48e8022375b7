"""
Which gangs are equal, and what each is told of its own.
"""

import pytest

from models.policy import Evict, Policy
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.problem.problem import problem_of
from solver.problem.unit_kind import gang_kind, unit_kind
from solver.round import decide
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    preferred,
    required,
    snapshot,
)

CALM = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False))
RACKS = (node("a", 4, zone="z", rack="r1"), node("b", 4, zone="z", rack="r2"))


def kinds(*gangs):
    problem = problem_of(snapshot(RACKS, gangs), CALM)
    return [gang_kind(problem.shapes, state) for state in problem.states.values()]


def below(name, *, min_groups=1, min_pods=0, topology=None, **fields):
    workers = leaf("w", 1, 2, gpus=2, **fields)
    return gang(
        name, workers, min_groups=min_groups, min_pods=min_pods, topology=topology
    )


UNLIKE = {
    "a required rack above": (below("x"), below("y", topology=required())),
    "a preferred rack above": (below("x"), below("y", topology=preferred())),
    "more pods needed above": (below("x"), below("y", min_pods=2)),
    "another queue": (below("x", min_groups=1), gang("y", leaf("w"), queue="b")),
    "another number of running pods": (
        gang("x", leaf("w", 3, 3)),
        gang("y", leaf("w", 4, 4, running=["a"])),
    ),
    "a rack between root and leaf": (
        gang("x", group("g", leaf("w", 2, 2), topology=required())),
        gang("y", group("g", leaf("w", 2, 2))),
    ),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_gangs_are_of_two_kinds_that_differ_in(case):
    one, other = kinds(*UNLIKE[case])

    assert one != other


def test_where_all_leaves_are_needed_it_does_not_matter_how_they_are_grouped():
    bare = gang("x", minimum=2, topology=required())
    deep = gang("y", group("g", leaf("w", 2, 2)), topology=required())

    one, other = kinds(bare, deep)

    assert one == other


def test_running_pods_tell_gangs_apart_where_they_pin_a_rack():
    running = {"running": ["a"], "topology": required()}

    one, other = kinds(*(gang(name, leaf("w", 2, 2, **running)) for name in "xy"))

    assert one != other


def test_gangs_that_start_together_are_like_no_others():
    mates = ("x", "y")
    problem = problem_of(
        snapshot(RACKS, [gang(name, mates=mates, gpus=1) for name in mates]), CALM
    )
    (unit,) = problem.units

    assert unit.key == unit_kind(problem.shapes, unit.states)


def test_a_full_rack_stops_the_growth_only_of_what_must_stay_in_it():
    tree = {"running": ["a"], "gpus": 4}
    kept = gang("kept", leaf("w", 1, 2, **tree), topology=required(), age=60)
    loose = gang("loose", leaf("w", 1, 2, gpus=4), age=0)
    problem = problem_of(snapshot(RACKS, [kept, loose]), CALM)

    draft = complete(problem, Draft())

    assert ["default/loose"] == [*draft.places]


def test_each_of_two_equal_gangs_that_fit_nowhere_is_told_of_its_own_pod():
    plan = decide(snapshot(nodes(1), [gang(name, gpus=9) for name in "xy"]), CALM)

    told = {line.name: line.waiting.facts["pod"] for line in plan.gangs}

    assert {"default/x": "default/x-0", "default/y": "default/y-0"} == told


def test_each_of_two_equal_gangs_is_told_of_its_own_leaf():
    gangs = [gang(name, leaf(f"{name}-role", 4, 4, gpus=3)) for name in "xy"]
    plan = decide(snapshot(nodes(3, 4), gangs), CALM)

    told = {line.name: line.waiting.message for line in plan.gangs}

    assert "x-role" in told["default/x"]
    assert "y-role" in told["default/y"]
