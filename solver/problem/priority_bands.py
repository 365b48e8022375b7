"""
Bands: at most eight ranges of priority, each named by the lowest priority in it.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from models.policy import MOST_BANDS, Policy


@dataclass(frozen=True, slots=True)
class Bands:
    """
    Cut points in rising order; a band's label is the lowest priority found in it.

    Bands in which nothing waits have no label and are no tiers.
    """

    cuts: tuple[int, ...]
    labels: Mapping[int, int]

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
        return sorted(self.labels.items(), reverse=True)


def cut_bands(
    priorities: Sequence[int], policy: Policy, others: Collection[int] = ()
) -> Bands:
    """
    Cut priorities by the policy, else one band each, else by quantiles.

    What waits alone makes tiers; ``others`` are those of what runs, so that it has a
    band of its own where there are few.
    """
    distinct = sorted(set(priorities))
    if policy.bands is not None:
        cuts = tuple(sorted(set(policy.bands)))
    elif len(distinct) <= MOST_BANDS:
        cuts = tuple(sorted({*distinct, *others})[1:])
    else:
        ranked = sorted(priorities)
        parts = range(1, MOST_BANDS)
        cuts = tuple(sorted({ranked[len(ranked) * k // MOST_BANDS] for k in parts}))
    labels: dict[int, int] = {}
    for priority in distinct:
        labels.setdefault(bisect_right(cuts, priority), priority)
    return Bands(cuts=cuts, labels=labels)
