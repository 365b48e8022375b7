"""
Bounds by arithmetic: finite for every tier, valid whatever the search does.
"""

from solver.problem.problem import Problem
from solver.score.tier import TierKey, tier_of


def trivial_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that needs no model.
    """
    tier = tier_of(key.name)
    return tier.decided(problem, key) + tier.reach(problem, key)
