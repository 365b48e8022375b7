"""
Held nodes that are lent: to whom, until when, and who leaves for the head.
"""

from dataclasses import replace

import pytest

from models.gangs import DisruptionBudget
from models.policy import Policy
from solver.next_snapshot import carry_out
from solver.round import decide
from tests.helpers.build import gang, nodes, queue, snapshot
from tests.helpers.rounds.heads import busy

HOUR = 3600


def policy(**evict):
    fields = {"waiting": {"outweigh": 0}, "evict": {"lentFor": "1h"} | evict}
    return Policy.model_validate(fields)


def ends(left=1800):
    """
    Let a gang fill the first node for so many seconds yet.
    """
    whole = 2 * HOUR
    return busy(
        "ends", "n0", gpus=8, preemptible=False, max_runtime=whole, ran=whole - left
    )


def head(minimum=2, **fields):
    return gang("head", minimum=minimum, gpus=8, passed_over=48 * HOUR, **fields)


def lent(*gangs, said=None, queues=(), budgets=()):
    """
    Plan a round and name the gangs that are lent nodes, with those that lend them.
    """
    shown = replace(snapshot(nodes(2), gangs, queues), budgets=budgets)
    return decide(shown, said or policy(), strategy="greedy").lenders()


GUEST = {"default/guest": ("default/head",)}


def test_a_preemptible_gang_is_lent_what_is_held_for_a_while():
    assert GUEST == lent(ends(), head(), gang("guest"))


def test_without_a_time_for_it_nothing_is_lent():
    assert {} == lent(ends(), head(), gang("guest"), said=policy(lentFor=0))


@pytest.mark.parametrize(("left", "said"), [(3600, GUEST), (3601, {})])
def test_nothing_is_lent_for_longer_than_the_policy_says(left, said):
    assert said == lent(ends(left), head(), gang("guest"))


@pytest.mark.parametrize(
    "fields",
    [{"preemptible": False}, {"evicted_ago": 9 * HOUR}],
    ids=["not-preemptible", "evicted-before"],
)
def test_who_may_not_leave_again_is_lent_nothing(fields):
    assert {} == lent(ends(), head(), gang("guest", **fields))


def test_who_ends_in_time_is_not_called_back():
    assert {} == lent(ends(), head(), gang("guest", max_runtime=600))


def test_members_of_groups_and_of_budgets_are_lent_nothing():
    mates = ["guest", "other"]
    group = [gang(name, mates=mates, gpus=4) for name in mates]
    budget = DisruptionBudget(name="b", gangs=("default/guest",), allowed=1)

    assert {} == lent(ends(), head(), *group)
    assert {} == lent(ends(), head(), gang("guest"), budgets=[budget])


@pytest.mark.parametrize(("least", "said"), [(1800, GUEST), (1801, {})])
def test_who_is_granted_more_time_than_is_left_is_lent_nothing(least, said):
    queues = [queue("q", preempt_min_runtime=least)]
    gangs = [replace(one, queue="q") for one in (ends(), head(), gang("guest"))]

    assert said == lent(*gangs, queues=queues)


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
def test_what_was_lent_is_taken_back_and_nobody_leaves_twice(strategy):
    now = snapshot(nodes(2), [ends(), head(), gang("guest", gpus=8)])
    rules = []
    for gone in (False, True, True, True):
        gangs = [one for one in now.gangs if not (gone and one.name == "ends")]
        now = replace(now, gangs=tuple(gangs))
        plan = decide(now, policy(), strategy=strategy)
        rules.append([(step.op, step.gang, step.rule) for step in plan.operations])
        now = carry_out(now, plan, 600)

    start = [("Bind", "default/head", None)] * 2
    assert [("Bind", "default/guest", None)] == rules[0]
    assert ("Evict", "default/guest", "lend") == rules[1][0]
    assert ["Reserve", "Reserve"] == [op for op, _, _ in rules[1][1:]]
    assert [start, []] == rules[2:]


def test_what_a_policy_bounds_stays_within_it_also_for_heads():
    guests = [
        gang(f"g{i}", gpus=4, running=["n1"], lent_by=("default/head",))
        for i in range(2)
    ]
    shown = snapshot(nodes(2), [head(), *guests])
    plans = [
        decide(shown, policy(maxGangs=most, consolidate=False), strategy="greedy")
        for most in (1, 2)
    ]

    assert [0, 2] == [
        sum(step.op == "Evict" for step in plan.operations) for plan in plans
    ]
