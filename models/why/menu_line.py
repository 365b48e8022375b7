"""
A line of the menu: a change by an amount, and which rules it could take away.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from models.changes import Change
from models.plan import Plan
from models.why.reasons import Reason, Waiting
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

_HOPELESS = frozenset(
    {
        Reason.INVALID_GANG,
        Reason.CONFIG_CONFLICT,
        Reason.UNSUPPORTED_CONSTRAINT,
        Reason.NAMESPACE_ENDING,
        Reason.HELD,
        Reason.QUEUE_NOT_FOUND,
        Reason.QUEUE_CLOSED,
        Reason.WAITING_FOR_GROUP,
        Reason.WAITING_FOR_VOLUMES,
        Reason.WAITING_FOR_DEVICES,
        Reason.TIMED_OUT,
    }
)
"""
Reasons that nothing takes away, but that enough pods run for fewer to be enough.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuLine:
    """
    One line of the menu: a change by an amount, of which the least that helps is meant.

    ``most`` is the largest amount that makes sense, ``least`` the smallest.  Rules that
    it does not ``weaken`` hold all the same, whatever the amount.  How much a plan has
    ``used`` may be enough; 0 where nobody can tell.  So many more like the last one
    are ``left_out``: there are too many to be tried.
    """

    rule: Verdict
    most: int
    change: Callable[[int], Change]
    price: Callable[[int], int]
    least: int = 1
    weakens: frozenset[Verdict]
    used: Callable[[Plan], int] = lambda _: 0
    left_out: int = 0

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


def few_of(lines: Iterable[MenuLine], most: int) -> list[MenuLine]:
    """
    Leave all out but the first few lines, and count those.
    """
    every = [*lines]
    if len(every) <= most:
        return every
    last = replace(every[most - 1], left_out=len(every) - most)
    return [*every[: most - 1], last]


def is_hopeless(waiting: Waiting | None) -> bool:
    """
    Tell whether only fewer pods help, of who waits for another of its group so that.
    """
    if waiting is None or waiting.reason is not Reason.WAITING_FOR_GROUP:
        return waiting is not None and waiting.reason in _HOPELESS
    causes = {reason.value: reason for reason in Reason}
    return causes.get(str(waiting.facts.get("cause")), waiting.reason) in _HOPELESS
