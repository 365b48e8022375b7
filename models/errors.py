"""
The tree of exceptions; each carries its data and says one sentence with numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.plan import FailedTry

LONGEST_SHOWN = 300


class PhalanxError(Exception):
    """
    Anything Phalanx raises on purpose.
    """


@dataclass(frozen=True, slots=True)
class Problem:
    """
    One thing that is wrong with an input: where, what, and what to do.
    """

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        tail = f" ({printable(self.hint)})" if self.hint else ""
        return f"{printable(self.where)}: {printable(self.what)}{tail}"


def printable(text: str) -> str:
    """
    Write a text from outside so that it stays on its line and moves no cursor.
    """
    if len(text) > LONGEST_SHOWN:
        text = f"{text[:LONGEST_SHOWN]}…"
    return escaped(text)


def spelled(sign: str) -> str:
    """
    Spell out one sign, as Python and YAML do.
    """
    return ascii(sign)[1:-1]


def escaped(text: str, spell: Callable[[str], str] = spelled) -> str:
    """
    Spell out what moves a cursor, turns the reading direction or cannot be seen.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else spell(c) for c in text)


class InputRejectedError(PhalanxError):
    """
    A file cannot be obeyed as written; every problem found is listed.
    """

    def __init__(self, source: str, problems: list[Problem]) -> None:
        self.source = printable(source)
        self.problems = problems
        noun = "problem" if len(problems) == 1 else "problems"
        super().__init__(f"{self.source}: {len(problems)} {noun}")

    def __reduce__(self) -> tuple[type, tuple[str, list[Problem]]]:
        """
        Travel between processes with all data.
        """
        return type(self), (self.source, self.problems)


class PlanFileError(InputRejectedError):
    """
    A file is no plan, or not one that can be read.
    """


class WrongUseError(PhalanxError):
    """
    Somebody asked for what there is not, or in words that mean nothing.
    """


class QuantityError(PhalanxError, ValueError):
    """
    A text is not a Kubernetes quantity or duration.
    """


class TooMuchError(QuantityError):
    """
    An amount is larger than what can be counted; ``most`` is the largest that can.
    """

    def __init__(self, message: str, most: int) -> None:
        self.most = most
        super().__init__(message)

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        """
        Travel between processes with all data.
        """
        return type(self), (str(self), self.most)


class PlanRejectedError(PhalanxError):
    """
    A strategy's plan broke a rule, so nothing of it leaves.

    ``failed`` are all ways in which the round was planned, where it was several.
    """

    def __init__(
        self, violations: list[str], failed: "tuple[FailedTry, ...]" = ()
    ) -> None:
        self.violations = violations
        self.failed = failed
        super().__init__(
            f"the plan breaks {len(violations)} rule{'s' * (len(violations) > 1)}, "
            f"first: {violations[0]}"
        )

    def __reduce__(self) -> "tuple[type, tuple[list[str], tuple[FailedTry, ...]]]":
        """
        Travel between processes with all data.
        """
        return type(self), (self.violations, self.failed)
