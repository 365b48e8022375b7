"""
What is always true of remedies: the gang starts with them, and not with less of them.
"""

from dataclasses import replace

import pytest

from exact import gather, starts_by_right, starts_now
from models.changes import AddedNodes, GangPods, QueueRule, changed
from models.remedies import Remedy
from solver import decide_or_fall_back, remedies_of, why_waits
from solver.problem.problem import problem_of
from tests.properties.test_whys import CASES

FAST, SLOW = (2,), range(3, 123)
HELPED = {"Starting", "Reserved", "Running", "Growing"}


def starts(snapshot, policy, changes, gang):
    plan = decide_or_fall_back(changed(snapshot, changes), policy)
    return next(x.state for x in plan.gangs if x.name == gang) in HELPED


def could_start(snapshot, policy, gang):
    """
    Ask the exact model; what may start by preempting others only, it is not asked of.
    """
    facts = gather(snapshot)
    team = {gang, *(m for m in facts.gangs[gang].mates if facts.gangs[m].needy)}
    shares = problem_of(snapshot, policy).shares
    if starts_now(facts, team) or not policy.evicts(borrowing=False):
        return starts_now(facts, team)
    return starts_by_right(facts, policy, shares, team) or policy.evict.preempt


def less(remedy: Remedy):
    """
    Give the only change by one less, where it has an amount.
    """
    (change,) = remedy.changes if len(remedy.changes) == 1 else (None,)
    match change:
        case AddedNodes() if change.number > 1:
            return replace(change, number=change.number - 1)
        case GangPods() if change.by < -1:
            return replace(change, by=change.by + 1)
        case QueueRule() if (change.amount.by or 0) > 1:
            return replace(
                change, amount=replace(change.amount, by=change.amount.by - 1)
            )
    return None


def confirm(case, seed):
    snapshot, policy = CASES[case](seed)
    plan = decide_or_fall_back(snapshot, policy)
    for line in plan.gangs:
        if line.state != "Waiting":
            continue
        why = why_waits(snapshot, policy, plan, line.name)
        for remedy in remedies_of(snapshot, policy, plan, why).found:
            assert starts(snapshot, policy, remedy.changes, line.name)
            after = changed(snapshot, remedy.changes)
            assert could_start(after, policy, line.name), (line.name, remedy)
            smaller = less(remedy)
            if smaller is not None:
                assert not starts(snapshot, policy, (smaller,), line.name)


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", FAST)
def test_a_remedy_starts_the_gang_and_less_of_it_does_not(case, seed):
    confirm(case, seed)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", SLOW)
def test_many_remedies_start_the_gang_and_less_of_them_does_not(case, seed):
    confirm(case, seed)
