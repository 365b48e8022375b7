"""
Could one unit start if only some named rules held?  Shown by places, sums or proof.
"""

from collections.abc import Sequence
from functools import cached_property

from models.plan import TierResult
from models.why.verdicts import Proof, Verdict
from solver.effort.budget import Budget
from solver.evict.open_step import Opened, open_step, was_evicted
from solver.explain.could_start_alone import Alone, has_domains, is_by_hand
from solver.explain.room_now import limits_of, places
from solver.explain.spread_of_others import crowds_out
from solver.place.draft import Draft
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Step, Unit
from solver.search.round_steps import search
from solver.why.named_rules import NamedRule
from solver.why.worlds import Rules, offered, world_of

STARTS = frozenset({"entitled", "borrowing"})
"""
Tiers in which gangs start by what makes others leave for them.
"""
OUTRANKED = NamedRule(word=Verdict.OUTRANKED)


class StartUnder:
    """
    One unit, asked under one set of rules after the other; every answer is kept.

    Parameters
    ----------
    problem, beside, unit
        As ``rules_of`` says.
    rules
        All rules there are.
    closed
        Whether the plan has shown that nobody else could be made to leave.
    budget
        What may be used up.
    """

    def __init__(
        self,
        problem: Problem,
        beside: Problem,
        unit: Unit,
        rules: Sequence[NamedRule],
        *,
        closed: bool,
        budget: Budget,
    ) -> None:
        self.rules = tuple(rules)
        self._rounds = problem, beside
        self.unit = unit
        self._closed = closed
        self._budget = budget
        self._every = frozenset(rules)
        self._known: dict[Rules, tuple[bool | None, Proof]] = {}

    def given(self, rules: Rules) -> Problem:
        """
        Give the round as it is, beside what others get where that is among the rules.
        """
        return self._rounds[OUTRANKED in rules]

    @cached_property
    def offers(self) -> Ints:
        """
        What nodes offer when they are quite empty, whatever holds.
        """
        return offered(self._rounds[False].room)

    def world(self, rules: Rules) -> tuple[Problem, Unit]:
        """
        See the round and the unit under some rules.
        """
        problem = self.given(rules)
        held = rules - {OUTRANKED}
        return world_of(problem, self.unit, held, self._every, self.offers)

    def answer(self, rules: Rules) -> bool | None:
        """
        Tell whether the unit starts, or would once others left; none if not known.
        """
        return self._asked(rules)[0]

    def proof(self, rules: Rules) -> Proof:
        """
        Say how it is known that some rules forbid the start.
        """
        return self._asked(rules)[1]

    def again(self, rules: Rules) -> bool:
        """
        Prove once more that some rules forbid a start in idle room, by a fresh model.

        It is solved as it was written, by one worker, without presolving.
        """
        problem, unit = self.world(rules)
        alone = Alone(problem, self._budget)
        return alone.starts(unit, presolve=False) is False

    def _asked(self, rules: Rules) -> tuple[bool | None, Proof]:
        if rules not in self._known:
            self._known[rules] = self._found(rules)
        return self._known[rules]

    def _found(self, rules: Rules) -> tuple[bool | None, Proof]:
        problem, unit = self.world(rules)
        idle, proof = _in_idle_room(problem, unit, self._budget)
        if idle is not False:
            return idle, ""
        if not any(rule.word is Verdict.ROOM or rule.is_beside for rule in rules):
            return False, proof
        given = self.world(rules - {OUTRANKED})
        if was_evicted(*given) or not open_steps(given[0]):
            return False, proof
        if OUTRANKED in rules:
            return (False, "model") if self._closed else (None, "")
        return _by_evictions(problem, unit, self._budget), "model"


def _in_idle_room(
    problem: Problem, unit: Unit, budget: Budget
) -> tuple[bool | None, Proof]:
    """
    Tell whether a unit starts in what is idle, and how it is known if it does not.
    """
    if any(bound.needs > bound.left for bound in limits_of(problem, unit)):
        return False, "counting"
    alone = Alone(problem, budget)
    if alone.sums.lacks(unit):
        return False, "counting"
    if places(alone.work, unit):
        return True, ""
    if is_by_hand(unit) and not has_domains(unit):
        return False, "counting"
    if crowds_out(problem, unit):
        return False, "counting"
    answer = alone.starts(unit)
    if answer is None:
        answer = _by_search(problem, unit, budget)
    return answer, "model"


def open_steps(problem: Problem) -> list[Opened]:
    """
    Open the steps in which some may leave for the units of a round.
    """
    steps = (Step.ENTITLED, Step.BORROWING)
    opened = (open_step(problem, step, Draft()) for step in steps)
    return [one for one in opened if one is not None]


def _by_evictions(problem: Problem, unit: Unit, budget: Budget) -> bool | None:
    """
    Tell whether a unit starts if others leave for it by the rules of the policy.
    """
    if any(one.by_hand().first.starts(unit) for one in open_steps(problem)):
        return True
    return _by_search(problem, unit, budget)


def _by_search(problem: Problem, unit: Unit, budget: Budget) -> bool | None:
    """
    Plan a round for a unit alone; none where the search ends before it is known.
    """
    outcome = search(problem, budget)
    reserved = outcome.problem.frozen.units
    if outcome.draft.starts(unit) or any(one.key == unit.key for one in reserved):
        return True
    return False if is_closed(outcome.tiers) else None


def is_closed(tiers: Sequence[TierResult], label: int | None = None) -> bool:
    """
    Tell whether no more starts are possible, down to a band.
    """
    starts = [tier for tier in tiers if tier.name in STARTS]
    return bool(starts) and all(
        tier.value == tier.bound
        for tier in starts
        if label is None or tier.band is None or tier.band >= label
    )
