"""
What lists say of gangs that wait: the same as the plan.
"""

import pytest

from adapters.inventory.gangs import gang_rows
from adapters.inventory.listed import seen_with
from models.gangs import MatchPolicy
from models.policy import Policy
from models.why.reasons import NOTHING_NEEDED
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot

COUNTING = {"match_policy": MatchPolicy.WAITING_RUNNING_SUCCEED, "gpus": 9}
"""
Enough of it may have succeeded, and what is left fits nowhere.
"""


def rows(*gangs):
    case, policy = snapshot(nodes(1), gangs), Policy()
    plan = decide(case, policy)
    found = gang_rows(seen_with(case, policy, "a file", plan))
    return {row.name: row for row in found}, plan


def test_a_gang_whose_pods_terminate_says_what_it_waits_for():
    found, plan = rows(gang("ends", gpus=8, terminating=["n0"]))
    (line,) = plan.gangs

    assert "Leaving" == found["ends"].state
    assert line.waiting.message == found["ends"].message
    assert "WaitingForPods" == found["ends"].document()["reason"]


def test_a_gang_that_needs_no_pod_is_told_so_without_a_reason():
    found, _ = rows(gang("free", minimum=0, replicas=1, gpus=9))

    assert "Waiting" == found["free"].state
    assert NOTHING_NEEDED == found["free"].message
    assert found["free"].document()["reason"] is None


@pytest.mark.parametrize(
    ("pods", "state"),
    [
        ({"succeeded": 2}, "Finished"),
        ({"failed": 2}, "Finished"),
        ({"succeeded": 1, "failed": 1}, "Finished"),
        ({"succeeded": 1, "created": 1}, "Waiting"),
        ({"failed": 1, "created": 1}, "Waiting"),
        ({"succeeded": 1, "created": 1, "minimum": 1}, "Waiting"),
        ({"failed": 1, "created": 1, "minimum": 1}, "Waiting"),
        ({"succeeded": 1, "minimum": 1, **COUNTING}, "Waiting"),
        ({"succeeded": 1, "created": 1, "minimum": 1, **COUNTING}, "Finished"),
        ({"failed": 1, "created": 1, "minimum": 1, **COUNTING}, "Waiting"),
        ({"created": 0}, "Waiting"),
    ],
)
def test_a_gang_ends_in_lists_as_it_does_in_plans(pods, state):
    found, plan = rows(gang("ends", **{"minimum": 2, "replicas": 2, **pods}))

    (line,) = plan.gangs
    assert [state, state] == [line.state, found["ends"].state]
    if state == "Waiting":
        why = line.waiting.message if line.waiting else NOTHING_NEEDED
        assert why == found["ends"].message
