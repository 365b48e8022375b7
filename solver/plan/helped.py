"""
Stale gangs that a plan helps: in the room that they would leave, more might start.
"""

from collections.abc import Collection
from dataclasses import replace

from solver.evict.stale import letting_go
from solver.problem.problem import Problem
from solver.score.still_possible import widest_bound
from solver.score.tiers import tier_keys
from solver.search.search_outcome import Outcome


def for_the_helped(outcome: Outcome, bare: Problem, stale: Collection[str]) -> Outcome:
    """
    Say of a plan that it is the best for those stale gangs that it helps.

    It helps whom it can, and nobody asked what could start if they left.  So it is with
    gangs that were lent nodes, and are not called back.  ``bare`` is the round before
    anybody has left; ``stale`` are all that leave unless helped or could be called
    back.
    """
    gone = letting_go(bare, stale)
    return within_bounds(outcome, replace(gone, units=bare.units, stuck=bare.stuck))


def within_bounds(outcome: Outcome, bare: Problem) -> Outcome:
    """
    Call a tier proven only as long as no choice at all in a round could be better.

    The ``outcome`` is proven for one choice; ``bare`` is the round before any is made.
    """
    keys = {(str(key.name), key.label): key for key in tier_keys(outcome.problem)}
    sure = True
    tiers = []
    for tier in outcome.tiers:
        key = keys.get((tier.name, tier.band)) if sure else None
        sure = key is not None and tier.value == widest_bound(bare, key)
        unsure = tier.proof == "proven" and not sure
        tiers.append(replace(tier, proof="conditional") if unsure else tier)
    return replace(outcome, tiers=tuple(tiers))
