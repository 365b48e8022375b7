"""
The course of a round: its steps, one after the other, and then all that is idle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.plan import ModelSize
from solver.encode.leaving.node_options import num_choices
from solver.evict.freeze import freeze
from solver.evict.open_step import Opened, open_step, some_were_evicted
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.budget import Budget, Stopwatch
from solver.problem.problem import Problem, Step
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score, tier_keys
from solver.search.choices import Sure, widest_bound
from solver.search.eviction_search import StepSearch
from solver.search.gain_bound import coarse_bounds
from solver.search.greedy_steps import plan_greedily
from solver.search.outcome import Outcome, tier_results
from solver.search.spectral_bound import least_work
from solver.search.tier_search import TierSearch

KEPT = 0.4
"""
The part of the limit that a step leaves to those after it.
"""
KEPT_FOR_LOSSES = 0.1
"""
The part of a step's limit that is left to the bound on what is lost.
"""
CHOICES_PER_UNIT = 10_000
"""
Choices on nodes that the model can take in for a unit, or a second, of what is left.
"""
MANY_NODES = 64
"""
With more nodes than this that somebody may leave, it is asked first whether what could
be gained is worth a look.
"""


@dataclass(frozen=True, slots=True)
class _Found:
    """
    Bounds of tiers, each beside the values of those before it.
    """

    bounds: dict[TierKey, int] = field(default_factory=dict)
    values: dict[TierKey, int] = field(default_factory=dict)

    def add(self, bounds: Mapping[TierKey, int], values: Mapping[TierKey, int]) -> None:
        """
        Take in newer bounds.
        """
        self.bounds.update(bounds)
        self.values.update(values)

    def forget(self, *names: str) -> None:
        """
        Leave out all bounds of some tiers, or of all.
        """
        for key in list(self.bounds):
            if not names or key.name in names:
                del self.bounds[key]

    def teach(self, run: TierSearch) -> None:
        """
        Tell a search what holds for its values.
        """
        run.learn(self.bounds)
        run.doubt(self.values)


@dataclass(frozen=True, slots=True)
class _Known:
    """
    Bounds of tiers from earlier steps.

    ``sure`` is what holds whoever was frozen, ``steps`` what the steps found of those
    for whom somebody may leave, ``idle`` what holds once anybody may start.  ``least``
    are bounds of steps that ended without a proof: what follows them cannot prove that
    nothing more was possible.
    """

    sure: Sure
    steps: _Found = field(default_factory=_Found)
    idle: _Found = field(default_factory=_Found)
    least: dict[TierKey, int] = field(default_factory=dict)


def search(problem: Problem, budget: Budget) -> Outcome:
    """
    Plan with the exact model, starting from greedy, step by step.
    """
    watch = budget.watch
    known = _Known(Sure(problem))
    sizes = []
    ready = entitled = Draft()
    bare, as_greedy = problem, True
    for step in (Step.ENTITLED, Step.BORROWING):
        opened = open_step(problem, step, ready)
        watch.lap("greedy")
        if opened is None:
            if step is Step.ENTITLED and some_were_evicted(problem):
                ready = entitled = _entitled_now(problem, ready, watch, budget, known)
            continue
        run = _StepCourse(opened, watch, budget, known)
        with budget.keeping(KEPT):
            best = run.best()
        sizes += run.sizes
        before = problem
        problem, ready = freeze(problem, best, step)
        known.sure.learn(run.opened, known.steps.bounds, before, problem)
        if problem.frozen is not before.frozen:
            entitled = Draft()
            known.idle.forget()
            as_greedy = as_greedy and best is run.opened.first
        watch.lap("decode")
        if run.leaves_more_to_start(best):
            ready = run.what_follows(problem, ready)
            entitled = ready if step is Step.ENTITLED else entitled
    if some_were_evicted(problem):
        known.steps.forget("entitled")
    by_hand = None if as_greedy else plan_greedily(bare, budget)
    drafts = (ready, entitled)
    return _last_step(problem, drafts, budget, known, sizes, by_hand)


class _StepCourse:
    """
    One step: what is idle first, then what could be gained, by hand and by the model.
    """

    def __init__(
        self,
        opened: Opened,
        watch: Stopwatch,
        budget: Budget,
        known: _Known,
    ) -> None:
        self.opened = opened
        self.watch = watch
        self.budget = budget
        self.known = known
        self.coarse: dict[TierKey, int] = {}
        self.sizes: list[ModelSize] = []

    def best(self) -> Draft:
        """
        Give the best starts of the step with those who leave for them.
        """
        if len(self.opened.victims.on_node) > MANY_NODES:
            self._start_idle()
            self.coarse, closed = coarse_bounds(
                self.opened, self.budget, self.known.steps.bounds
            )
            self.watch.lap("search")
            if closed:
                self.known.steps.add(self.coarse, self.coarse)
                return self.opened.idle
        if self.budget.left > 0:
            self.opened = self.opened.by_hand()
            self.watch.lap("greedy")
        run = StepSearch(self.opened, self.watch, self.budget)
        self.known.steps.teach(run)
        run.tighten(self.coarse)
        if num_choices(self.opened.victims) <= self.budget.left * CHOICES_PER_UNIT:
            wide = bool(self.opened.victims.wide)
            with self.budget.keeping(KEPT_FOR_LOSSES if wide else 0.0):
                run.all_tiers()
        elif self.budget.left <= 0:
            self.budget.cut.add("search")
        if run.starts_all() and run.may_lose_less():
            run.lose_at_least(least_work(self.opened, self.budget))
            self.watch.lap("search")
        self.sizes.append(run.size)
        found = run.found_bounds()
        values = dict(zip(run.keys, run.values, strict=True))
        self.known.steps.add(found, values)
        for key, value in values.items():
            if key.name not in LOSSES and found.get(key, value) > value:
                self.known.least[key] = found[key]
        return run.best

    def leaves_more_to_start(self, best: Draft) -> bool:
        """
        Tell whether starts of the same tiers may follow for which nobody leaves.

        Gangs that were evicted follow, and those that a step with this exit must not
        serve: of the band of who is preempted, or beyond what a bound allows.
        """
        return bool(best.exits) or self.opened.left_out

    def what_follows(self, problem: Problem, ready: Draft) -> Draft:
        """
        Start what is entitled without any eviction; what borrows follows at the end.
        """
        if self.opened.problem.step is Step.ENTITLED:
            return _entitled_now(problem, ready, self.watch, self.budget, self.known)
        self.known.steps.forget("borrowing")
        lost = problem.frozen.losses[Step.BORROWING].pods
        return ready if lost else _entitled_of(ready)

    def _start_idle(self) -> None:
        """
        Start as much as there is room for without anybody leaving.
        """
        opened = self.opened
        keys = tuple(key for key in opened.keys if key.name not in LOSSES)
        now = replace(opened.now, step=Step.IDLE)
        run = TierSearch(now, self.watch, opened.idle, self.budget, keys=keys)
        self.known.steps.teach(run)
        run.all_tiers()
        best = run.best
        if opened.problem.step is Step.ENTITLED:
            best = _entitled_of(best)
        self.opened = replace(opened, idle=best, first=best)


def _entitled_now(
    problem: Problem,
    ready: Draft,
    watch: Stopwatch,
    budget: Budget,
    known: _Known,
) -> Draft:
    """
    Start what is entitled and has room now, and learn the bounds of these tiers.
    """
    keys = tuple(key for key in tier_keys(problem) if key.name == "entitled")
    if not keys:
        return ready
    run = TierSearch(problem, watch, complete(problem, ready), budget, keys=keys)
    run.all_tiers()
    known.idle.add(
        dict(zip(keys, run.bounds, strict=True)),
        dict(zip(keys, run.values, strict=True)),
    )
    return _entitled_of(run.best)


def _entitled_of(draft: Draft) -> Draft:
    entitled = draft.entitled
    places = {key: rows for key, rows in draft.places.items() if key in entitled}
    return Draft(places=places, entitled=entitled)


def _last_step(
    problem: Problem,
    ready: Sequence[Draft],
    budget: Budget,
    known: _Known,
    sizes: Sequence[ModelSize],
    by_hand: Outcome | None,
) -> Outcome:
    """
    Plan what is idle, given all that earlier steps decided.

    Parameters
    ----------
    problem
        The round with its facts.
    ready
        Starts of an earlier step that have room now.
    budget
        What may still be used up.
    known
        Bounds of tiers from earlier steps.
    sizes
        The models built so far.
    by_hand
        Greedy's answer, where other steps led to it: it is taken where it is better.
        Starts that follow in idle room count in the tiers of the steps before, and no
        step looks ahead to them.
    """
    first = greedy(problem)
    budget.watch.lap("greedy")
    run = TierSearch(problem, budget.watch, first, budget)
    for draft in ready:
        if draft.places:
            run.offer(complete(problem, draft))
    known.steps.add(known.idle.bounds, known.idle.values)
    known.steps.teach(run)
    run.all_tiers()
    least = (known.least.get(key, 0) for key in run.keys)
    bounds = [max(pair) for pair in zip(run.bounds, least, strict=True)]
    found = Outcome(
        problem=problem,
        draft=run.best,
        tiers=tier_results(
            run.keys, run.values, bounds, known.sure.holds(run.keys, run.values)
        ),
        model=max([run.size, *sizes], key=lambda size: size.variables),
    )
    return found if by_hand is None else _no_worse(found, by_hand, bounds, known.sure)


def _no_worse(
    found: Outcome, by_hand: Outcome, bounds: Sequence[int], sure: Sure
) -> Outcome:
    """
    Take greedy's answer where all its steps together come to more.

    From the first tier that differs on only such bounds hold that need no step.
    """
    keys = tier_keys(sure.bare)
    mine = score(found.problem, found.draft, keys)
    theirs = score(by_hand.problem, by_hand.draft, keys)
    if not is_better(keys, theirs, mine):
        return found
    same = [x == y for x, y in zip(mine, theirs, strict=True)].index(False)
    wide = [widest_bound(sure.bare, key) for key in keys[same:]]
    tiers = tier_results(
        keys, theirs, [*bounds[:same], *wide], sure.holds(keys, theirs)
    )
    return replace(by_hand, tiers=tiers, model=found.model)
