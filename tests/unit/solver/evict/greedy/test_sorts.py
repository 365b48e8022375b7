"""
Who may leave for whom, where the policy's bounds are used up in part.
"""

import pytest

from adapters.files import scenario_of
from solver.evict.gathering import victims_of
from solver.evict.greedy.sorts import MOVE, PREEMPT, Sorts
from solver.evict.rights.policy_bounds import StillMayLeave
from solver.problem.node_room import MANY
from solver.problem.problem import problem_of

GPU = "nvidia.com/gpu"
WAITS = {"name": "w", "queue": "q", "priority": 50, "min": 4, "requests": {GPU: 2}}


def _runs(name, pods, node):
    running = [{"node": node, "for": "1h"}] * pods
    gang = {"name": name, "queue": "q", "min": pods, "requests": {GPU: 1}}
    return gang | {"running": running}


@pytest.fixture
def sorts():
    """
    One pod, two pods on one node and two on two nodes: the last ones go whole.
    """
    nodes = [{"name": name, "allocatable": {GPU: 4}} for name in "ab"]
    across = _runs("across", 2, "a")
    across["running"][1] = {"node": "b", "for": "1h"}
    given = {
        "nodes": nodes,
        "queues": [{"name": "q"}],
        "gangs": [_runs("one", 1, "a"), _runs("two", 2, "b"), across, WAITS],
    }
    case = scenario_of(
        "s", {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}
    )
    victims = victims_of(problem_of(case.snapshot, case.policy))
    names = [a.sample.gang.name for a in victims.accounts]
    names += [wide.gang.name for wide in victims.wide]
    return Sorts(victims), names


def _rules(sorts, pods=MANY, gangs=MANY, moves=MANY, begun=()):
    table, names = sorts
    left = StillMayLeave(pods, gangs, moves, frozenset(begun))
    rules = table.rules("q", 50, left, claims=False).tolist()
    return dict(zip(names, rules, strict=True))


def test_all_may_be_evicted_while_the_bounds_have_room(sorts):
    assert {*_rules(sorts).values()} == {PREEMPT}


def test_who_may_not_be_evicted_any_more_may_still_be_moved(sorts):
    found = _rules(sorts, pods=1)

    assert found == {"one": PREEMPT, "two": MOVE, "across": MOVE}
    assert {*_rules(sorts, pods=0).values()} == {MOVE}


def test_who_has_too_many_pods_to_be_moved_stays(sorts):
    assert _rules(sorts, pods=0, moves=1) == {"one": MOVE, "two": 0, "across": 0}
    assert {*_rules(sorts, pods=0, moves=0).values()} == {0}


def test_only_gangs_that_have_begun_to_leave_may_where_no_more_gangs_do(sorts):
    found = _rules(sorts, gangs=0, moves=0, begun=["default/across"])

    assert found == {"one": 0, "two": 0, "across": PREEMPT}


def test_a_gang_of_which_some_have_left_needs_room_for_the_rest_only(sorts):
    table, names = sorts
    table.pods[[name == "across" for name in names]] = 1

    assert _rules(sorts, pods=1, moves=0) == {
        "one": PREEMPT,
        "two": 0,
        "across": PREEMPT,
    }
