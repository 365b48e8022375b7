"""
Choosing among equally good evictions by what follows from them.

Tier by tier the whole round is asked as one model: its bound holds for every choice of
a step, and where it claims more than what was frozen led to, that choice is tried.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from models.plan import gap_between
from solver.effort.budget import Budget
from solver.encode.demand import levels_of
from solver.encode.leaving.round_stage import Stage
from solver.encode.leaving.whole_round import RoundEncoding, encode_round
from solver.encode.node_classes import Level
from solver.encode.tier_rows import aim_at, keep_at, require_better
from solver.evict.beneficiaries import departures_of
from solver.evict.idle_starts import without_profit
from solver.evict.lose_less import let_stay
from solver.evict.open_step import Opened, may_open
from solver.place.draft import Draft
from solver.problem.problem import Step
from solver.score.still_possible import StillPossible, widest_bound
from solver.score.tiers import is_better, score
from solver.search.attempts import Attempts
from solver.search.choices import Decided, Finished
from solver.search.goal import Goal
from solver.search.race import Answer, hint_answer
from solver.search.round_decoding import decode_stage

Again = Callable[[Decided, Mapping[Step, Draft]], Finished]


def keep_open(
    found: Finished, again: Again, budget: Budget
) -> tuple[Finished, tuple[bool, ...]]:
    """
    Find the choice that leads to the best round; say in which tiers none is better.

    ``again`` takes the steps after one of those in ``found`` with another choice.
    """
    sure = found.sure.holds(found.keys, found.values)
    for at, decided in enumerate(found.decided):
        if decided.known.sure.open:
            break
        later = [one.known.sure for one in found.decided[at + 1 :]]
        is_open = next(iter(later), found.sure).open
        if not (is_open and not all(sure)) and not _has_gap(found, decided):
            continue
        if not _is_large(decided, budget):
            return _Choice(found, decided, again, budget).best()
    return found, sure


def _has_gap(found: Finished, decided: Decided) -> bool:
    """
    Tell whether a tier of a step kept more of a gap than the policy takes.
    """
    return any(
        gap_between(value, bound) > key.gap
        for key, value, bound in zip(
            found.keys, found.values, found.bounds, strict=True
        )
        if key in decided.opened.keys
    )


def _is_large(decided: Decided, budget: Budget) -> bool:
    """
    Tell whether a round is more than one model can prove, or be built in time.
    """
    opened, tuning = decided.opened, decided.before.tuning.search
    gangs = len(decided.before.units) + len(opened.movers) + len(opened.now.units)
    nodes = decided.before.room.nodes
    leaving = opened.victims.numbers().total()
    rows = len(nodes) * len(decided.before.room.sums) + leaving
    return (
        len(nodes) * gangs > tuning.most_open_cells
        or rows > budget.left * tuning.choices_per_unit
    )


def _encoded(decided: Decided, possible: StillPossible) -> RoundEncoding:
    """
    Build the model of all who may start where the first tiers are as they are.
    """
    before = possible.among(decided.before)
    opened = replace(
        decided.opened,
        problem=possible.among(decided.opened.problem),
        now=possible.among(decided.opened.now),
    )
    steps: dict[Step, Opened] = {opened.now.step: opened}
    if opened.now.step is Step.ENTITLED:
        second = may_open(before, Step.BORROWING)
        if second is not None:
            steps[Step.BORROWING] = second
    levels: dict[Step, list[Level]] = {Step.IDLE: levels_of(before)}
    for step, one in steps.items():
        levels[step] = levels_of(one.problem, one.moved)
    return encode_round(before, steps, levels)


def _num_known(found: Finished, possible: StillPossible) -> int:
    """
    Count the first tiers that are the best whoever was frozen, and take them in.
    """
    sure = found.sure.holds(found.keys, found.values)
    rows = zip(found.keys, found.values, found.bounds, sure, strict=True)
    for at, (key, value, bound, holds) in enumerate(rows):
        if not holds or bound != value:
            return at
        possible.take(key, value)
    return len(found.keys)


class _Choice:
    """
    The search for the best choice of one step, with all that follows it.
    """

    def __init__(
        self,
        found: Finished,
        decided: Decided,
        again: Again,
        budget: Budget,
    ) -> None:
        self.found = found
        self.decided = decided
        self.again = again
        self.budget = budget
        self.watch = budget.watch
        self.tuning = decided.before.tuning.search
        self.attempts = Attempts(budget, self.tuning)
        self.tries = self.tuning.most_open_tries
        self.tried: list[Mapping[Step, Draft]] = []
        self.possible = StillPossible(found.sure.bare)
        self.known = _num_known(found, self.possible)
        self.encoding = _encoded(decided, self.possible)
        self.watch.lap("build")

    def best(self) -> tuple[Finished, tuple[bool, ...]]:
        """
        Go through the tiers until one stays open, or no round is better in any.
        """
        keys = self.found.keys
        for at in range(self.known):
            self._keep(at)
        asked: Draft | None = None
        for at in range(self.known, len(keys)):
            bound, new = self._bound(at), asked is not self.found.draft
            while not self._is_known(at, bound):
                asked = self.found.draft if new else asked
                is_best, answer, bound = self._ask(at, bound, new=new)
                if is_best:
                    self._close(at, len(keys))
                    return self.found, (True,) * len(keys)
                went_on = new if answer is None else self._leads_on(at, answer)
                if not went_on and not self._is_known(at, bound):
                    return self.found, tuple(rest < at for rest in range(len(keys)))
                new = False
            self._close(at, at + 1)
            self.possible.take(keys[at], self.found.values[at])
            self._keep(at)
        return self.found, (True,) * len(keys)

    def _keep(self, at: int) -> None:
        """
        Let no answer be worse in a tier.
        """
        key, value = self.found.keys[at], self.found.values[at]
        keep_at(self.encoding.model, self.encoding.tier(key), key.direction, value)

    def _close(self, at: int, end: int) -> None:
        """
        Note that the values of tiers are their bounds, whatever the steps had found.
        """
        bounds, values = self.found.bounds, self.found.values
        bounds = (*bounds[:at], *values[at:end], *bounds[end:])
        self.found = replace(self.found, bounds=bounds)

    def _bound(self, at: int) -> int:
        """
        Bound a tier by arithmetic, as the tiers before it leave anything open.
        """
        key = self.found.keys[at]
        row = self.encoding.tier(key)
        return self.possible.bound(key) if row.variables else row.constant

    def _is_known(self, at: int, bound: int) -> bool:
        """
        Tell whether a tier has its best value by a bound, or by what the steps found.
        """
        known = self.found.sure.holds(self.found.keys, self.found.values)[at]
        value = self.found.values[at]
        return bound == value or (known and self.found.bounds[at] == value)

    def _ask(
        self, at: int, bound: int, *, new: bool
    ) -> tuple[bool, Answer | None, int]:
        """
        Ask the whole round for the best value of a tier; give what is better, if any.

        Of a ``new`` round it is told where none is better in any tier from this one on,
        and given only what is sure to be the best.
        """
        key, value = self.found.keys[at], self.found.values[at]
        model, goal = self.encoding.model, Goal(key.direction, 0.0, value, bound)
        limit, is_best = self.budget.left * self.tuning.open_part, False
        if limit <= 0:
            self.budget.cut.add("search")
            return False, None, bound
        aim_at(model, self.encoding.tier(key), key.direction)
        if new:
            is_best, answer = self._any_better(at, goal, limit)
        else:
            answer = self.attempts.solve(model, goal, limit)
        self.watch.lap("search")
        claim = value if answer is None else answer.claim
        if not goal.is_better(claim, value) or (new and claim != goal.bound):
            answer = None
        return is_best, answer, goal.bound

    def _any_better(
        self, at: int, goal: Goal, limit: float
    ) -> tuple[bool, Answer | None]:
        """
        Ask for the best of all that is better in the tiers from one on; start from it.
        """
        keys, values = self.found.keys[at:], self.found.values[at:]
        rows = [self.encoding.tier(key) for key in keys]
        model = self.encoding.model.clone()
        model.clear_hints()  # type: ignore[no-untyped-call]
        require_better(model, zip(keys, rows, values, strict=True))
        self.watch.lap("build")
        is_best, answer = self.attempts.at_once(model, goal, limit)
        if answer is not None:
            hint_answer(self.encoding.model, answer)
        return is_best, answer

    def _leads_on(self, at: int, answer: Answer) -> bool:
        """
        Tell whether an answer leads to a better round, if need be once it is settled.
        """
        if not self.tries:
            return False
        return self._try(answer) or self._try(self._settled(at, answer))

    def _settled(self, at: int, answer: Answer) -> Answer:
        """
        Let the later tiers decide what an answer for one leaves open.
        """
        keys = self.found.keys[at:]
        rows = [self.encoding.tier(key) for key in keys]
        model = self.encoding.model.clone()
        for key, row in zip(keys, rows, strict=True):
            value = row.at(answer.value)
            hint_answer(model, answer)
            aim_at(model, row, key.direction)
            goal = Goal(
                key.direction, 0.0, value, widest_bound(self.decided.before, key)
            )
            limit = self.budget.left * self.tuning.open_part
            better = self.attempts.solve(model, goal, limit)
            if better is not None and goal.is_better(better.claim, value):
                answer, value = better, better.claim
            keep_at(model, row, key.direction, value)
        self.watch.lap("search")
        return answer

    def _try(self, answer: Answer) -> bool:
        """
        Freeze what an answer chose, once; tell whether that leads to a better round.
        """
        self.tries -= 1
        opened = self.decided.opened
        drafts: dict[Step, Draft] = {}
        for step, stage in self.encoding.stages.items():
            if (draft := self._decoded(stage, answer)) is not None:
                drafts[step] = draft
        self.watch.lap("decode")
        draft = drafts.get(opened.now.step)
        if draft is None or drafts in self.tried or not opened.holds(draft):
            return False
        self.tried.append(drafts)
        fewer, found = let_stay(opened, draft), self.found
        for one in (fewer, draft)[fewer is draft :]:
            other = self.again(self.decided, {**drafts, opened.now.step: one})
            left = departures_of(other.problem).values()
            is_named = all(departure.beneficiaries for departure in left)
            if is_named and is_better(found.keys, other.values, found.values):
                self.found = other
                return True
        return False

    def _decoded(self, stage: Stage, answer: Answer) -> Draft | None:
        """
        Read what an answer chose in a step; none where that cannot be dealt out.
        """
        opened = stage.opened
        decoded, moved = decode_stage(stage, answer.value, self.budget)
        draft = without_profit(opened.problem, decoded.draft)
        draft = replace(draft, held=_held(stage, answer))
        values = score(opened.problem, draft, opened.keys)
        chosen = tuple(stage.encoding.tier(key).at(answer.value) for key in opened.keys)
        is_worse = is_better(opened.keys, chosen, values)
        return draft if moved and decoded.whole and not is_worse else None


def _held(stage: Stage, answer: Answer) -> frozenset[str]:
    """
    Name the units that an answer reserves.
    """
    units = (kind.sample.key for kind in stage.held if answer.value(kind.starts.chosen))
    return frozenset(units)
