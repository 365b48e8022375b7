"""
Why one gang waits in a round: one verdict, and the smallest set of rules behind it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from models.changes.all_room import count_on, in_all_room
from models.plan import GangLine, Plan
from models.policy import Evict, Limits, Policy
from models.snapshot import Snapshot
from models.why.reasons import Reason, Waiting
from models.why.told import no_start, sentence_of, told
from models.why.verdicts import Blocker, PlaceInLine, Verdict, WhyWaits
from models.why.without_rules import no_wait, not_ready
from solver.effort.budget import Budget, Stopwatch
from solver.evict.reservations import keep, promises_of
from solver.explain.reasons import kind_asked
from solver.hold.heads import heads_of
from solver.hold.held_nodes import with_heads
from solver.place.gang_order import rank_of
from solver.problem.problem import Problem, Unit, problem_of, together
from solver.why.given_to_others import GivenToOthers, given_by, kept_off
from solver.why.named_rules import NamedRule, rules_of
from solver.why.rule_numbers import blockers_of
from solver.why.smallest_core import smallest_core
from solver.why.start_under import (
    OUTRANKED,
    STARTS,
    StartUnder,
    is_closed,
    open_steps,
)
from solver.why.told_of_others import of_others
from solver.why.worlds import Rules, offered

UNITS, UNITS_OF_SIZE = 20.0, 2000.0
"""
Deterministic units for all that is asked about one gang, the most of them; in a large
cluster fewer, so many for its nodes and gangs together.
"""
_ASKED = frozenset(
    {
        Reason.NO_FITTING_NODE,
        Reason.DEMAND_EXCEEDS_CLUSTER,
        Reason.TOPOLOGY_TOO_SMALL,
        Reason.QUOTA_EXCEEDS_MAXIMUM,
        Reason.NEIGHBOURS_IN_THE_WAY,
    }
)


def why_waits(snapshot: Snapshot, policy: Policy, plan: Plan, gang: str) -> WhyWaits:
    """
    Say why a gang waits, and prove it.

    The ``gang`` is named with its namespace; the plan has a line of it.
    """
    return RoundAsked(snapshot, policy, plan, UNITS, frozenset(Verdict)).why(gang)


class RoundAsked:
    """
    One round, asked about one gang after the other; equal ones are told the same.

    Further cores are looked for of rules that have one of the words ``besides``; what
    is left open is told where ``undecided`` is one of them.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        policy: Policy,
        plan: Plan,
        units: float = UNITS,
        besides: frozenset[Verdict] = frozenset(),
    ) -> None:
        self.besides = besides
        self.problem = problem_of(snapshot, policy)
        self.plan = plan
        size = max(1, len(snapshot.nodes) + len(snapshot.gangs))
        self.limits = Limits(deterministic=min(units, UNITS, UNITS_OF_SIZE / size))
        self._lines = {line.name: line for line in plan.gangs}
        self._units = {x.key: unit for unit in self.problem.units for x in unit.states}
        self.offers = offered(self.problem.room)
        self._known: dict[object, WhyWaits] = {}
        self._steps = {step.gang for step in plan.operations}
        self._beside: dict[frozenset[str], tuple[GivenToOthers, Problem]] = {}

    def beside(self, unit: Unit) -> tuple[GivenToOthers, Problem]:
        """
        Give what the plan gives to all but a unit, and the round beside that.
        """
        own = self._steps.intersection(state.key for state in unit.states)
        if (key := frozenset(own)) not in self._beside:
            given = given_by(self.plan, self.problem, unit)
            self._beside[key] = given, given.beside(self.problem)
        return self._beside[key]

    def why(self, gang: str) -> WhyWaits:
        """
        Say why one gang waits, and where it stands.
        """
        said = self.told(gang)
        planned = bool(said.because) and gang in self._units
        return replace(said, place=self._place(gang)) if planned else said

    def told(self, gang: str) -> WhyWaits:
        """
        Say why one gang waits.
        """
        line, problem = self._lines[gang], self.problem
        if line.state != "Waiting" or problem.states[gang].satisfied:
            return no_wait(line)
        waiting = problem.blocked.get(gang) or _of_this_plan(line)
        unit = self._units.get(gang) or unit_of(problem, gang)
        if waiting is not None and "next" in waiting.facts:
            return _GangAsked(self, unit).too_soon(line, waiting)
        if waiting is not None and waiting.reason not in _ASKED:
            return not_ready(gang, waiting)
        kind = kind_asked(problem, unit)
        if kind not in self._known:
            self._known[kind] = _GangAsked(self, unit).why(line)
        if self._known[kind].verdict is Verdict.NEVER:  # told of its own pods
            return no_start(line, problem.blocked.get(gang))
        return replace(self._known[kind], gang=gang)

    @cached_property
    def _line(self) -> list[Unit]:
        waits = {x.name for x in self.plan.gangs if x.state == "Waiting"}
        units = self.problem.units
        return sorted((x for x in units if x.starts and x.key in waits), key=rank_of)

    def _place(self, gang: str) -> PlaceInLine | None:
        """
        Say which of all that wait comes when; none of what cannot be planned.
        """
        unit, queue = self._units[gang], self._lines[gang].queue
        if all(one.key != unit.key for one in self._line):
            return None
        before = [one for one in self._line if rank_of(one) < rank_of(unit)]
        mine = sum(any(x.gang.queue == queue for x in one.states) for one in before)
        return PlaceInLine(
            at=len(before) + 1,
            waiting=len(self._line),
            in_queue=mine + 1,
            before=tuple(one.key for one in before),
        )


