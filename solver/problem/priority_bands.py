"""
Bands: priorities that are treated alike, and the tiers in which they count.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from models.policy import MOST_TIERS, Policy

_MOST_BANDS = 64


@dataclass(frozen=True, slots=True)
class Bands:
    """
    Cut points in rising order; bands decide who may preempt whom.

    ``tiers`` are the bands that share one, with the lowest priority that waits there
    as its label, most important first.
    """

    cuts: tuple[int, ...]
    tiers: tuple[tuple[range, int], ...]

    def of(self, priority: int) -> int:
        """
        Give the index of a priority's band; higher is more important.
        """
        return bisect_right(self.cuts, priority)

    def label(self, band: int) -> int:
        """
        Give the label of a band's tier.
        """
        return next((label for bands, label in self.tiers if band in bands), 0)


def cut_bands(
    priorities: Sequence[int], policy: Policy, others: Collection[int] = ()
) -> Bands:
    """
    Cut priorities by the policy, else one band each, or by quantiles of very many.

    What waits alone makes tiers; ``others`` are those of what runs, so that it has a
    band of its own.
    """
    cuts: Sequence[int] | None = policy.bands
    if cuts is None:
        cuts = _spread(sorted({*priorities, *others}), _MOST_BANDS)[1:]
    cuts, ranked = tuple(sorted(set(cuts))), sorted(priorities)
    waiting = [bisect_right(cuts, priority) for priority in ranked]
    ends = [*sorted(set(_spread(waiting, MOST_TIERS))), len(cuts) + 1]
    tiers = [(range(x, y), ranked[waiting.index(x)]) for x, y in pairwise(ends)]
    return Bands(cuts=cuts, tiers=tuple(reversed(tiers)))


def _spread(ranked: Sequence[int], most: int) -> Sequence[int]:
    """
    Take all numbers where they are few, else where equal parts of them begin.
    """
    if len(set(ranked)) <= most:
        return ranked
    return [ranked[len(ranked) * part // most] for part in range(most)]
