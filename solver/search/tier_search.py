"""
The search: tier by tier, each solved, decoded, repaired and locked before the next.

In a step with evictions that is so of its tiers only, and who leaves is open, too.
"""

from collections import Counter

from models.plan import ModelSize
from solver.decode.place_relaxed import deal
from solver.decode.reading import read
from solver.effort.budget import Budget, Stopwatch
from solver.encode.without_topology import has_many_domains, without_topology
from solver.evict.lose_less import losing_less
from solver.evict.open_step import Opened
from solver.patterns.pattern_plan import filled, may_be_filled, must_be_filled
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.repack.pods_and_nodes import is_packing
from solver.repack.repack import repacked
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import tier_keys
from solver.search.attempts import Attempts
from solver.search.best_so_far import BestSoFar
from solver.search.claims import ClaimedTiers
from solver.search.questions import Questions
from solver.search.race import Answer
from solver.search.reopened import Reopening
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
        kind = {"scoped": bool(self.model.levels), "leaving": opened is not None}
        self.relaxed: Model | None = None
        if opened is None and has_many_domains(problem, self.model.levels):
            self.relaxed = Model(without_topology(problem), self.keys)
        attempts = Attempts(budget, self.tuning, **kind)
        models = self.model, self.relaxed
        self.questions = Questions(self.best, budget, attempts, *models)

    def all_tiers(self) -> None:
        """
        Solve every tier that arithmetic does not prove already.
        """
        best = self.best
        best.add_up()
        few = len(self.problem.units) <= self.tuning.most_to_repeat
        is_open = [*best.values] != best.bounds
        if is_open and self.opened is None and self.budget.is_short:
            self.budget.cut.add("search")
            return
        if self.opened is None and few and is_open and self.budget.left > 0:
            best.offer(complete(self.problem, Draft(), self.budget))
        packing = self.opened is None and is_packing(self.problem)
        if packing and len(self.problem.units) > self.tuning.few_pods:
            self._repack(self.tuning.repacking)
        done = self._by_claims() if self.opened is None and self.relaxed is None else 0
        for at, key in enumerate(self.keys[done:], done):
            if best.is_decided(at) or key in self.model.most:
                continue
            if not self.problem.units:
                break
            if self.budget.left <= 0:
                self.budget.cut.add("search")
                break
            self._solve_tier(at)
        if packing:
            self._repack(1.0)

    def _repack(self, part: float) -> None:
        """
        Let single pods drift by swaps for a part of the limit, where only room decides.
        """
        if self.budget.left <= 0 or self.best.is_decided(0):
            return
        steps = 0
        end = self.budget.left * (1.0 - part)
        timed = self.budget.limits.seconds is not None
        each = 0.0 if timed else 1.0 / self.tuning.steps_per_unit

        def is_over() -> bool:
            nonlocal steps
            steps += 1
            return self.budget.left - steps * each <= end

        seed = self.problem.policy.seed
        draft = repacked(self.problem, self.best.draft, stop=is_over, seed=seed)
        self.budget.charge(steps / self.tuning.steps_per_unit)
        self._keep(0, draft)
        self.watch.lap("search")

    def _by_claims(self) -> int:
        """
        Lock tiers at what the model claims, and decode once; say which tier is next.
        """
        claims = ClaimedTiers(self.questions)
        end = claims.next_tier()
        if claims.answer is None:
            return end
        values = claims.held.values
        draft, _ = read(self.model.encoding, claims.answer.value, self.budget, None)
        assert draft is not None
        claimed, end = end, self.best.first_short(draft, values[:end])
        if end < claimed:
            self.model.forget()
        last = min(end, len(self.keys) - 1)
        if not self._keep(last, draft):
            self.best.widen(last)
        self.watch.lap("decode")
        return end

    def _solve_tier(self, at: int) -> None:
        share = self.questions.share(at)
        end = self.budget.left - 2 * share
        if self.relaxed is not None and not self._solve_relaxed(
            self.relaxed, at, share
        ):
            return
        tried = must_be_filled(self.model.encoding, self.keys[at])
        by_patterns = tried and self._fill_by_patterns(at, share)
        for _ in range(self.tuning.most_refinements):
            answer = self.questions.ask(self.model, at, share)
            is_closed = by_patterns and self.questions.is_closed(at)
            if answer is None or self.budget.left <= 0 or is_closed:
                return
            unpacked = self._take(at, answer)
            if self.questions.is_closed(at) or not unpacked or self.budget.left <= end:
                return
            by_patterns = not tried and self._fill_by_patterns(at, share)
            tried = True
            if by_patterns:
                continue
            if not self.model.refine(unpacked):
                return
            rows = self.model.size.variables + self.model.size.constraints
            self.budget.charge(rows / self.tuning.rows_per_unit)

    def _fill_by_patterns(self, at: int, share: float) -> bool:
        """
        Choose what whole nodes hold together; say whether that gave a better draft.
        """
        encoding = self.model.encoding
        if self.opened is not None or not may_be_filled(encoding, self.keys[at]):
            return False
        row = self.model.ready(at, self.best.values)
        self.watch.lap("build")
        asks = self.questions.of_patterns(at, row, share)
        draft = filled(encoding, row, self.budget, *asks, self.best.draft)
        self.watch.lap("search")
        return draft is not None and self._keep(at, draft)

    def _solve_relaxed(self, model: Model, at: int, share: float) -> bool:
        """
        Solve a tier as if domains did not matter, and place by hand what starts.

        Says whether domains do matter: what was claimed could not be placed.
        """
        answer = self.questions.ask(model, at, share)
        if answer is None:
            return self.keys[at].name == "topology" and not self.questions.is_closed(at)
        failures: Counter[str] = Counter()
        for _ in range(self.tuning.most_deals):
            draft, failed = deal(self.problem, model.encoding, answer.value, failures)
            if failed or not self._keep(at, draft):
                self._keep(at, complete(self.problem, draft, self.budget))
            if not failed or self.questions.is_closed(at) or self.budget.left <= 0:
                break
            failures.update(failed)
        self.watch.lap("decode")
        end = self.budget.left - share
        if self.questions.falls_short(at, answer.claim):
            for better in Reopening(self.questions).drafts(at, share, answer.claim):
                self._keep(at, better)
        is_worth_it = share >= self.tuning.least_scoped and self.budget.left > end
        return is_worth_it and self.questions.falls_short(at, answer.claim)

    def _take(self, at: int, answer: Answer) -> tuple[int, ...]:
        """
        Decode an answer and keep it where it is better than the best so far.
        """
        encoding = self.model.encoding
        draft, unpacked = read(encoding, answer.value, self.budget, self.opened)
        if draft is not None:
            self._keep(at, draft)
        if draft is not None and self.keys[at].name not in LOSSES:
            for fewer in losing_less(self.opened, draft, self.budget):
                self._keep(len(self.keys) - 1, fewer)
        self.watch.lap("decode")
        return unpacked

    def _keep(self, at: int, draft: Draft) -> bool:
        """
        Keep a draft that is better up to a tier, with what it leaves open offered on.
        """
        if not self.best.offer(draft, at):
            return False
        if self.opened is None and not self.best.is_full(at):
            self.best.offer(complete(self.problem, draft, self.budget))
        self.best.widen(at)
        return True

    @property
    def size(self) -> ModelSize:
        """
        The size of the largest model that was built.
        """
        models = [m for m in (self.relaxed, self.model) if m is not None]
        return max((m.size for m in models), key=lambda size: size.variables)
