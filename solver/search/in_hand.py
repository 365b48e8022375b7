"""
What is in hand as a tier is asked: values of all tiers, and a first solution.
"""

from dataclasses import dataclass

from solver.encode.encoding import Encoding
from solver.encode.hint import kept_starts
from solver.encode.variables import Var
from solver.place.draft import Draft
from solver.search.race import Answer


@dataclass(slots=True)
class InHand:
    """
    Values that are had, by a draft on real nodes or by what the model answered since.

    Those of an answer are claims until it is decoded.
    """

    values: list[int]
    draft: Draft
    answer: Answer | None = None

    def kept_starts(self, encoding: Encoding) -> list[tuple[Var, int]]:
        """
        List how many units of each type start, and how many of them entitled.
        """
        pairs = kept_starts(encoding, self.draft)
        answer = self.answer
        if answer is None:
            return pairs
        return [(variable, answer.value(variable)) for variable, _ in pairs]

    def adopt(self, at: int, answer: Answer) -> None:
        """
        Take an answer that comes to more than all before.
        """
        self.answer = answer
        self.values[at] = answer.claim
