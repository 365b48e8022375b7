"""
Protection: whether anything keeps somebody where it runs, who could leave otherwise.
"""

from dataclasses import replace

import pytest

from models.gangs import DisruptionBudget
from models.policy import Evict, Policy
from solver.explain.protected import protects_somebody
from solver.problem.problem import problem_of
from solver.round import decide
from tests.helpers.build import gang, node, queue, snapshot

QUEUES = (queue("guest", quota=0), queue("owner", quota=8))

CALM = DisruptionBudget(name="calm", gangs=("default/hog",), allowed=0)


def world(*, queues=QUEUES, **running):
    """
    A full cluster, in which an entitled gang needs more than there is.
    """
    hog = gang("hog", queue="guest", gpus=8, minimum=1, running=["a"], **running)
    claim = gang("claim", queue="owner", gpus=4, minimum=2, replicas=2)
    return snapshot([node("a", 8)], [hog, claim], queues)


def protects(case, evict=None):
    return protects_somebody(problem_of(case, Policy(evict=evict or Evict())))


def test_nobody_is_protected_where_all_that_run_may_leave():
    assert not protects(world())


@pytest.mark.parametrize(
    "case",
    [
        world(preemptible=False),
        world(queues=(queue("guest", reclaim_min_runtime=60), QUEUES[1])),
        world(queues=(queue("guest", limit=4), QUEUES[1])),
        replace(world(), budgets=(CALM,)),
        replace(world(evicted_ago=30), unchanged_for=60),
    ],
)
def test_who_may_not_leave_is_protected(case):
    assert protects(case)


@pytest.mark.parametrize("evict", [Evict(maxPods=1), Evict(again=60)])
def test_a_policy_that_bounds_what_leaves_protects(evict):
    assert protects(world(), evict)


def test_who_could_leave_is_not_asked_where_nobody_is_protected(monkeypatch):
    """
    It is asked for every kind of gang that waits, and takes as long as a step.
    """
    case = snapshot(
        [node("a", 8), node("b", 8)],
        [
            gang("hog", queue="guest", gpus=8, minimum=1, running=["a"]),
            gang("own", queue="owner", gpus=8, minimum=1, running=["b"]),
            gang("claim", queue="owner", gpus=1, minimum=9, replicas=9),
        ],
        (queue("guest", quota=0), queue("owner", quota=24)),
    )
    monkeypatch.setattr("solver.explain.protected.open_step", None)

    assert "Waiting" in {line.state for line in decide(case, Policy()).gangs}
