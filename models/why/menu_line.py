"""
A line of the menu: a change by an amount, and which rules it could take away.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from models.changes import Change
from models.plan import Plan
from models.why.verdicts import Verdict

OF_OTHERS = frozenset(
    {
        Verdict.LIMIT,
        Verdict.QUOTA,
        Verdict.ROOM,
        Verdict.FRAGMENTS,
        Verdict.DEVICES,
        Verdict.TOPOLOGY,
        Verdict.NEIGHBOURS,
        Verdict.VOLUMES,
        Verdict.SHARE,
        Verdict.PROTECTED,
    }
)
"""
What may give way once others leave, or once more may be made to leave.
"""
OF_ROOM = OF_OTHERS - {Verdict.LIMIT, Verdict.QUOTA} | {Verdict.NODES}
"""
What may give way where there is more room, in which others have their places, too.
"""
LEFT_OUT = -1
"""
The ``most`` of a line that is not tried: there are too many like it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLine:
    """
    One line of the menu: a change by an amount, of which the least that helps is meant.

    ``most`` is the largest amount that makes sense, ``least`` the smallest.  Rules that
    it does not ``weaken`` hold all the same, whatever the amount.  How much a plan has
    ``used`` may be enough; 0 where nobody can tell.
    """

    rule: Verdict
    most: int
    change: Callable[[int], Change]
    price: Callable[[int], int]
    least: int = 1
    weakens: frozenset[Verdict]
    used: Callable[[Plan], int] = lambda _: 0

    @property
    def amounts(self) -> range:
        """
        The amounts that make sense, the least first.
        """
        return range(self.least, self.most + 1)

    def amount_in(self, changes: Sequence[Change]) -> int:
        """
        Give the amount of this line that some changes have.
        """
        return next(by for by in self.amounts if self.change(by) in changes)

    @classmethod
    def once(
        cls, rule: Verdict, change: Change, price: int, weakens: frozenset[Verdict]
    ) -> Self:
        """
        Offer a change that has no amount.
        """
        return cls(
            rule=rule,
            most=1,
            change=lambda _: change,
            price=lambda _: price,
            weakens=weakens,
        )
