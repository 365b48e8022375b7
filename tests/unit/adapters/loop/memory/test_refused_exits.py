"""
A gang that the cluster does not let go is left alone, longer each time.
"""

from dataclasses import replace
from math import inf

import pytest

from adapters.loop.memory.gangs import Memory
from models.policy import Policy
from models.receipt import Receipt
from solver.round import decide
from tests.helpers.build import bind, gang, nodes, snapshot

NOW = 1_000_000.0
LENDS = gang("lends", minimum=1, gpus=8, running=["n0"])
WAITS = gang("waits", minimum=1, gpus=8, priority=9)
STEP = bind("lends-0", op="Evict", rule="preempt")


def tried(memory, result, now=NOW):
    here = snapshot(nodes(1), [LENDS])
    memory.carried_out(here, [Receipt(operation=STEP, result=result)], now)


def leaves(memory, now, *gangs):
    shown = memory.applied(snapshot(nodes(1), gangs or (LENDS, WAITS)), now)
    plan = decide(shown, Policy())
    return [step.gang for step in plan.operations if step.op == "Evict"]


@pytest.mark.parametrize(("result", "first"), [("refused", [5]), ("again", [])])
def test_who_is_not_let_go_is_asked_again_after_twice_as_long_each_time(result, first):
    memory, now, pauses = Memory(), NOW, []
    assert ["default/lends"] == leaves(memory, now)
    if not first:  # what fails in passing is asked once more at once
        tried(memory, result, now)
        assert ["default/lends"] == leaves(memory, now)
    for _ in range(8 if first else 7):
        tried(memory, result, now)
        assert [] == leaves(memory, now + 1)
        pauses.append(memory.refused.eases_in(now))
        now += pauses[-1]
        assert ["default/lends"] == leaves(memory, now)

    assert [*first, 10, 20, 40, 80, 160, 300, 300] == pauses


def test_who_was_not_asked_or_left_is_not_left_alone():
    memory = Memory()
    tried(memory, "skipped")
    assert ["default/lends"] == leaves(memory, NOW + 1)
    tried(memory, "refused")
    tried(memory, "done", NOW + 5)
    tried(memory, "refused", NOW + 9)

    assert 5 == memory.refused.eases_in(NOW + 9)


def test_a_stale_gang_that_is_not_let_go_is_left_alone_as_well():
    half = gang("lends", minimum=2, gpus=8, running=["n0"], replicas=2)
    half = replace(half, stale_since=600, stale_after=60)
    memory = Memory()
    assert ["default/lends"] == leaves(memory, NOW, half)
    tried(memory, "refused")

    assert [] == leaves(memory, NOW + 4, half)
    assert ["default/lends"] == leaves(memory, NOW + 5, half)


def test_a_clock_that_was_set_back_leaves_nobody_alone_for_long():
    memory = Memory()
    tried(memory, "refused", NOW + 1e7)

    assert inf == memory.refused.eases_in(NOW)
    assert ["default/lends"] == leaves(memory, NOW)


def test_a_gang_that_is_gone_is_passed_over():
    memory = Memory()
    tried(memory, "refused")

    assert () == memory.applied(snapshot(nodes(1), [WAITS]), NOW + 1).budgets
