"""
The search: tier by tier, each solved, decoded, repaired and locked before the next.

The best draft so far is kept outside the model and is never worse than greedy's in
the policy's order; the bounds are the model's own, or arithmetic where none was built.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.plan import ModelSize
from solver.decode.deal_places import decode
from solver.decode.place_relaxed import deal
from solver.effort.budget import Budget, Stopwatch
from solver.encode.hint import kept_starts
from solver.encode.node_classes import NodeClass
from solver.encode.without_topology import has_many_domains, without_topology
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.score.tier import LOSSES, TierKey, tier_of
from solver.score.tiers import is_better, score, tier_keys, trivial_bound
from solver.search.attempts import Attempts
from solver.search.goal import Goal
from solver.search.race import Answer
from solver.search.tier_model import Model


@dataclass
class TierSearch:
    """
    The state of one search: the best draft, its values, and the bounds found.
    """

    problem: Problem
    watch: Stopwatch
    best: Draft
    budget: Budget
    keys: tuple[TierKey, ...] = ()
    values: tuple[int, ...] = ()
    bounds: list[int] = field(default_factory=list)
    relaxed: Model | None = None

    def __post_init__(self) -> None:
        problem = self.problem
        self.tuning = problem.tuning.search
        self.keys = self.keys or tier_keys(problem)
        self.values = score(problem, self.best, self.keys)
        self.trivial = [trivial_bound(problem, key) for key in self.keys]
        self.bounds = [*self.trivial]
        self.fixed: set[int] = set()
        self.model = self._model()
        scoped = bool(self.model.levels)
        self.attempts = Attempts(self.budget, self.tuning, scoped=scoped)
        if has_many_domains(problem, self.model.levels):
            self.relaxed = Model(without_topology(problem), self.keys)

    def _model(self) -> Model:
        return Model(self.problem, self.keys)

    def learn(self, known: Mapping[TierKey, int]) -> None:
        """
        Take over bounds that earlier steps found; what is lost is not decided again.
        """
        for at, key in enumerate(self.keys):
            if self._is_lost(key):
                self.fixed.add(at)
            if key in known:
                self.fixed.add(at)
                self.trivial[at] = known[key]
                self.bounds[at] = known[key]

    def _is_lost(self, key: TierKey) -> bool:
        """
        Tell whether a tier counts what another step has lost.
        """
        return key.name in LOSSES and LOSSES[key.name][0] != self.problem.step

    def doubt(self, values: Mapping[TierKey, int]) -> None:
        """
        Forget what was learned given other values of earlier tiers than there are now.

        Parameters
        ----------
        values
            Those beside which the bounds were found.
        """
        given = True
        for at, key in enumerate(self.keys):
            if key not in values or at not in self.fixed or self._is_lost(key):
                continue
            if not given:
                self.trivial[at] = trivial_bound(self.problem, key)
                self.bounds[at] = self.trivial[at]
            given = given and self.values[at] == values[key]
            if not given:
                self.fixed.discard(at)

    def all_tiers(self) -> None:
        """
        Solve every tier that arithmetic does not prove already.
        """
        few = len(self.problem.units) <= self.tuning.most_to_repeat
        if few and self.budget.left > 0 and [*self.values] != self.bounds:
            self.offer(complete(self.problem, Draft()))
        for at in range(len(self.keys)):
            if self.values[at] == self.bounds[at] or at in self.fixed:
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
            if not self._refine([self.model.classes.items[c] for c in unpacked]):
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
        open_tiers = sum(
            value != bound
            for value, bound in zip(self.values[at:], self.bounds[at:], strict=True)
        )
        return max(0.0, self.budget.left) / max(1.0, open_tiers * self.tuning.tier_part)

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
        return Goal(key.direction, gap, self.values[at], self.bounds[at], final)

    def _ask(self, model: Model, at: int, share: float) -> Answer | None:
        """
        Solve a model for one tier; give an answer that claims more than the best has.
        """
        row = model.ready(at, self.values)
        self.watch.lap("build")
        goal = self._goal(at)
        answer = None
        if row.variables:
            model.aim(row, goal.direction, self.best)
            answer = self._answer(model, at, goal, share)
        else:
            goal.tighten(row.constant)
        self.bounds[at] = goal.bound
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
            kept = kept_starts(encoding, self.best)
            near = self.attempts.nearby(encoding.model, kept, goal, share)
        answer = self.attempts.solve(encoding.model, goal, share)
        if near is None or (answer and not goal.is_better(near.claim, answer.claim)):
            return answer
        return near

    def _take(self, at: int, answer: Answer) -> tuple[int, ...]:
        """
        Decode an answer and keep it where it is better than the best so far.
        """
        decoded = decode(self.model.encoding, answer.value, self.budget)
        draft = decoded.draft
        if decoded.unpacked:
            draft = complete(self.problem, draft)
        self._keep(at, draft)
        self.watch.lap("decode")
        return decoded.unpacked

    def _keep(self, at: int, draft: Draft) -> bool:
        """
        Keep a draft that is better up to a tier, with what it leaves open offered on.
        """
        values = score(self.problem, draft, self.keys)
        if not is_better(self.keys[: at + 1], values, self.values):
            return False
        self.best, self.values = draft, values
        if not self._is_full(at):
            self.offer(complete(self.problem, draft))
        self._widen(at)
        return True

    def _is_full(self, at: int) -> bool:
        """
        Tell whether all that can be added counts, and no more than there is.
        """
        counts: list[str] = [key.name for key in self.keys]
        here = zip(counts[: at + 1], self.values, self.bounds, strict=False)
        proven = [name for name, value, bound in here if value == bound]
        grows = ("entitled", "borrowing", "surplus")
        return all(0 < counts.count(name) == proven.count(name) for name in grows)

    @property
    def size(self) -> ModelSize:
        """
        The size of the largest model that was built.
        """
        models = [m for m in (self.relaxed, self.model) if m is not None]
        return max((m.size for m in models), key=lambda size: size.variables)

    def offer(self, draft: Draft) -> None:
        """
        Keep a draft if it is better than the best so far.
        """
        values = score(self.problem, draft, self.keys)
        if is_better(self.keys, values, self.values):
            self.best, self.values = draft, values

    def _widen(self, at: int) -> None:
        """
        Keep bounds on the right side of values.

        A repaired draft may beat a tier that was locked lower.
        """
        for i, key in enumerate(self.keys):
            if i > at:
                self.bounds[i] = self.trivial[i]
            elif key.direction == "max":
                self.bounds[i] = max(self.bounds[i], self.values[i])
            else:
                self.bounds[i] = min(self.bounds[i], self.values[i])

    def _refine(self, classes: Sequence[NodeClass]) -> bool:
        """
        Split the classes whose counts could not be packed, so that they become exact.
        """
        changed = False
        for item in classes:
            if len(item.nodes) == 1:
                continue
            changed = True
            pieces = len(item.nodes)
            whole = self.tuning.split_whole
            size = 1 if pieces <= whole else -(-pieces // whole)
            for i, node in enumerate(item.nodes):
                self.model.split[node] = 1 + item.nodes[i // size * size]
        if changed:
            self.model.forget()
        return changed
