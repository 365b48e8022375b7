"""
Bounds on what leaves in one round: whether a policy has any, and what it is without.
"""

from models.policy import Evict


def bounds_leaving(evict: Evict) -> bool:
    """
    Tell whether one round lets only so much leave, whoever it is.
    """
    bounds = evict.max_pods, evict.max_gangs, evict.max_lost_per_gpu
    return any(bound is not None for bound in bounds)


def protecting_nobody(evict: Evict) -> Evict:
    """
    Give the same without bounds on what leaves, and without pauses after evictions.
    """
    free = dict.fromkeys(("max_pods", "max_gangs", "max_lost_per_gpu"))
    return evict.model_copy(update={**free, "again": 0})
