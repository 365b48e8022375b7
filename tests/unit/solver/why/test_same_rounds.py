"""
Rounds that are planned alike: what they read is the same.
"""

import pytest

from models.changes import GangPriority, MoreMoves, NewAmount, QueueRule, changed
from models.changes import policy_after as policy_with
from models.policy import Policy
from models.resources import GPU
from solver.problem.problem import problem_of
from solver.why.same_rounds import PlannedRounds, RoundsTakeLongError, as_read
from tests.helpers.build import gang, nodes, queue, snapshot


def rule(field, amount, name="q"):
    return QueueRule(field=field, queue=name, resource=GPU, amount=NewAmount(**amount))


def case(quota=4, **more):
    queues = [queue("q", quota=quota), queue("other", quota=16)]
    gangs = [
        gang("runs", queue="q", gpus=6, running=["n0"]),
        gang("asks", queue="q", gpus=4),
        gang("others", queue="other", gpus=8, **more),
    ]
    return snapshot(nodes(2), gangs, queues)


def problem(*changes, **more):
    policy = policy_with(Policy(), changes)
    return problem_of(changed(case(**more), changes), policy)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (rule("weight", {"value": 4}), True),
        (MoreMoves(pods=3), True),
        (rule("quota", {"by": 1}), False),
        (rule("limit", {"value": 9}), False),
        (GangPriority(gang="default/asks", priority=9), False),
    ],
    ids=["weight", "moves", "quota", "limit", "priority"],
)
def test_weights_are_read_by_their_shares_and_no_more_moves_than_pods(change, same):
    assert (as_read(problem()) == as_read(problem(change))) is same


def test_rounds_that_read_the_same_are_planned_once():
    rounds = PlannedRounds()
    heavy = rule("weight", {"value": 4})
    asked = problem(), problem(heavy), problem_of(case(5), Policy())
    plans = [rounds.plan(one, "greedy") for one in asked]

    assert plans[0] is plans[1]
    assert plans[2] is not plans[0]


def test_rounds_that_take_long_are_not_planned_on():
    rounds = PlannedRounds(most=0.0)
    rounds.plan(problem(), "greedy")

    with pytest.raises(RoundsTakeLongError):
        rounds.plan(problem(rule("limit", {"value": 9})), "solver")
