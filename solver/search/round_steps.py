"""
The course of a round: its steps, one after the other, and then all that is idle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.plan import ModelSize
from solver.effort.budget import Budget, Stopwatch
from solver.encode.conversion.contents import num_choices
from solver.evict.freeze import freeze
from solver.evict.last_rights import may_all_leave
from solver.evict.open_step import Opened, open_step, some_were_evicted
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import Problem, Step
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score, tier_keys
from solver.search.choices import Decided, Finished, Known, Sure, widest_bound
from solver.search.choose import keep_open
from solver.search.eviction_search import StepSearch
from solver.search.gain_bound import coarse_bounds
from solver.search.greedy_steps import plan_greedily
from solver.search.search_outcome import Outcome, tier_results
from solver.search.spectral_bound import least_work
from solver.search.tier_search import TierSearch


def search(problem: Problem, budget: Budget) -> Outcome:
    """
    Plan with the exact model, starting from greedy, step by step.

    Which of equally good evictions is frozen is chosen by what follows from them.
    """
    course = _Course(budget)
    found, sure = keep_open(course.whole(problem), course.again, budget)
    outcome = Outcome(
        problem=found.problem,
        draft=found.draft,
        tiers=tier_results(found.keys, found.values, found.bounds, sure),
        model=max(course.sizes, key=lambda size: size.variables),
    )
    if found.is_greedy:
        return outcome
    return _no_worse(found, outcome, plan_greedily(problem, budget), sure)


class _Course:
    """
    The steps of a round, from any of them on.
    """

    def __init__(self, budget: Budget) -> None:
        self.watch = budget.watch
        self.budget = budget
        self.sizes: list[ModelSize] = []

    def whole(self, problem: Problem) -> Finished:
        """
        Take all steps.
        """
        start = _Now(problem, Known(Sure(problem)))
        return self._from(Step.ENTITLED, start)

    def again(self, decided: Decided, drafts: Mapping[Step, Draft]) -> Finished:
        """
        Freeze something else in a step, and take the steps after it once more.

        What the step found holds beside its own values only.  A later step is taken as
        it was chosen with it, as far as it still holds.
        """
        opened = decided.opened
        step = opened.now.step
        now = _Now(decided.before, decided.known.copy())
        draft = drafts[step]
        values = score(opened.problem, draft, opened.keys)
        if values != decided.values:
            now.known.forget(opened.keys)
        self._freeze(replace(decided, draft=draft, values=values), now)
        return self._from(Step(step + 1), now, drafts)

    def _from(
        self, start: Step, now: "_Now", drafts: Mapping[Step, Draft] | None = None
    ) -> Finished:
        for step in (Step.ENTITLED, Step.BORROWING):
            if step < start:
                continue
            opened = open_step(now.problem, step, now.ready)
            self.watch.lap("greedy")
            if opened is None:
                if step is Step.ENTITLED and some_were_evicted(now.problem):
                    now.ready = now.entitled = self._entitled(now)
                continue
            chosen = drafts.get(step) if drafts else None
            if chosen is not None and opened.holds(chosen, whole=False):
                now.known.forget(opened.keys)
                values = score(opened.problem, chosen, opened.keys)
                known = now.known.copy()
                self._freeze(Decided(opened, now.problem, chosen, values, known), now)
                continue
            run = _StepCourse(opened, self.watch, self.budget, now.known)
            with self.budget.keeping(now.problem.tuning.search.kept_for_steps):
                best = run.best()
            self.sizes += run.sizes
            known = now.known.copy()
            self._freeze(Decided(run.opened, now.problem, best, run.values, known), now)
        return self._last(now)

    def _freeze(self, decided: Decided, now: "_Now") -> None:
        """
        Freeze a step, and start what may follow it for which nobody leaves.

        Gangs that were evicted follow, and those that a step with this exit must not
        serve: of the band of who is preempted, or beyond what a bound allows.
        """
        opened, draft, before = decided.opened, decided.draft, decided.before
        problem, now.ready = freeze(before, draft, opened.now.step)
        now.problem = problem
        now.decided = (*now.decided, decided)
        now.known.sure.learn(opened, now.known.steps.bounds, before, problem)
        if problem.frozen is not before.frozen:
            now.entitled = Draft()
            now.known.idle.forget()
            if opened.now.step is Step.BORROWING:
                now.known.steps.forget("entitled")
            now.is_greedy = now.is_greedy and draft is opened.first
        self.watch.lap("decode")
        if not draft.exits and not opened.left_out:
            return
        if opened.now.step is Step.ENTITLED:
            now.ready = now.entitled = self._entitled(now)
            return
        now.known.steps.forget("borrowing")
        if not problem.frozen.losses[Step.BORROWING].pods:
            now.ready = _entitled_of(now.ready)

    def _entitled(self, now: "_Now") -> Draft:
        return _entitled_now(now.problem, now.ready, self.watch, self.budget, now.known)

    def _last(self, now: "_Now") -> Finished:
        """
        Plan what is idle, given all that earlier steps decided.
        """
        problem, known = now.problem, now.known
        if some_were_evicted(problem):
            known.steps.forget("entitled")
        first = greedy(problem)
        self.watch.lap("greedy")
        run = TierSearch(problem, self.watch, first, self.budget)
        going_on = [
            complete(problem, draft)
            for draft in (now.ready, now.entitled)
            if draft.places
        ]
        for draft in going_on:
            run.offer(draft)
        known.steps.add(known.idle.bounds, known.idle.values)
        known.steps.teach(run)
        run.all_tiers()
        _keep_rights(run, going_on)
        self.sizes.append(run.size)
        least = (known.least.get(key, 0) for key in run.keys)
        bounds = map(max, zip(run.bounds, least, strict=True))
        return Finished(
            problem=problem,
            draft=run.best,
            keys=run.keys,
            values=run.values,
            bounds=tuple(map(_beyond, run.keys, run.values, bounds)),
            sure=known.sure,
            decided=now.decided,
            is_greedy=now.is_greedy,
        )


def _keep_rights(run: TierSearch, drafts: Sequence[Draft]) -> None:
    """
    Go back to what the steps bound where too little starts for those who leave.
    """
    if may_all_leave(run.problem, run.best):
        return
    held = [draft for draft in drafts if may_all_leave(run.problem, draft)]
    if held:
        run.best, run.values = held[0], score(run.problem, held[0], run.keys)
        for draft in held[1:]:
            run.offer(draft)


def _beyond(key: TierKey, value: int, bound: int) -> int:
    """
    Keep a bound on the far side of a value: a later step may pass what one found.
    """
    return max(value, bound) if key.direction == "max" else min(value, bound)


@dataclass(slots=True)
class _Now:
    """
    A round on its way: what it has frozen, what is ready, and what is known.

    ``is_greedy`` says that greedy has frozen the same.
    """

    problem: Problem
    known: Known
    ready: Draft = field(default_factory=Draft)
    entitled: Draft = field(default_factory=Draft)
    decided: tuple[Decided, ...] = ()
    is_greedy: bool = True


class _StepCourse:
    """
    One step: what is idle first, then what could be gained, by hand and by the model.
    """

    def __init__(
        self,
        opened: Opened,
        watch: Stopwatch,
        budget: Budget,
        known: Known,
    ) -> None:
        self.opened = opened
        self.watch = watch
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
        self.opened = self.opened.by_hand()
        self.watch.lap("greedy")
        run = StepSearch(self.opened, self.watch, self.budget)
        self.known.steps.teach(run)
        run.tighten(self.coarse)
        choices = num_choices(self.opened.victims, tuning.encode)
        if choices <= self.budget.left * tuning.search.choices_per_unit:
            wide = bool(self.opened.victims.wide)
            with self.budget.keeping(tuning.search.kept_for_losses if wide else 0.0):
                run.all_tiers()
        elif self.budget.left <= 0:
            self.budget.cut.add("search")
        if run.starts_all() and run.may_lose_less():
            run.lose_at_least(least_work(self.opened, self.budget))
            self.watch.lap("search")
        self.sizes.append(run.size)
        self.values = run.values
        found = run.found_bounds()
        values = dict(zip(run.keys, run.values, strict=True))
        self.known.steps.add(found, values)
        for key, value in values.items():
            if key.name not in LOSSES and found.get(key, value) > value:
                self.known.least[key] = found[key]
        return run.best

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
    known: Known,
) -> Draft:
    """
    Start what is entitled and has room now, and learn the bounds of these tiers.
    """
    keys = tuple(key for key in tier_keys(problem) if key.name == "entitled")
    if not keys:
        return ready
    first = complete(problem, ready)
    run = TierSearch(problem, watch, first, budget, keys=keys)
    run.all_tiers()
    _keep_rights(run, [first])
    known.idle.add(
        dict(zip(keys, run.bounds, strict=True)),
        dict(zip(keys, run.values, strict=True)),
    )
    return _entitled_of(run.best)


def _entitled_of(draft: Draft) -> Draft:
    entitled = draft.entitled
    places = {key: rows for key, rows in draft.places.items() if key in entitled}
    return Draft(places=places, entitled=entitled)


def _no_worse(
    found: Finished, outcome: Outcome, by_hand: Outcome, sure: Sequence[bool]
) -> Outcome:
    """
    Take greedy's answer where all its steps together come to more.

    Starts that follow in idle room count in the tiers of the steps before, and no step
    looks ahead to them.  From the first tier that differs on only such bounds hold that
    need no step.
    """
    keys, mine = found.keys, found.values
    theirs = score(by_hand.problem, by_hand.draft, keys)
    if not is_better(keys, theirs, mine):
        return outcome
    same = [x == y for x, y in zip(mine, theirs, strict=True)].index(False)
    bare = found.sure.bare
    wide = [widest_bound(bare, key) for key in keys[same:]]
    holds = [*sure[:same], *(v == w for v, w in zip(theirs[same:], wide, strict=True))]
    tiers = tier_results(keys, theirs, [*found.bounds[:same], *wide], holds)
    return replace(by_hand, tiers=tiers, model=outcome.model)
