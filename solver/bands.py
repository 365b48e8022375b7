"""
Bands: at most eight ranges of priority, each named by the lowest priority in it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from models.policy import Policy

MOST = 8


@dataclass(frozen=True, slots=True)
class Bands:
    """
    Cut points in rising order; a band's label is the lowest priority found in it.
    """

    cuts: tuple[int, ...]
    labels: tuple[int, ...]

    def of(self, priority: int) -> int:
        """
        Give the index of a priority's band; higher is more important.
        """
        return bisect_right(self.cuts, priority)

    @property
    def falling(self) -> list[tuple[int, int]]:
        """
        List (index, label), most important first.
        """
        return [(i, self.labels[i]) for i in reversed(range(len(self.labels)))]


def cut_bands(priorities: Sequence[int], policy: Policy) -> Bands:
    """
    Cut priorities by the policy, else one band each, else by quantiles.
    """
    distinct = sorted(set(priorities))
    if policy.bands is not None:
        cuts = tuple(sorted(set(policy.bands)))
    elif len(distinct) <= MOST:
        cuts = tuple(distinct[1:])
    else:
        ranked = sorted(priorities)
        cuts = tuple(
            sorted({ranked[len(ranked) * k // MOST] for k in range(1, MOST)})
        )
    labels: dict[int, int] = {}
    for priority in distinct:
        labels.setdefault(bisect_right(cuts, priority), priority)
    edges = (min(distinct, default=0), *cuts)
    return Bands(
        cuts=cuts,
        labels=tuple(labels.get(i, edges[i]) for i in range(len(edges))),
    )
