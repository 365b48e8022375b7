"""
The search: tier by tier, each solved, decoded, repaired and locked before the next.

In a step with evictions that is so of its tiers only, and who leaves is open, too.
"""

from models.plan import ModelSize
from solver.decode.place_relaxed import deal
from solver.effort.budget import Budget, Stopwatch
from solver.encode.hint import kept_starts
from solver.encode.without_topology import has_many_domains, without_topology
from solver.evict.open_step import Opened
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.score.tier import TierKey, tier_of
from solver.score.tiers import tier_keys
from solver.search.attempts import Attempts
from solver.search.best_so_far import BestSoFar
from solver.search.goal import Goal
from solver.search.race import Answer
from solver.search.reading import read
from solver.search.tier_model import Model


class TierSearch:
    """
    One search: a model for its tiers, and the best draft so far.

    With ``opened`` it is that of a step; without, of what is idle, and what an answer
    leaves over is offered to others.
    """

    def __init__(
        self,
        problem: Problem,
        first: Draft,
        budget: Budget,
        keys: tuple[TierKey, ...] = (),
        opened: Opened | None = None,
    ) -> None:
        self.problem = problem
        self.budget = budget
        self.watch: Stopwatch = budget.watch
        self.opened = opened
        self.tuning = problem.tuning.search
        self.keys = keys or tier_keys(problem)
        self.best = BestSoFar(problem, self.keys, first)
        self.model = Model(problem, self.keys, opened)
        scoped = bool(self.model.levels)
        self.attempts = Attempts(self.budget, self.tuning, scoped=scoped)
        self.relaxed: Model | None = None
        if opened is None and has_many_domains(problem, self.model.levels):
            self.relaxed = Model(without_topology(problem), self.keys)

    def all_tiers(self) -> None:
        """
        Solve every tier that arithmetic does not prove already.
        """
        best = self.best
        few = len(self.problem.units) <= self.tuning.most_to_repeat
        is_open = self.budget.left > 0 and [*best.values] != best.bounds
        if self.opened is None and few and is_open:
            best.offer(complete(self.problem, Draft()))
        for at, key in enumerate(self.keys):
            if best.values[at] == best.bounds[at] or at in best.fixed:
                continue
            if key in self.model.most:
                continue
            if not self.problem.units:
                break
            if self.budget.left <= 0:
                self.budget.cut.add("search")
                break
            self._solve_tier(at)

    def _solve_tier(self, at: int) -> None:
        share = self._share(at)
        if self.keys[at].name == "order" and self.budget.limits.seconds is None:
            share *= self.tuning.tie_break
        end = self.budget.left - 2 * share
        if self.relaxed is not None and not self._solve_relaxed(
            self.relaxed, at, share
        ):
            return
        for _ in range(self.tuning.most_refinements):
            answer = self._ask(self.model, at, share)
            if answer is None or self.budget.left <= 0:
                return
            unpacked = self._take(at, answer)
            if self._is_closed(at) or not unpacked or self.budget.left <= end:
                return
            if not self.model.refine(unpacked):
                return
            size = self.model.size
            rows = size.variables + size.constraints
            self.budget.charge(rows / self.tuning.rows_per_unit)

    def _solve_relaxed(self, model: Model, at: int, share: float) -> bool:
        """
        Solve a tier as if domains did not matter, and place by hand what starts.

        Says whether domains do matter: what was claimed could not be placed.
        """
        answer = self._ask(model, at, share)
        if answer is None:
            return self.keys[at].name == "topology" and not self._is_closed(at)
        first: list[str] = []
        for _ in range(self.tuning.most_deals):
            draft, failed = deal(self.problem, model.encoding, answer.value, first)
            if failed or not self._keep(at, draft):
                self._keep(at, complete(self.problem, draft))
            if not failed or self._is_closed(at) or self.budget.left <= 0:
                break
            first = failed + first
        self.watch.lap("decode")
        goal = self._goal(at)
        unplaced = goal.is_better(answer.claim, goal.value) and not goal.is_closed()
        return unplaced and share >= self.tuning.least_scoped

    def _share(self, at: int) -> float:
        best = self.best
        open_tiers = sum(
            value != bound
            for value, bound in zip(best.values[at:], best.bounds[at:], strict=True)
        )
        part = 1.0 if self.opened is None else self.tuning.step_part
        left = max(0.0, self.budget.left)
        return left / max(1.0, open_tiers * self.tuning.tier_part) * part

    def _is_closed(self, at: int) -> bool:
        """
        Tell whether a tier is proven, or near enough where the model is large.
        """
        return self._goal(at).is_closed()

    def _goal(self, at: int) -> Goal:
        key = self.keys[at]
        most = self.tuning.small_model
        small = self.relaxed is None and self.model.size.variables <= most
        gap = 0.0 if small else key.gap
        final = at == len(self.keys) - 1
        value, bound = self.best.values[at], self.best.bounds[at]
        return Goal(key.direction, gap, value, bound, final)

    def _ask(self, model: Model, at: int, share: float) -> Answer | None:
        """
        Solve a model for one tier; give an answer that claims more than the best has.
        """
        row = model.ready(at, self.best.values)
        self.watch.lap("build")
        goal = self._goal(at)
        answer = None
        if row.variables:
            model.aim(row, goal.direction, self.best.draft)
            answer = self._answer(model, at, goal, share)
        else:
            goal.tighten(row.constant)
        self.best.bounds[at] = goal.bound
        self.watch.lap("search")
        if answer is not None and goal.is_better(answer.claim, goal.value):
            return answer
        return None

    def _answer(self, model: Model, at: int, goal: Goal, share: float) -> Answer | None:
        """
        Ask what can be had with the starts as they are, where more than they count.
        """
        encoding = model.encoding
        near = None
        if tier_of(self.keys[at].name).beside_starts:
            kept = kept_starts(encoding, self.best.draft)
            near = self.attempts.nearby(encoding.model, kept, goal, share)
        answer = self.attempts.solve(encoding.model, goal, share)
        if near is None or (answer and not goal.is_better(near.claim, answer.claim)):
            return answer
        return near

    def _take(self, at: int, answer: Answer) -> tuple[int, ...]:
        """
        Decode an answer and keep it where it is better than the best so far.
        """
        draft, unpacked = read(
            self.model.encoding, answer.value, self.budget, self.opened
        )
        if draft is not None:
            self._keep(at, draft)
        self.watch.lap("decode")
        return unpacked

    def _keep(self, at: int, draft: Draft) -> bool:
        """
        Keep a draft that is better up to a tier, with what it leaves open offered on.
        """
        if not self.best.offer(draft, at):
            return False
        if self.opened is None and not self.best.is_full(at):
            self.best.offer(complete(self.problem, draft))
        self.best.widen(at)
        return True

    @property
    def size(self) -> ModelSize:
        """
        The size of the largest model that was built.
        """
        models = [m for m in (self.relaxed, self.model) if m is not None]
        return max((m.size for m in models), key=lambda size: size.variables)
