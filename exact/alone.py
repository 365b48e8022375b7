"""
What gangs that start together could do if nobody else waited.
"""

from collections.abc import Collection
from dataclasses import replace

from exact.evictions.steps import best_of_first_step
from exact.facts import Facts
from exact.model import build
from exact.small_model import Shares
from exact.solved import solved
from models.policy import Policy


def starts_now(facts: Facts, team: Collection[str]) -> bool:
    """
    Tell whether gangs could start together in what is free now, beside all that runs.
    """
    small = build(_only(facts, team), {})
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
    found = best_of_first_step(_only(facts, team), policy, shares)
    return found is not None and any(
        value for name, _, value in found if name == "entitled"
    )


def _only(facts: Facts, team: Collection[str]) -> Facts:
    """
    Let nobody else wait; what runs stays where it is.
    """
    gangs = {
        key: replace(fact, plannable=False) if fact.needy and key not in team else fact
        for key, fact in facts.gangs.items()
    }
    return replace(facts, gangs=gangs)
