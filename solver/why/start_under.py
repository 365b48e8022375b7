"""
Could one unit start if only some named rules held?  Shown by places, sums or proof.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from models.plan import TierResult
from models.why.verdicts import Proof, Verdict
from solver.effort.budget import Budget
from solver.evict.evicted_before import was_evicted
from solver.evict.open_step import Opened, open_step
from solver.explain.could_start_alone import Alone, has_domains, is_by_hand
from solver.explain.room_now import limits_of, matching, places
from solver.explain.spread_of_others import crowds_out
from solver.place.draft import Draft
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Step, Unit
from solver.search.round_steps import search
from solver.why.named_rules import NamedRule
from solver.why.worlds import Rules, world_of

FEW = 200
"""
Nodes of which those who are there are asked first to leave.
"""
MOST_ASKED, MOST_SHARING = 40_000, 4_000
"""
Running pods of which all are asked to leave for one gang; the second where GPUs
are shared.
"""
STARTS = frozenset({"entitled", "borrowing"})
"""
Tiers in which gangs start by what makes others leave for them.
"""
OUTRANKED = NamedRule(word=Verdict.OUTRANKED)
Answers = dict[Rules, tuple[bool | None, Proof]]


@dataclass
class StartUnder:
    """
    One unit, asked under one set of rules after the other; every answer is kept.

    ``problem``, ``beside`` and ``unit`` are as ``rules_of`` says.  It is ``closed``
    where the plan has shown that nobody else could be made to leave.  ``offers`` is
    what empty nodes offer.  What is known if others get nothing is kept ``alone``.
    """

    problem: Problem
    beside: Problem
    unit: Unit
    rules: tuple[NamedRule, ...]
    budget: Budget
    offers: Ints
    closed: bool = False
    alone: Answers = field(default_factory=dict)
    _known: Answers = field(default_factory=dict, init=False)

    def given(self, rules: Rules) -> Problem:
        """
        Give the round as it is, beside what others get where that is among the rules.
        """
        return self.beside if OUTRANKED in rules else self.problem

    def world(self, rules: Rules) -> tuple[Problem, Unit]:
        """
        See the round and the unit under some rules.
        """
        problem = self.given(rules)
        held = rules - {OUTRANKED}
        return world_of(problem, self.unit, held, frozenset(self.rules), self.offers)

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
        alone = Alone(problem, self.budget)
        return alone.starts(unit, presolve=False) is False

    def _asked(self, rules: Rules) -> tuple[bool | None, Proof]:
        """
        Give what is known under some rules; what starts under more starts under fewer.

        It does not where nobody need leave under fewer: then nobody does.
        """
        known = self._known if OUTRANKED in rules else self.alone
        if rules not in known:
            more = (known[x] for x in known if x > rules and _gives_way(rules))
            starts = next((had for had in more if had[0]), None)
            known[rules] = starts or self._found(rules)
        return known[rules]

    def _found(self, rules: Rules) -> tuple[bool | None, Proof]:
        problem, unit = self.world(rules)
        idle, proof = _in_idle_room(problem, unit, self.budget)
        if idle is not False:
            return idle, ""
        if not _gives_way(rules):
            return False, proof
        if OUTRANKED in rules:
            if not self.proof(rules - {OUTRANKED}):
                return False, proof
            return (False, "model") if self.closed else (None, "")
        if was_evicted(problem, unit):
            return False, proof
        return _by_evictions(problem, unit, self.budget) or (False, proof)


def _gives_way(rules: Rules) -> bool:
    """
    Tell whether any rule is of a kind for which others are made to leave.
    """
    return any(rule.word is Verdict.ROOM or rule.is_beside for rule in rules)


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


def open_steps(problem: Problem) -> Iterator[Opened]:
    """
    Open the steps in which some may leave for the units of a round.
    """
    steps = (Step.ENTITLED, Step.BORROWING)
    opened = (open_step(problem, step, Draft()) for step in steps)
    return (one for one in opened if one is not None)


def _by_evictions(
    problem: Problem, unit: Unit, budget: Budget
) -> tuple[bool | None, Proof] | None:
    """
    Tell whether a unit starts if others leave for it; none where nobody may at all.

    Where nodes are many, only who is on some of them is looked at first; where too many
    run, it is left open whether others could leave.
    """
    most = MOST_ASKED if problem.room.parts is None else MOST_SHARING
    is_small = problem.running_pods <= most
    may, opened = np.flatnonzero(matching(problem, unit)), False
    worlds = [problem] * is_small
    if len(may) > FEW:
        runners = problem.runners.on({*may[:FEW].tolist()})
        worlds = [replace(problem, runners=runners), *worlds]
    for one in chain.from_iterable(map(open_steps, worlds)):
        opened = True
        if one.by_hand().first.starts(unit):
            return True, "model"
    if not (opened or is_small):
        opened = next(open_steps(problem), None) is not None
    if not opened:
        return None
    return (_by_search(problem, unit, budget), "model") if is_small else (None, "")


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
