"""
The questions of a search: how much of one tier there is, beside all earlier ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from solver.decode.wants import Value
from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.variables import Linear, Var
from solver.patterns.pattern_plan import Ask, Solve
from solver.score.tier import tier_of
from solver.search.attempts import Attempts
from solver.search.best_so_far import BestSoFar
from solver.search.goal import Goal
from solver.search.in_hand import InHand
from solver.search.race import Answer
from solver.search.tier_model import Model


@dataclass(slots=True)
class Questions:
    """
    What is asked of a model, and of one without domains where there are many.
    """

    best: BestSoFar
    budget: Budget
    attempts: Attempts
    model: Model
    relaxed: Model | None = None

    def share(self, at: int) -> float:
        """
        Give a tier's share of what is left for all open ones; in a step a part of it.

        Without a proof of the tiers before, later ones of a step have none either.
        """
        best, tuning = self.best, self.best.problem.tuning.search
        left = max(0.0, self.budget.left)
        if self.model.opened is not None:
            return left * tuning.step_part
        pairs = zip(best.values[at:], best.bounds[at:], strict=True)
        open_tiers = sum(value != bound for value, bound in pairs)
        if best.keys[at].name == "order" and self.budget.limits.seconds is None:
            left *= tuning.tie_break
        return left / max(1.0, open_tiers * tuning.tier_part)

    def is_closed(self, at: int) -> bool:
        """
        Tell whether a tier is proven, or near enough where the model is large.
        """
        return self.goal(at, self.best.values[at]).is_closed()

    def falls_short(self, at: int, claim: int) -> bool:
        """
        Tell whether a tier is open still, and short of what was claimed of it.
        """
        goal = self.goal(at, self.best.values[at])
        return goal.is_better(claim, goal.value) and not goal.is_closed()

    def goal(self, at: int, value: int) -> Goal:
        """
        Say what is to be reached in a tier from a value on.
        """
        key = self.best.keys[at]
        tuning = self.best.problem.tuning.search
        most = tuning.small_model
        small = self.relaxed is None and self.model.size.variables <= most
        gap = 0.0 if small else key.gap
        patience = tuning.patience[tier_of(key.name).by_band]
        if at == len(self.best.keys) - 1:
            patience = 0.0
        return Goal(key.direction, gap, value, self.best.bounds[at], patience)

    def ask(
        self, model: Model, at: int, share: float, held: InHand | None = None
    ) -> Answer | None:
        """
        Solve a model for one tier; give an answer that claims more than what is held.
        """
        best, watch = self.best, self.budget.watch
        row = model.ready(at, held.values if held else best.values)
        if held is None:
            last = model.last_with(at, best.values)
            held = InHand([*best.values], best.draft, last)
        watch.lap("build")
        goal = self.goal(at, held.values[at])
        answer = None
        if row.variables:
            model.aim(row, goal.direction, held)
            self.attempts.complete_hint(model.encoding.model, share)
            answer = self._answer(model, at, goal, share, held)
        else:
            goal.tighten(row.constant)
        best.bounds[at] = goal.bound
        if model.opened is not None:
            model.last = answer or model.last
        watch.lap("search")
        if answer is not None and goal.is_better(answer.claim, goal.value):
            return answer
        return None

    def beside(
        self, at: int, share: float, kept: Sequence[tuple[Var, int]]
    ) -> Value | None:
        """
        Solve the model for one tier with some variables kept; none if none is better.
        """
        goal, model = self.goal(at, self.best.values[at]), self.model.encoding.model
        answer = self.attempts.nearby(model, kept, goal, share)
        return None if answer is None else answer.value

    def of_patterns(self, at: int, row: Linear, share: float) -> tuple[Ask, Solve]:
        """
        Give what is asked where whole nodes are chosen, from the best draft on.
        """
        best = self.best
        held = InHand([*best.values], best.draft)
        self.model.aim(row, best.keys[at].direction, held)
        return partial(self.beside, at, share), partial(self.among, at, share)

    def among(self, at: int, share: float, model: cp_model.CpModel) -> Value | None:
        """
        Solve what has more to it than the model for one tier; none if none is better.

        Its bound is none of the tier's.
        """
        goal = self.goal(at, self.best.values[at])
        answer = self.attempts.at_once(model, goal, share)[1]
        if answer is None or not goal.is_better(answer.claim, goal.value):
            return None
        return answer.value

    def _answer(
        self, model: Model, at: int, goal: Goal, share: float, held: InHand
    ) -> Answer | None:
        """
        Ask what can be had with the starts as they are, where more than they count.
        """
        encoding = model.encoding
        near = None
        if tier_of(self.best.keys[at].name).beside_starts:
            kept = held.kept_starts(encoding)
            near = self.attempts.nearby(encoding.model, kept, goal, share)
        answer = self.attempts.solve(encoding.model, goal, share)
        if near is None or (answer and not goal.is_better(near.claim, answer.claim)):
            return answer
        return near
