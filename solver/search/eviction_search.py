"""
The search of a step with evictions: its tiers only, and who leaves is open, too.
"""

from collections.abc import Mapping, Sequence

from solver.decode.evictions import decode_step
from solver.effort.budget import Budget, Stopwatch
from solver.encode.node_classes import NodeClass
from solver.evict.open_step import Opened
from solver.place.draft import Draft
from solver.problem.problem import Step
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score
from solver.search.race import Answer
from solver.search.step_model import StepModel
from solver.search.tier_model import Model
from solver.search.tier_search import TierSearch


class StepSearch(TierSearch):
    """
    The search of a step with evictions: only its tiers, and who leaves is open, too.
    """

    def __init__(
        self,
        opened: Opened,
        watch: Stopwatch,
        budget: Budget,
    ) -> None:
        self.opened = opened
        super().__init__(opened.problem, watch, opened.first, budget, keys=opened.keys)
        self.relaxed = None

    def _model(self) -> Model:
        opened = self.opened
        most = _without_anybody(opened)
        return StepModel(opened.problem, self.keys, opened.victims, opened.movers, most)

    def all_tiers(self) -> None:
        """
        Solve every tier of the step that arithmetic does not prove already.
        """
        model = self.model
        assert isinstance(model, StepModel)
        for at, key in enumerate(self.keys):
            if self.values[at] == self.bounds[at] or at in self.fixed:
                continue
            if key in model.most:
                continue
            if self.budget.left <= 0:
                break
            self._solve_tier(at)

    def _share(self, at: int) -> float:
        return super()._share(at) * self.tuning.step_part

    def _take(self, at: int, answer: Answer) -> tuple[int, ...]:
        model = self.model
        assert isinstance(model, StepModel)
        decoded, moved = decode_step(model.step_encoding, answer.value, self.budget)
        draft = self.opened.settled(decoded.draft)
        if moved and self.opened.holds(draft, whole=decoded.whole):
            self._keep(at, draft)
        self.watch.lap("decode")
        return decoded.unpacked

    def _keep(self, at: int, draft: Draft) -> bool:
        values = score(self.problem, draft, self.keys)
        if not is_better(self.keys[: at + 1], values, self.values):
            return False
        self.best, self.values = draft, values
        self._widen(at)
        return True

    def tighten(self, bounds: Mapping[TierKey, int]) -> None:
        """
        Learn bounds that were found without this model.
        """
        for at, key in enumerate(self.keys):
            if key in bounds:
                self.trivial[at] = self.bounds[at] = bounds[key]

    def starts_all(self) -> bool:
        """
        Tell whether all units start, and all that they are worth is proven.
        """
        gains = (at for at, key in enumerate(self.keys) if key.name not in LOSSES)
        return all(self.values[at] == self.bounds[at] for at in gains) and all(
            self.best.starts(unit) for unit in self.problem.units
        )

    def may_lose_less(self) -> bool:
        """
        Tell whether less work could be lost, as far as is proven.
        """
        at = self._first_loss
        value = self.values[at]
        return value - self.bounds[at] > self.keys[at].gap * value

    def lose_at_least(self, work: int) -> None:
        """
        Learn the least work that is lost where all units start.
        """
        at = self._first_loss
        self.trivial[at] = self.bounds[at] = max(self.bounds[at], work)

    @property
    def _first_loss(self) -> int:
        return next(at for at, key in enumerate(self.keys) if key.name in LOSSES)

    def found_bounds(self) -> dict[TierKey, int]:
        """
        Give the bounds that hold for the whole round, and not only for this step.
        """
        model = self.model
        assert isinstance(model, StepModel)
        bounds = self.bounds if model.exact else self.trivial
        return {
            key: bound
            for key, bound, value in zip(self.keys, bounds, self.values, strict=True)
            if key not in model.most or bound == value
        }

    def _refine(self, classes: Sequence[NodeClass]) -> bool:
        """
        Give the nodes of bins that could not be packed bins of their own.
        """
        model = self.model
        assert isinstance(model, StepModel)
        items = model.classes.items
        wanted = {at for at, item in enumerate(items) if item in classes}
        nodes = [
            node
            for group in model.step_encoding.leaving.conversion.groups
            if wanted & {group.base, *(option.bin for option in group.options)}
            for node in group.nodes
        ]
        nodes += [
            crowded.node
            for crowded in model.step_encoding.leaving.conversion.crowded_nodes
            if wanted & {crowded.base, *(level.bin for level in crowded.levels)}
        ]
        apart = [node for node in nodes if model.split.get(node, 0) != 1 + node]
        if not apart:
            return False
        whole = self.tuning.split_whole
        size = 1 if len(apart) <= whole else -(-len(apart) // whole)
        for i, node in enumerate(apart):
            model.split[node] = 1 + apart[i // size * size]
        model.forget()
        return True


def _without_anybody(opened: Opened) -> dict[TierKey, int]:
    """
    Give what is entitled in the second step, in which nobody leaves for it.
    """
    if opened.problem.step is Step.ENTITLED:
        return {}
    keys = tuple(key for key in opened.keys if key.name == "entitled")
    values = score(opened.problem, opened.idle, keys)
    return dict(zip(keys, values, strict=True))