def _of_this_plan(line: GangLine) -> Waiting | None:
    """
    Give a reason that only the plan knows: its group, or the round after it.
    """
    why = line.waiting
    if why is None:
        return None
    is_known = why.reason is Reason.WAITING_FOR_GROUP or "next" in why.facts
    return why if is_known else None


def unit_of(problem: Problem, gang: str) -> Unit:
    """
    Give the gangs that start with one, also where they never can.
    """
    for unit in problem.units:
        if any(state.key == gang for state in unit.states):
            return unit
    states = together(problem.states[gang], problem.states)
    lowest = min(state.gang.priority for state in states)
    return Unit(states=states, starts=True, band=problem.bands.of(lowest))


class _GangAsked:
    """
    One unit in one round, and what is asked about it.
    """

    def __init__(self, asked: RoundAsked, unit: Unit) -> None:
        self._problem = problem = asked.problem
        self._plan = plan = asked.plan
        self._unit, self._words = unit, asked.besides
        self._given, self._beside = asked.beside(unit)
        self._rules = rules_of(problem, self._beside, unit)
        rules, budget = self._rules, Budget(asked.limits, 0, Stopwatch(None))
        told = (problem, self._beside, unit, (*rules, OUTRANKED), budget, asked.offers)
        closed = is_closed(plan.tiers, problem.bands.label(unit.band))
        self._ask = StartUnder(*told, closed)

    def too_soon(self, line: GangLine, waiting: Waiting) -> WhyWaits:
        """
        Say for whom the next round would evict it, and what others get of its room.
        """
        rules = frozenset({*self._rules, OUTRANKED})
        of = of_others(self._ask, rules, self._given)
        found = not_ready(line.name, waiting)
        said, reason = found.because[0].facts, found.verdict
        first = replace(of, rule=reason, facts=said)
        return replace(found, because=(first,), proof="")

    def why(self, line: GangLine) -> WhyWaits:
        """
        Find the cores, the smallest first, and say them.
        """
        ask, rules = self._ask, self._rules
        alone = ask.answer(frozenset(rules))
        if alone is None:
            return self._undecided(line, self._not_asked)
        if alone:
            rules = (*rules, OUTRANKED)
            if ask.answer(frozenset(rules)) is not False:
                ask = self._held_back()
                if ask.answer(frozenset(rules)) is not False:
                    return self._undecided(line, lambda: self._left_open(rules))
        core = _core(rules, ask)
        if core is None:
            return self._undecided(line)
        if not core:
            return no_start(line, self._problem.blocked.get(line.name))
        because = blockers_of(ask, core, self._given)
        said = told(line, *because)
        besides = self._besides(ask, rules, core)
        return replace(said, besides=besides, proof=ask.proof(core) or "model")

    def _held_back(self) -> StartUnder:
        """
        Ask beside nodes that are held for others, too.
        """
        kept = keep(self._problem, promises_of(self._problem))
        heads = heads_of(kept)
        held = with_heads(kept, heads)
        names = [head.key for head in heads if head.nodes]
        self._given = replace(self._given, held_for=tuple(names))
        return replace(self._ask, beside=kept_off(self._beside, held, self._unit))

    def _besides(
        self, ask: StartUnder, rules: Sequence[NamedRule], core: Rules
    ) -> tuple[tuple[Blocker, ...], ...]:
        """
        List further cores, each of rules that no earlier one has.
        """
        found = []
        left = tuple(x for x in rules if x not in core and x.word in self._words)
        while left and ask.answer(frozenset(left)) is False:
            more = _core(left, ask)
            if not more:
                break
            found.append(blockers_of(ask, more, self._given))
            left = tuple(rule for rule in left if rule not in more)
        return tuple(found)

    def _left_open(self, rules: Sequence[NamedRule]) -> str:
        """
        Say who gets what it needs, and how much more might start than the plan starts.

        Of the bounds it is the first that is open.
        """
        alone = replace(self._ask, closed=True)
        core = _core(rules, alone)
        said = sentence_of(blockers_of(alone, core or frozenset(), self._given))
        said = f"it {said or 'could start alone'}"
        for tier in self._plan.tiers:
            if tier.name in STARTS and tier.value != tier.bound:
                band = "" if tier.band is None else f" of band {tier.band}"
                return (
                    f": {said}; that nobody else could leave for it was not proven, "
                    f"since tier {tier.name}{band} ended with a gap of "
                    f"{100 * tier.gap:.1f} %"
                )
        return f": {said}"

    def _not_asked(self) -> str:
        """
        Say what it lacks if nobody leaves, where it is open whether others could.
        """
        calm = self._problem.policy.model_copy(
            update={"evict": Evict(preempt=False, reclaim=False, consolidate=False)}
        )
        ask = replace(self._ask, problem=replace(self._problem, policy=calm), alone={})
        core = _core(self._rules, ask)
        if not core:
            return ""
        said = sentence_of(blockers_of(ask, core, self._given))
        return f": {said}; whether others could leave for it was not found out"

    def _undecided(self, line: GangLine, left: Callable[[], str] = str) -> WhyWaits:
        detail = left() if Verdict.UNDECIDED in self._words else ""
        entry = Blocker(rule=Verdict.UNDECIDED, facts={"detail": detail})
        return told(line, entry)


