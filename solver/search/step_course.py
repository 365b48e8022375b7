"""
One step with evictions: what is idle, what is gained by hand, and what by the model.
"""

from dataclasses import replace

from models.plan import ModelSize
from solver.effort.budget import Budget
from solver.encode.conversion.contents import num_choices
from solver.evict.open_step import Opened
from solver.place.draft import Draft
from solver.place.stranded import with_company
from solver.problem.problem import Problem, Step
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import score
from solver.search.best_so_far import BestSoFar
from solver.search.choices import Known
from solver.search.gain_bound import coarse_bounds
from solver.search.spectral_bound import least_work
from solver.search.tier_search import TierSearch


class StepCourse:
    """
    One step: what is idle first, then what could be gained, by hand and by the model.
    """

    def __init__(
        self,
        opened: Opened,
        budget: Budget,
        known: Known,
    ) -> None:
        self.opened = opened
        self.watch = budget.watch
        self.budget = budget
        self.known = known
        self.coarse: dict[TierKey, int] = {}
        self.sizes: list[ModelSize] = []
        self.values: tuple[int, ...] = ()

    def best(self) -> Draft:
        """
        Give the best starts of the step with those who leave for them.
        """
        tuning = self.opened.problem.tuning
        if len(self.opened.victims.on_node) > tuning.search.many_nodes:
            self._start_idle()
            self.coarse, closed = coarse_bounds(
                self.opened, self.budget, self.known.steps.bounds
            )
            self.watch.lap("search")
            if closed:
                self.known.steps.add(self.coarse, self.coarse)
                problem, keys = self.opened.problem, self.opened.keys
                self.values = score(problem, self.opened.idle, keys)
                return self.opened.idle
        self.opened = self.opened.by_hand(self.budget)
        self.budget.reserved += self.watch.lap("greedy")
        opened = self.opened
        run = TierSearch(opened.problem, opened.first, self.budget, opened.keys, opened)
        self.known.steps.teach(run.best)
        run.best.tighten(self.coarse)
        choices = num_choices(self.opened.problem, self.opened.victims)
        if self._may_build(choices):
            wide = bool(self.opened.victims.wide)
            with self.budget.keeping(tuning.search.kept_for_losses if wide else 0.0):
                run.all_tiers()
        elif self.budget.left <= 0:
            self.budget.cut.add("search")
        if _starts_all(run.best) and _may_lose_less(run.best):
            _lose_at_least(run.best, least_work(self.opened, self.budget))
            self.watch.lap("search")
        self.sizes.append(run.size)
        self._learn(run)
        return run.best.draft

    def _may_build(self, choices: int) -> bool:
        """
        Tell whether enough is left for a model with so many choices, and to ask it.
        """
        left, seconds = self.budget.left, self.watch.seconds.get("build", 0.0)
        timed = self.budget.limits.seconds is not None
        tuning = self.opened.problem.tuning.search
        if timed and left <= tuning.asked_after * seconds:
            return False
        return choices <= left * tuning.choices_per_unit

    def _learn(self, run: TierSearch) -> None:
        """
        Note what was found, for the steps that follow.
        """
        self.values = run.best.values
        found = _found_bounds(run)
        values = dict(zip(run.keys, run.best.values, strict=True))
        self.known.steps.add(found, values)
        for key, value in values.items():
            if key.name not in LOSSES and found.get(key, value) > value:
                self.known.least[key] = found[key]

    def _start_idle(self) -> None:
        """
        Start as much as there is room for without anybody leaving.
        """
        opened = self.opened
        keys = tuple(key for key in opened.keys if key.name not in LOSSES)
        now = replace(opened.now, step=Step.IDLE)
        run = TierSearch(now, opened.idle, self.budget, keys)
        self.known.steps.teach(run.best)
        run.all_tiers()
        best = run.best.draft
        if opened.problem.step is Step.ENTITLED:
            best = entitled_of(now, best)
        self.opened = replace(opened, idle=best, first=best)


def _starts_all(best: BestSoFar) -> bool:
    """
    Tell whether all units start, and all that they are worth is proven.
    """
    gains = (at for at, key in enumerate(best.keys) if key.name not in LOSSES)
    return all(best.values[at] == best.bounds[at] for at in gains) and all(
        best.draft.starts(unit) for unit in best.problem.units
    )


def _first_loss(best: BestSoFar) -> int:
    return next(at for at, key in enumerate(best.keys) if key.name in LOSSES)


def _may_lose_less(best: BestSoFar) -> bool:
    """
    Tell whether less work could be lost, as far as is proven.
    """
    at = _first_loss(best)
    value = best.values[at]
    return value - best.bounds[at] > best.keys[at].gap * value


def _lose_at_least(best: BestSoFar, work: int) -> None:
    """
    Learn the least work that is lost where all units start.
    """
    at = _first_loss(best)
    best.trivial[at] = best.bounds[at] = max(best.bounds[at], work)


def _found_bounds(run: TierSearch) -> dict[TierKey, int]:
    """
    Give the bounds that hold for the whole round, and not only for this step.
    """
    best, model = run.best, run.model
    return {
        key: bound
        for key, bound, value in zip(best.keys, best.bounds, best.values, strict=True)
        if key not in model.most or bound == value
    }


def entitled_of(problem: Problem, draft: Draft) -> Draft:
    """
    Leave out of a draft who is not entitled, and whom nobody entitled must be near.
    """
    keys = draft.entitled & draft.places.keys()
    if problem.around is not None:
        keys = with_company(problem, draft, keys)
    places = {key: rows for key, rows in draft.places.items() if key in keys}
    return Draft(places=places, entitled=draft.entitled & keys)
