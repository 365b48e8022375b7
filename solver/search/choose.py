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
    Find the choice that leads to the best round, as far as the model can carry it.

    Parameters
    ----------
    found
        The round with the choices that were frozen first.
    again
        Takes the steps after one of them again, with another choice.
    budget
        What may still be used up.

    Returns
    -------
    The best round found, and of each tier whether no choice is better in it.
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
        self.encoding = self._encode()

    def _encode(self) -> RoundEncoding:
        """
        Build the model of all who may start where the first tiers are as they are.
        """
        before = self.possible.among(self.decided.before)
        opened = self.decided.opened
        opened = replace(
            opened,
            problem=self.possible.among(opened.problem),
            now=self.possible.among(opened.now),
        )
        steps: dict[Step, Opened] = {opened.now.step: opened}
        if opened.now.step is Step.ENTITLED:
            second = may_open(before, Step.BORROWING)
            if second is not None:
                steps[Step.BORROWING] = second
        levels: dict[Step, list[Level]] = {Step.IDLE: levels_of(before)}
        for step, one in steps.items():
            levels[step] = levels_of(one.problem, one.moved)
        encoding = encode_round(before, steps, levels)
        self.watch.lap("build")
        return encoding

    def best(self) -> tuple[Finished, tuple[bool, ...]]:
        """
        Go through the tiers until one stays open, or no round is better in any.
        """
        keys = self.found.keys
        for at in range(self.known):
            self._keep(at)
        asked: Draft | None = None
        for at in range(self.known, len(keys)):
            if asked is not self.found.draft and self._is_best(at):
                for rest in range(at, len(keys)):
                    self._close(rest)
                return self.found, (True,) * len(keys)
            asked = self.found.draft
            if not self._is_sure(at):
                return self.found, tuple(rest < at for rest in range(len(keys)))
            self._close(at)
            self.possible.take(keys[at], self.found.values[at])
            self._keep(at)
        return self.found, (True,) * len(keys)

    def _keep(self, at: int) -> None:
        """
        Let no answer be worse in a tier.
        """
        key, value = self.found.keys[at], self.found.values[at]
        keep_at(self.encoding.model, self.encoding.tier(key), key.direction, value)

    def _close(self, at: int) -> None:
        """
        Note that the value of a tier is its bound, whatever the steps had found.
        """
        bounds = [*self.found.bounds]
        bounds[at] = self.found.values[at]
        self.found = replace(self.found, bounds=tuple(bounds))

    def _is_best(self, at: int) -> bool:
        """
        Ask once for any better round in the tiers from one on; start from it if so.
        """
        keys, values = self.found.keys[at:], self.found.values[at:]
        rows = [self.encoding.tier(key) for key in keys]
        model = self.encoding.model.clone()
        model.clear_hints()  # type: ignore[no-untyped-call]
        model.clear_objective()  # type: ignore[no-untyped-call]
        require_better(model, zip(keys, rows, values, strict=True))
        self.watch.lap("build")
        limit = self.budget.left * self.tuning.open_part
        is_best, answer = self.attempts.any_solution(model, limit)
        self.watch.lap("search")
        if answer is not None:
            hint_answer(self.encoding.model, answer)
        return is_best

    def _is_sure(self, at: int) -> bool:
        """
        Tell whether a tier has its best value; try what promises a better one.
        """
        bound = self.possible.bound(self.found.keys[at])
        while True:
            value = self.found.values[at]
            known = self.found.sure.holds(self.found.keys, self.found.values)[at]
            if bound == value or (known and self.found.bounds[at] == value):
                return True
            answer, bound = self._ask(at, bound)
            if bound == self.found.values[at]:
                return True
            if answer is None or not self.tries:
                return False
            if not self._try(answer) and not self._try(self._settled(at, answer)):
                return False

    def _ask(self, at: int, bound: int) -> tuple[Answer | None, int]:
        """
        Ask the whole round for the best value of a tier that has some bound.
        """
        key, value = self.found.keys[at], self.found.values[at]
        row = self.encoding.tier(key)
        if not row.variables:
            return None, row.constant
        model = self.encoding.model
        aim_at(model, row, key.direction)
        goal = Goal(key.direction, 0.0, value, bound)
        if self.budget.left <= 0:
            self.budget.cut.add("search")
            return None, bound
        answer = self.attempts.solve(
            model, goal, self.budget.left * self.tuning.open_part
        )
        self.watch.lap("search")
        if answer is None or not goal.is_better(answer.claim, value):
            answer = None
        return answer, goal.bound

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
        other = self.again(self.decided, drafts)
        named = (one.beneficiaries for one in departures_of(other.problem).values())
        if not all(named) or not is_better(
            self.found.keys, other.values, self.found.values
        ):
            return False
        self.found = other
        return True

    def _decoded(self, stage: Stage, answer: Answer) -> Draft | None:
        """
        Read what an answer chose in a step; none where that cannot be dealt out.
        """
        opened = stage.opened
        decoded, moved = decode_stage(stage, answer.value, self.budget)
        draft = replace(decoded.draft, held=_held(stage, answer))
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