def _core(rules: Sequence[NamedRule], ask: StartUnder) -> Rules | None:
    """
    Give the smallest core, where each part of the claim has been shown.

    All its rules forbid the start, and without any one of them it is seen to happen; by
    the model twice, by counting once.
    """
    core = smallest_core(rules, lambda some: ask.answer(some) is not False)
    if ask.answer(core) is not False:
        return None
    if not all(ask.answer(core - {rule}) for rule in core):
        return None
    if ask.proof(core) == "model" and not ask.again(core):
        return None
    return core


def cannot_start(problem: Problem, gang: str) -> bool:
    """
    Tell whether a gang could not start whatever is planned, by proof.
    """
    if gang in problem.blocked:
        return True
    state = problem.states.get(gang)
    if state is None or state.satisfied:
        return False
    unit = unit_of(problem, gang)
    waiting = [one for one in problem.units if one.starts and one.key != unit.key]
    others = [state.gang for one in waiting for state in one.states]
    own = [state.gang for state in unit.states]
    if count_on(own, others):
        return False  # it may be beside another one
    if others and any(open_steps(problem)):  # it may take what leaves for them
        then = in_all_room(problem.snapshot, own)
        return then is not None and cannot_start(problem_of(then, problem.policy), gang)
    rules = rules_of(problem, problem, unit)
    budget = Budget(problem.policy.limits, 0, Stopwatch(None))
    ask = StartUnder(problem, problem, unit, rules, budget, offered(problem.room))
    return ask.answer(frozenset(rules)) is False
