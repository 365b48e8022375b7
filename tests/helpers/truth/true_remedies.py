"""
Whether remedies are true: they start the gang, no less of them does, no cheaper one.
"""

from collections.abc import Iterator
from dataclasses import replace

from exact import gather, starts_by_right, starts_now
from models.changes import (
    AddedNodes,
    ChangesRejectedError,
    GangPods,
    QueueRule,
    changed,
    policy_after,
)
from models.resources import CPU, MEMORY
from models.why.remedies import Remedy
from solver import decide_or_fall_back, remedies_of
from solver.problem.problem import problem_of
from solver.why.tried_changes import menu_for

FEW = 6
HELPED = {"Starting", "Reserved", "Running", "Growing"}


def problems_of_remedies(snapshot, policy, plan, why, told) -> Iterator[str]:
    """
    Say what is wrong with what would help one gang, and count in ``told`` what was.
    """
    remedies = remedies_of(snapshot, policy, plan, why)
    told[_outcome(remedies)] += 1
    for remedy in remedies.found:
        if not starts(snapshot, policy, remedy.changes, why.gang):
            yield f"{why.gang} waits with {remedy.changes}"
        elif not could_start(snapshot, policy, remedy.changes, why.gang):
            yield f"{why.gang} cannot start with {remedy.changes}"
        smaller = less(remedy)
        if smaller and starts(snapshot, policy, (smaller,), why.gang):
            yield f"{why.gang} starts with {smaller}, less than {remedy.changes}"
    if remedies.untried or not (remedies.found or remedies.proven):
        return
    price = min((x.price for x in remedies.found), default=None)
    for change in _cheaper(snapshot, policy, plan, why.gang, price):
        if starts(snapshot, policy, (change,), why.gang):
            yield f"{why.gang} starts with {change}, cheaper than {price}"


def _outcome(remedies) -> str:
    """
    Say in a word or two what a gang was told would help.
    """
    if remedies.found:
        pair = any(len(one.changes) > 1 for one in remedies.found)
        return "a pair helps" if pair else "one change helps"
    if remedies.proven:
        return "nothing helps, proven"
    return "some untried" if remedies.untried else "nothing found"


def starts(snapshot, policy, changes, gang) -> bool:
    """
    Plan the round with changes, and tell whether it starts a gang.
    """
    try:
        then = changed(snapshot, changes)
    except ChangesRejectedError:
        return False
    plan = decide_or_fall_back(then, policy_after(policy, changes))
    return any(x.name == gang and x.state in HELPED for x in plan.gangs)


def could_start(snapshot, policy, changes, gang) -> bool:
    """
    Ask the exact model; what may start by preempting others only, it is not asked of.
    """
    policy = policy_after(policy, changes)
    after = changed(snapshot, changes)
    facts = gather(after)
    if not facts.gangs[gang].needy:
        return True
    team = {gang, *(m for m in facts.gangs[gang].mates if facts.gangs[m].needy)}
    shares = problem_of(after, policy).shares
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
        case QueueRule() if (change.amount.by or 0) > (one := _one_of(change)):
            return replace(
                change, amount=replace(change.amount, by=change.amount.by - one)
            )
    return None


def _one_of(change) -> int:
    """
    Give what is offered of a resource at once.
    """
    return {CPU: 1000, MEMORY: 2**30}.get(change.resource, 1)


def _cheaper(snapshot, policy, plan, gang, price) -> Iterator[object]:
    """
    Walk the changes of the menu below a price; of long lines the largest and the least.
    """
    problem = problem_of(snapshot, policy)
    for line in menu_for(problem, plan, gang):
        amounts = [
            by
            for by in range(line.least, line.most + 1)
            if price is None or line.price(by) < price
        ]
        few = amounts if len(amounts) <= FEW else [*amounts[:FEW], amounts[-1]]
        yield from map(line.change, few)
