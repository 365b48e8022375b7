"""
The tree of exceptions; each carries its data and says one sentence with numbers.
"""

from dataclasses import dataclass


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
        tail = f" ({self.hint})" if self.hint else ""
        return f"{self.where}: {self.what}{tail}"


class InputRejectedError(PhalanxError):
    """
    A file cannot be obeyed as written; every problem found is listed.
    """

    def __init__(self, source: str, problems: list[Problem]) -> None:
        self.source = source
        self.problems = problems
        noun = "problem" if len(problems) == 1 else "problems"
        super().__init__(f"{source}: {len(problems)} {noun}")


class QuantityError(PhalanxError, ValueError):
    """
    A text is not a Kubernetes quantity or duration.
    """


class PlanRejectedError(PhalanxError):
    """
    A strategy's plan broke a rule, so nothing of it leaves.
    """

    def __init__(self, violations: list[str]) -> None:
        self.violations = violations
        super().__init__(
            f"the plan breaks {len(violations)} rules, first: {violations[0]}"
        )
