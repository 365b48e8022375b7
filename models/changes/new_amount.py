"""
What becomes of a number: another one, or more or less than it was.
"""

from collections.abc import Callable
from dataclasses import dataclass

from models.changes.refused import ChangeRefusedError


@dataclass(frozen=True, slots=True)
class NewAmount:
    """
    The ``value`` that a number gets, or ``by`` how much it changes; none is unlimited.

    Where both are said, ``value`` is what comes of it.
    """

    value: int | None = None
    by: int | None = None

    def after(
        self, before: int | None, where: str, shown: Callable[[int], str]
    ) -> int | None:
        """
        Give what the number is then; what is unlimited stays so by any difference.

        ``shown`` writes a number as people do.

        Raises
        ------
        ChangeRefusedError
            When it would be below nought.
        """
        if self.by is None:
            amount = self.value
        else:
            amount = None if before is None else before + self.by
        if amount is not None and amount < 0:
            what = f"would be -{shown(-amount)}"
            least = f"take away at most {shown(before)}" if before else "say 0 or more"
            raise ChangeRefusedError(where, what, least)
        return amount
