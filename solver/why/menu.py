"""
The menu: what could be changed for one unit, how much of it, and at what price.

Nothing here says that a change helps: that is tried.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Literal

from models.changes import Change, NewAmount, QueueRule
from models.policy import Prices
from models.resources import unit_of
from models.why.menu_line import OF_OTHERS, MenuLine
from models.why.verdicts import Verdict
from solver.problem.problem import Problem, Unit
from solver.why.menu_of_gang import of_gang
from solver.why.menu_of_room import of_room
from solver.why.named_rules import NamedRule, most_asked

MOST_DOUBLED = 3


def menu_of(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> tuple[MenuLine, ...]:
    """
    List what could be changed for a unit, the cheapest first.
    """
    offers = [
        *_of_queues(problem, unit, rules, prices),
        *_of_weights(problem, unit, prices),
        *of_gang(problem, unit, rules, prices),
        *of_room(problem, unit, rules, prices),
    ]
    return tuple(sorted(offers, key=lambda offer: offer.price(offer.least)))


def _of_queues(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...], prices: Prices
) -> Iterator[MenuLine]:
    """
    Offer more of a limit or quota, and of the quotas that fair shares come from.
    """
    queues = problem.queues
    for word, queue, resource in _bounds(problem, unit, rules):
        field: Literal["limit", "quota"] = "quota"
        if word is Verdict.LIMIT:
            field = "limit"
        amount = getattr(queues.queues[queue].rule(resource), field)
        if queue in queues.outside or amount is None:
            continue
        scale = unit_of(resource)
        price = prices.limit if word is Verdict.LIMIT else prices.quota
        used = queues.running.get(queue, {}).get(resource, 0)
        rule = QueueRule(
            field=field, queue=queue, resource=resource, amount=NewAmount(by=0)
        )

        def change(by: int, rule: QueueRule = rule, scale: int = scale) -> Change:
            return replace(rule, amount=NewAmount(by=by * scale))

        def cost(by: int, price: int = price) -> int:
            return price * by

        most = max(0, used - amount) + 2 * most_asked(unit, resource)
        yield MenuLine(
            rule=word,
            most=ceil(most / scale),
            change=change,
            price=cost,
            weakens=OF_OTHERS,
        )


def _bounds(
    problem: Problem, unit: Unit, rules: tuple[NamedRule, ...]
) -> list[tuple[Verdict, str, str]]:
    """
    List the limits and quotas that bind a unit, or that its fair share comes from.

    By its share others leave for it, and it starts before those who have no right.
    """
    named = {(rule.word, rule.at, rule.resource) for rule in rules}
    found = [x for x in sorted(named) if x[0] in {Verdict.LIMIT, Verdict.QUOTA}]
    is_rival = len(problem.units) > 1 and problem.policy.has("entitled")
    if is_rival or any(rule.word is Verdict.SHARE for rule in rules):
        for state in unit.states:
            for queue in problem.queues.chain(state.gang.queue):
                for resource in problem.queues.named:
                    key = Verdict.QUOTA, queue, resource
                    if most_asked(unit, resource) and key not in found:
                        found.append(key)
    return found


def _of_weights(problem: Problem, unit: Unit, prices: Prices) -> Iterator[MenuLine]:
    """
    Offer to double the weights of a unit's queues, again and again.
    """
    queues = problem.queues
    names = {at for x in unit.states for at in queues.chain(x.gang.queue)}
    for name in sorted(names - {*queues.outside}):
        for resource in queues.named:
            weight = queues.queues[name].rule(resource).weight
            if not weight or not most_asked(unit, resource) or len(queues.queues) < 2:
                continue

            def change(
                by: int, at: str = name, what: str = resource, was: int = weight
            ) -> Change:
                more = NewAmount(value=was * 2**by, by=was * 2**by - was)
                return QueueRule(field="weight", queue=at, resource=what, amount=more)

            yield MenuLine(
                rule=Verdict.SHARE,
                most=MOST_DOUBLED,
                change=change,
                price=lambda by: prices.weight * by,
                weakens=OF_OTHERS,
            )
