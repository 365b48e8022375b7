"""
What a judge says about a plan that breaks a rule.
"""

from dataclasses import dataclass

from models.errors import printable


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One broken rule: its stable name, what it is about, and the numbers.
    """

    rule: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {printable(self.subject)}: {printable(self.message)}"
