"""
What gangs that start together could do if nobody else waited.
"""

from collections.abc import Collection
from dataclasses import replace

from exact.evictions.steps import best_of_first_step
from exact.facts import Facts, GangFacts
from exact.model import build
from exact.small_model import Shares
from exact.solved import solved
from models.policy import Policy


def starts_now(facts: Facts, team: Collection[str]) -> bool:
    """
    Tell whether gangs could start together in what is free now, beside all that runs.
    """
    small = build(only(facts, team), {})
    if not set(team) <= set(small.starts):
        return False
    for key in team:
        small.cp.add(small.starts[key] == 1)
    return solved(small.cp) is not None


def starts_by_right(
    facts: Facts, policy: Policy, shares: Shares, team: Collection[str]
) -> bool:
    """
    Tell whether gangs could start as entitled if those left who may leave for them.
    """
    found = best_of_first_step(only(facts, team), policy, shares)
    return found is not None and any(
        value for name, _, value in found if name == "entitled"
    )


def only(facts: Facts, team: Collection[str]) -> Facts:
    """
    Let nobody else wait, nor any more pods of who runs; what runs stays where it is.
    """
    gangs = {
        key: fact if key in team else _without_pods(fact)
        for key, fact in facts.gangs.items()
    }
    return replace(facts, gangs=gangs)


def _without_pods(fact: GangFacts) -> GangFacts:
    pending = dict.fromkeys(fact.pending, 0)
    return replace(fact, pending=pending, plannable=fact.plannable and not fact.needy)
