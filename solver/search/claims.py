"""
Tiers locked at what the model claims, so that its answers are decoded once, at the end.

Counts of classes can nearly always be packed.  Where they cannot, or where a tier has
variables that no answer tells, it is left to the search that decodes each answer.
"""

from solver.decode.deal_places import Slots, decode, pack_all
from solver.encode.variables import Linear
from solver.patterns.pattern_plan import must_be_filled
from solver.place.complete import complete
from solver.score.tier import tier_of
from solver.score.tiers import is_better, score
from solver.search.in_hand import InHand
from solver.search.questions import Questions
from solver.search.race import Answer


class ClaimedTiers:
    """
    What is in hand while tier after tier is locked at the claim of the last answer.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.best = questions.best
        self.model = questions.model
        self.budget = questions.budget
        self.held = InHand([*self.best.values], self.best.draft)

    @property
    def answer(self) -> Answer | None:
        """
        Give the answer that all claims are of; none while the best draft has them.
        """
        return self.held.answer

    def next_tier(self) -> int:
        """
        Solve tier after tier; give the first one that is left to do.
        """
        best = self.best
        for at in range(len(best.keys)):
            held = self.held
            if held.answer is None and best.is_decided(at):
                continue
            if self.budget.left <= 0:
                return at
            row = self.model.ready(at, held.values)
            tuning = best.problem.tuning.search
            if self.model.size.variables <= tuning.small_model:
                return at
            encoding = self.model.encoding
            if must_be_filled(encoding, best.keys[at]):
                return at
            if held.answer is not None and not self._tells(at, row):
                return at
            if best.is_decided(at, held.values[at]):
                continue
            share = self.questions.share(at)
            answer = self.questions.ask(self.model, at, share, held)
            if answer is not None and not self._adopt(at, answer):
                return at
        return len(best.keys)

    def _tells(self, at: int, row: Linear) -> bool:
        """
        Read a tier's value off the answer in hand; false where that cannot be told.
        """
        answer = self.held.answer
        assert answer is not None
        more = self.model.encoding.told_by(self.best.keys[at], answer.value)
        if more is None:
            return False
        answer.extend(more)
        self.held.values[at] = row.at(answer.value)
        return True

    def _adopt(self, at: int, answer: Answer) -> bool:
        """
        Go on from a better answer, if all that it counts can be packed.
        """
        slots, unpacked = pack_all(self.model.encoding, answer.value, self.budget)
        if not unpacked:
            self.held.adopt(at, answer)
            if tier_of(self.best.keys[at].name).by_band:
                self._complete(at, answer, slots)
        self.budget.watch.lap("decode")
        return not unpacked

    def _complete(self, at: int, answer: Answer, slots: Slots) -> None:
        """
        Offer what is left over to others where a tier of starts is not closed yet.

        A tier locked short of its best makes the next ones harder.
        """
        best = self.best
        if answer.claim == best.bounds[at]:
            return
        decoded = decode(self.model.encoding, answer.value, self.budget, slots)
        whole = complete(best.problem, decoded.draft, self.budget)
        values = score(best.problem, whole, best.keys)
        if is_better(best.keys[: at + 1], values, tuple(self.held.values)):
            best.replace(whole)
            best.widen(at)
            self.held = InHand([*values], whole)
