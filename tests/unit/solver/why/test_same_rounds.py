"""
Rounds that are planned alike: what they read is the same, or they lie between two.
"""

from dataclasses import replace

import pytest

from models.changes import GangPriority, MoreMoves, NewAmount, QueueRule, changed
from models.changes import policy_after as policy_with
from models.policy import Policy
from models.queues import QueueResource
from models.resources import GPU
from solver.problem.problem import problem_of
from solver.round import decide
from solver.why.same_rounds import PlannedRounds, as_read, is_between, is_same
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


@pytest.mark.parametrize(
    ("quotas", "lies"),
    [
        ((1, 2, 4), True),
        ((6, 7, 8), True),
        ((7, 8, 9), False),
        ((1, 6, 8), True),
        ((4, 2, 1), False),
        ((1, 4, 2), False),
    ],
    ids=[
        "all below",
        "all above",
        "weighs more",
        "from below to above",
        "falls",
        "is outside",
    ],
)
def test_a_quota_grows_below_what_runs_or_above_it(quotas, lies):
    low, middle, high = (problem(quota=quota) for quota in quotas)
    assert is_between(low, middle, high) is lies


def test_nothing_lies_between_where_more_than_quotas_and_shares_differs():
    priority = GangPriority(gang="default/asks", priority=9)
    assert not is_between(problem(), problem(priority), problem(quota=5))
    assert not is_between(problem(), problem(MoreMoves(pods=3)), problem(quota=5))
    assert not is_between(
        problem(), problem(rule("limit", {"value": 9})), problem(quota=5)
    )


def test_a_limit_that_grows_lies_between_unless_a_share_falls_below_what_runs():
    nine, ten, eleven = (rule("limit", {"value": value}) for value in (9, 10, 11))

    assert is_between(problem(nine), problem(ten), problem(eleven))
    assert not is_between(problem(nine), problem(eleven), problem(ten))


def test_nothing_lies_between_where_more_room_is_kept():
    """
    A queue that keeps some bounds all others, and more so the higher its quota is.
    """

    def kept(quota):
        keeps = {GPU: QueueResource(quota=quota, lend=2, weight=0)}
        queues = [queue("q", quota=4, weight=0), queue("other", resources=keeps)]
        one = case()
        return problem_of(snapshot(one.nodes, one.gangs, queues), Policy())

    assert not is_between(kept(1), kept(3), kept(4))


def test_quotas_of_what_nobody_may_evict_say_who_starts():
    few, some, more = (problem(quota=q, preemptible=False) for q in (1, 2, 4))
    assert not is_between(few, some, more)


def test_plans_are_one_only_where_both_are_proven():
    plan = decide(case(), Policy())
    tiers = tuple(replace(x, proof="conditional") for x in plan.tiers)

    assert is_same(plan, plan)
    assert not is_same(plan, replace(plan, tiers=tiers))
