"""
The verdict: in which tier the better of two plans is better, and how sure that is.
"""

from adapters.compare.outcome import (
    certainty,
    first_difference,
    is_better,
    paired_tiers,
)
from adapters.compare.tier_words import shown, tier_name
from models.plan import Plan, TierResult


def verdict(plan: Plan, greedy: Plan) -> str:
    """
    Say in which tier the better of the two is better, and what is known about it.
    """
    found = first_difference(plan, greedy)
    if found is None:
        proven = all(tier.proof == "proven" for tier in plan.tiers)
        tail = "no plan is better" if proven else "not every tier is proven"
        return f"equal in every tier; {tail}"
    mine, theirs = found
    every = [each for each, _ in paired_tiers(plan, greedy)]
    tier = f"tier {tier_name(every, mine)}"
    have, other = (shown(each, each.value) for each in found)
    if have == other:
        have, other = (shown(each, each.value, wide=True) for each in found)
    if is_better(mine, theirs):
        return (
            f"{plan.strategy} is better in {tier}: {have}, not {other}; {_sure(mine)}"
        )
    return f"greedy is better in {tier}: {other}, not {have}"


def _sure(tier: TierResult) -> str:
    match tier.proof:
        case "proven":
            return "no plan does better there"
        case "conditional":
            return "no plan does better there that keeps the tiers above"
        case "gap":
            return f"at most {certainty(tier)} may be missing there"
