"""
The score: what a draft is worth in every tier of the policy.

It stands outside the strategies, so that a comparison cannot favour its author.
"""

from collections.abc import Sequence
from typing import get_args

from models.policy import Policy, TierName
from solver.place.draft import Draft
from solver.problem.problem import Problem, Unit
from solver.problem.start_values import QUARTERS
from solver.score.tier import LOSSES, AnyTier, TierKey, tier_of

_NAMES: tuple[TierName, ...] = get_args(TierName)
_APART = [x for x in dict.fromkeys(tier_of(name).apart for name in _NAMES) if x]


def tier_keys(problem: Problem) -> tuple[TierKey, ...]:
    """
    Expand the policy's tiers, one per band where values count by band; order is last.

    Before them all is the start of who is asked for.
    """
    first: list[tuple[AnyTier, float | None]] = [("asked", None)] * bool(problem.asked)
    keys: list[TierKey] = []
    last: tuple[AnyTier, float | None] = ("order", None)
    for name, own_gap in [*first, *_listed(problem.policy), last]:
        gap = problem.policy.limits.gap if own_gap is None else own_gap
        tier = tier_of(name)
        tiers = problem.bands.tiers if tier.by_band else ((range(0), None),)
        pieces = _pieces(problem, name)
        keys += [
            TierKey(name, bands, label, tier.direction, gap, pieces)
            for bands, label in tiers
        ]
    return tuple(keys)


def _pieces(problem: Problem, name: AnyTier) -> int:
    """
    Say in how many pieces of what people count a tier counts.
    """
    return {"gpus": problem.room.pieces, "entitled": QUARTERS}.get(name, 1)


def _listed(policy: Policy) -> list[tuple[AnyTier, float | None]]:
    """
    List the policy's tiers, with the measures of loss that follow each other.
    """
    found: list[tuple[AnyTier, float | None]] = []
    for tier in policy.tiers:
        if tier.name == "order":
            continue
        found.append((tier.name, tier.gap))
        if tier.name == "disruption":
            more = [name for name in LOSSES if name.startswith("disruption-")]
            found += [(name, tier.gap) for name in more]
        elif tier.name == "borrowing" and policy.makes_leave(borrowing=True):
            found += [(name, None) for name in LOSSES if name.startswith("preemption")]
    return found


def score(
    problem: Problem, draft: Draft, keys: Sequence[TierKey] | None = None
) -> tuple[int, ...]:
    """
    Give a draft's value in every tier, or in some.
    """
    listed = tier_keys(problem) if keys is None else keys
    return tuple(value_of(problem, draft, key) for key in listed)


def value_of(problem: Problem, draft: Draft, key: TierKey) -> int:
    """
    Give a draft's value in one tier.
    """
    tier = tier_of(key.name)
    return tier.decided(problem, key) + tier.added(problem, draft, key)


def is_better(
    keys: tuple[TierKey, ...], new: tuple[int, ...], old: tuple[int, ...]
) -> bool:
    """
    Compare two scores in the policy's order; equal is not better.
    """
    for key, mine, other in zip(keys, new, old, strict=False):
        if mine != other:
            return (mine > other) == (key.direction == "max")
    return False


def worth(problem: Problem, unit: Unit) -> tuple[object, ...]:
    """
    Name what a start's worth depends on, over all tiers, besides the unit's kind.
    """
    return tuple(apart(problem, unit) for apart in _APART)


def trivial_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that needs no model.
    """
    tier = tier_of(key.name)
    return tier.decided(problem, key) + tier.reach(problem, key)
