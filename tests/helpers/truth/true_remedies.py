"""
Whether remedies are true: they start the gang, no less of them does, no cheaper one.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import inf
from random import Random

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
from solver import remedies_of
from solver.problem.problem import problem_of
from solver.why.trial import trial_of
from solver.why.tried_changes import menu_for
from tests.helpers.truth.exact_remedies import ChangedRound

FEW = 6
FEW_PAIRS = 8
FEW_ASKED = 2
FEW_PLANNED = 6
"""
Changes of which the exact model is asked, and rounds planned that were not tried.
"""


class TrueRemedies:
    """
    One gang in one round, and what it was told would help it.

    What was asked, and what stayed unknown, is counted in ``told``.
    """

    def __init__(self, snapshot, policy, plan, why, told):
        self.snapshot, self.policy, self.plan = snapshot, policy, plan
        self.gang, self.told = why.gang, told
        self.trial = trial_of(snapshot, policy, plan, why.gang)
        self.trial.rounds.most = inf
        self.remedies = remedies_of(snapshot, policy, plan, why, self.trial)
        told[_outcome(self.remedies)] += 1

    def problems(self) -> Iterator[str]:
        """
        Say what is wrong with what would help.
        """
        remedies = self.remedies
        for remedy in remedies.found:
            yield from self._of(remedy)
        if remedies.untried or not (remedies.found or remedies.proven):
            return
        price = min((x.price for x in remedies.found), default=None)
        cheaper = list(self._cheaper(price))
        chance = Random(self.gang)
        for changes in self._untried(cheaper, chance):
            if self._round(changes).starts:
                yield f"{self.gang} starts with {changes}, cheaper than {price}"
        for changes in chance.sample(cheaper, min(FEW_ASKED, len(cheaper))):
            then = self._round(changes)
            if then.starts:
                yield f"{self.gang} starts with {changes}, cheaper than {price}"
            elif wrong := then.problem(self.told):
                yield f"{self.gang} with {changes}: {wrong}"

    def _untried(self, cheaper, chance) -> list[tuple]:
        """
        Give some of what was left out when remedies were sought, and could help.

        What was planned then waits in the same round again.
        """
        left = [x for x in cheaper if x not in self.trial.known]
        self.told["changes that were tried"] += len(cheaper) - len(left)
        able = [x for x in left if self._able(x)]
        self.told["changes the exact model rules out"] += len(left) - len(able)
        return chance.sample(able, min(FEW_PLANNED, len(able)))

    def _able(self, changes) -> bool:
        """
        Tell whether a gang could start with changes, be it by what others free.
        """
        if self.policy.evicts(borrowing=False):
            return True
        try:
            return could_start(self.snapshot, self.policy, changes, self.gang)
        except ChangesRejectedError:
            return False

    def _of(self, remedy) -> Iterator[str]:
        then = self._round(remedy.changes)
        if not then.starts:
            yield f"{self.gang} waits with {remedy.changes}"
            return
        if not could_start(self.snapshot, self.policy, remedy.changes, self.gang):
            yield f"{self.gang} cannot start with {remedy.changes}"
        wrong = then.problem(self.told)
        if wrong:
            yield f"{self.gang} with {remedy.changes}: {wrong}"
        for smaller in less(remedy):
            tried = self.trial.known.get(smaller, smaller) is None
            if not tried and self._round(smaller).starts:
                yield f"{self.gang} starts with {smaller}, less than {remedy.changes}"

    def _round(self, changes) -> ChangedRound:
        return ChangedRound(self.snapshot, self.policy, changes, self.gang)

    def _cheaper(self, price) -> Iterator[tuple]:
        """
        Walk changes of the menu below a price, and where none helps some pairs.

        Of long lines it is the least amounts and the largest.
        """
        problem = problem_of(self.snapshot, self.policy)
        menu = menu_for(problem, self.plan, self.gang)
        amounts = {at: _amounts(line, price) for at, line in enumerate(menu)}
        for at, line in enumerate(menu):
            yield from ((line.change(by),) for by in amounts[at])
        if any(len(one.changes) == 1 for one in self.remedies.found):
            return
        pairs = [
            (menu[one].change(by), menu[two].change(more))
            for one, two in combinations(amounts, 2)
            for by in amounts[one]
            for more in amounts[two]
            if price is None or menu[one].price(by) + menu[two].price(more) < price
        ]
        chance = Random(self.gang)
        yield from chance.sample(pairs, min(FEW_PAIRS, len(pairs)))


def _amounts(line, price) -> list[int]:
    some = [by for by in line.amounts if price is None or line.price(by) < price]
    return some if len(some) <= FEW else [*some[:FEW], some[-1]]


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


def could_start(snapshot, policy, changes, gang) -> bool:
    """
    Ask the exact model; it is not asked of what may start only by what leaves for those
    who borrow: by pods that are preempted, or moved.
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
    by_right = starts_by_right(facts, policy, shares, team)
    return by_right or policy.evicts(borrowing=True)


def less(remedy: Remedy) -> Iterator[tuple]:
    """
    Walk the changes with one of them by one less, where it has an amount.
    """
    for at, change in enumerate(remedy.changes):
        one = _less(change)
        if one is not None:
            yield (*remedy.changes[:at], one, *remedy.changes[at + 1 :])


def _less(change):
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
