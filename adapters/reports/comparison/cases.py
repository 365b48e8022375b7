"""
The cases of a comparison: their sides, their gaps, and how many of them are shown.
"""

from collections.abc import Sequence

from adapters.compare.pairs import Pair, Side
from adapters.reports.charts.palette import ranks

MOST_DRAWN = 20
MOST_LISTED = 1_000
STRATEGIES = ("greedy", "solver")
RANK = ranks(STRATEGIES)


def sides(pairs: Sequence[Pair]) -> tuple[list[Side], list[Side]]:
    """
    Give greedy's sides, and the solver's.
    """
    return [pair.greedy for pair in pairs], [pair.solver for pair in pairs]


def gap_of(pair: Pair) -> float:
    """
    Give the widest gap of the solver's tiers.
    """
    return max((tier.gap for tier in pair.solver.plan.tiers), default=0.0)
