"""
The first tier in which two plans of one round differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.plan import Plan, TierResult

Name = tuple[str, int | None]


@dataclass(frozen=True)
class Difference:
    """
    What one plan and the ``other`` have in it; whether the one is better, and proven.

    A tier of losses that a plan does not list is 0 in it.
    """

    name: str
    value: int
    other: int
    is_better: bool
    is_proven: bool


def first_difference(
    one: Plan, other: Plan, above: int | None = None
) -> Difference | None:
    """
    Find it in the order that both plans have; none where all values are equal.

    Where it is said ``above`` which priority, only tiers of such bands count.
    """
    mine = {(tier.name, tier.band): tier for tier in one.tiers}
    theirs = {(tier.name, tier.band): tier for tier in other.tiers}
    for name in _merged(one.tiers, other.tiers):
        if above is not None and (name[1] is None or name[1] <= above):
            continue
        value, compared = (x[name].value if name in x else 0 for x in (mine, theirs))
        if value != compared:
            tier = mine.get(name) or theirs[name]
            return Difference(
                name=name[0],
                value=value,
                other=compared,
                is_better=(value > compared) == (tier.direction == "max"),
                is_proven=name in mine and tier.proof == "proven",
            )
    return None


def _merged(some: Sequence[TierResult], others: Sequence[TierResult]) -> Iterator[Name]:
    """
    Walk the tiers of two plans in their common order.
    """
    left, right = ([(tier.name, tier.band) for tier in x] for x in (some, others))
    while left and right:
        if left[0] == right[0]:
            right.pop(0)
            yield left.pop(0)
        elif left[0] in right:
            yield right.pop(0)
        else:
            yield left.pop(0)
    yield from (*left, *right)
