"""
What a judge says about a plan that breaks a rule.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One broken rule: its stable name, what it is about, and the numbers.
    """

    rule: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}: {self.message}"
