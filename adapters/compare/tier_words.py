"""
Tiers in words: their names, and their values in percent of one cluster.
"""

from collections.abc import Sequence

from models.plan import TierResult

ONE_CLUSTER = 10**9
# What one cluster is worth in a tier: quarters of age, and of need for borrowing.
SCALES = {
    "entitled": 4 * ONE_CLUSTER,
    "borrowing": 16 * ONE_CLUSTER,
    "surplus": ONE_CLUSTER,
    "late": ONE_CLUSTER,
    "disruption-size": ONE_CLUSTER,
    "preemption-size": ONE_CLUSTER,
}


def tier_name(every: Sequence[TierResult], tier: TierResult) -> str:
    """
    Name a tier with its number among all, and its band where there are several.
    """
    alone = sum(other.name == tier.name for other in every) == 1
    band = "" if tier.band is None or alone else f", priority ≥ {tier.band}"
    return f"{every.index(tier) + 1} {tier.name}{band}"


def shown(tier: TierResult, value: int, *, wide: bool = False) -> str:
    """
    Write a value of a tier: in percent of one cluster where it counts value.
    """
    if wide or tier.name not in SCALES:
        return f"{tier.counted(value):,}"
    return f"{100 * tier.counted(value) / SCALES[tier.name]:.1f} %"
