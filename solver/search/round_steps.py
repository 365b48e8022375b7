"""
The course of a round: its steps, one after the other, and then all that is idle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.plan import ModelSize
from solver.effort.budget import Budget
from solver.evict.evicted_before import some_may_follow
from solver.evict.freeze import freeze
from solver.evict.lose_less import let_stay
from solver.evict.open_step import open_step
from solver.evict.rights.last_rights import may_end_with
from solver.evict.started_now import started_now
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import Problem, Step
from solver.score.still_possible import widest_bound
from solver.score.tiers import is_better, score, tier_keys
from solver.search.best_so_far import BestSoFar, beyond
from solver.search.choices import Decided, Finished, Known, Sure
from solver.search.choose import keep_open
from solver.search.greedy_steps import plan_greedily
from solver.search.search_outcome import Outcome, tier_results
from solver.search.step_course import StepCourse, entitled_of
from solver.search.tier_search import TierSearch


def search(problem: Problem, budget: Budget) -> Outcome:
    """
    Plan with the exact model, starting from greedy, step by step.

    Which of equally good evictions is frozen is chosen by what follows from them.
    """
    budget.begin_strategy()
    course = _Course(budget)
    found, sure = keep_open(course.whole(problem), course.again, budget)
    outcome = Outcome(
        problem=found.problem,
        draft=found.draft,
        tiers=tier_results(found.keys, found.values, found.bounds, sure),
        model=max(course.sizes, key=lambda size: size.variables),
    )
    budget.reserved = 0.0
    if found.is_greedy or all(tier.proof == "proven" for tier in outcome.tiers):
        return outcome
    if budget.is_short:
        budget.cut.add("search")
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
        now = _Now(decided.before, decided.known.copy())
        draft = drafts[opened.now.step]
        values = score(opened.problem, draft, opened.keys)
        if values != decided.values:
            now.known.forget(opened.keys)
        self._freeze(replace(decided, draft=draft, values=values), now)
        return self._from(Step(opened.now.step + 1), now, drafts)

    def _from(
        self, start: Step, now: "_Now", drafts: Mapping[Step, Draft] | None = None
    ) -> Finished:
        for step in (Step.ENTITLED, Step.BORROWING):
            if step < start:
                continue
            opened = open_step(now.problem, step, now.ready, self.budget)
            self.budget.reserved += self.watch.lap("greedy")
            if opened is None:
                if step is Step.ENTITLED and some_may_follow(now.problem):
                    now.ready = now.entitled = self._entitled(now)
                continue
            chosen = drafts.get(step) if drafts else None
            if chosen is not None and opened.holds(chosen, whole=False):
                chosen = let_stay(opened, chosen)
                now.known.forget(opened.keys)
                values = score(opened.problem, chosen, opened.keys)
                known = now.known.copy()
                self._freeze(Decided(opened, now.problem, chosen, values, known), now)
                continue
            run = StepCourse(opened, self.budget, now.known)
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
        opened, before = decided.opened, decided.before
        draft = started_now(opened, decided.draft)
        problem, now.ready = freeze(before, draft, opened.now.step)
        now.problem = problem
        now.decided = (*now.decided, decided)
        now.known.sure.learn(decided, now.known.steps, problem)
        if problem.frozen is not before.frozen:
            now.entitled = Draft()
            now.known.idle.forget()
            if opened.now.step is Step.BORROWING:
                now.known.steps.forget("entitled")
            now.is_greedy = now.is_greedy and decided.draft is opened.first
        self.watch.lap("decode")
        if not draft.exits and not opened.left_out:
            return
        if opened.now.step is Step.ENTITLED:
            now.ready = now.entitled = self._entitled(now)
            return
        now.known.steps.forget("borrowing")
        if not problem.frozen.losses[Step.BORROWING].pods:
            now.ready = entitled_of(problem, now.ready)

    def _entitled(self, now: "_Now") -> Draft:
        return _entitled_now(now.problem, now.ready, self.budget, now.known)

    def _last(self, now: "_Now") -> Finished:
        """
        Plan what is idle, given all that earlier steps decided.
        """
        problem, known = now.problem, now.known
        if some_may_follow(problem):
            known.steps.forget("entitled")
        first = greedy(problem, self.budget)
        self.watch.lap("greedy")
        run = TierSearch(problem, first, self.budget)
        best = run.best
        going_on = [
            complete(problem, draft, self.budget)
            for draft in (now.ready, now.entitled)
            if draft.places
        ]
        for draft in going_on:
            best.offer(draft)
        known.steps.add(known.idle.bounds, known.idle.values)
        known.steps.teach(best)
        run.all_tiers()
        _keep_rights(best, going_on)
        self.sizes.append(run.size)
        least = (known.least.get(key, 0) for key in best.keys)
        bounds = map(max, zip(best.bounds, least, strict=True))
        return Finished(
            problem=problem,
            draft=best.draft,
            keys=best.keys,
            values=best.values,
            bounds=tuple(map(beyond, best.keys, best.values, bounds)),
            sure=known.sure,
            decided=now.decided,
            is_greedy=now.is_greedy,
        )


def _keep_rights(best: BestSoFar, drafts: Sequence[Draft]) -> None:
    """
    Go back to what the steps bound where too little starts for those who leave.

    So where somebody who is reserved would be left alone who needs others near.
    """
    if may_end_with(best.problem, best.draft):
        return
    held = [draft for draft in drafts if may_end_with(best.problem, draft)]
    if held:
        best.replace(held[0])
        for draft in held[1:]:
            best.offer(draft)


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


def _entitled_now(
    problem: Problem, ready: Draft, budget: Budget, known: Known
) -> Draft:
    """
    Start what is entitled and has room now, and learn the bounds of these tiers.
    """
    keys = tuple(key for key in tier_keys(problem) if key.name == "entitled")
    if not keys:
        return ready
    first = complete(problem, ready, budget)
    run = TierSearch(problem, first, budget, keys)
    with budget.keeping(problem.tuning.search.kept_for_steps):
        run.all_tiers()
    best = run.best
    _keep_rights(best, [first])
    known.idle.add(
        dict(zip(keys, best.bounds, strict=True)),
        dict(zip(keys, best.values, strict=True)),
    )
    return entitled_of(problem, best.draft)


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
