"""
When a gang that waits starts at the latest, as far as run limits tell.

Limits say "at the latest"; a record of how gangs like it started says "about".  Nothing
is guessed: without either nobody can say.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from models.changes.passed_time import ends_in
from models.memory.start_record import ENOUGH, lines_of
from models.plan import Plan
from models.policy import Policy
from models.resources import format_duration
from models.snapshot import Snapshot
from models.why.remedies import WhenStarts
from solver.evict.reservations import keep, promises_of
from solver.hold.ends import ends_of
from solver.hold.forecast import Forecast
from solver.hold.heads import heads_of
from solver.next_snapshot import NOT_CHOSEN
from solver.place.place_gang import place_gang, place_surplus
from solver.place.round_state import RoundState
from solver.problem.problem import Problem, Unit, problem_of
from solver.why.given_to_others import given_by
from solver.why.room_beside_others import has_room_beside
from solver.why.why_waits import kind_asked, unit_of

_UNLESS = "if nobody more important comes"


def when_starts(
    snapshot: Snapshot, policy: Policy, plan: Plan, gang: str
) -> WhenStarts:
    """
    Say when a gang starts at the latest, or why nobody knows.

    Either nodes are held for it until those there end for sure, or all that waits has
    room together once enough has ended that names its longest run time.

    Parameters
    ----------
    snapshot
        What is.
    policy
        What is wanted.
    plan
        The round that was planned for both.
    gang
        Who waits.
    """
    return StartsAsked(problem_of(snapshot, policy), plan).when(gang)


class StartsAsked:
    """
    One round, asked when one gang after the other starts; equal ones are told the same.
    """

    def __init__(self, problem: Problem, plan: Plan) -> None:
        self._problem = problem
        self._plan = plan
        self._lines = {line.name: line for line in plan.gangs}
        self._known: dict[object, WhenStarts] = {}

    def when(self, gang: str) -> WhenStarts:
        """
        Say when one gang starts at the latest, or why nobody knows.
        """
        line, problem = self._lines[gang], self._problem
        if line.state == "Starting":
            return WhenStarts(latest=0, sentence="starts in this round")
        if line.state != "Waiting":
            return WhenStarts(sentence="does not wait for a start")
        if gang in problem.blocked or problem.states[gang].satisfied:
            return WhenStarts(sentence="unknown: time alone does not start it")
        unit = unit_of(problem, gang)
        return self._with_record(_unless_it_ends(unit, self._by_limits(unit)), unit)

    def _by_limits(self, unit: Unit) -> WhenStarts:
        """
        Say when a unit starts at the latest, as far as run limits tell.
        """
        problem = self._problem
        start = self._heads.get(unit.key)
        if start is not None:
            said = f"at the latest in {format_duration(start)}: nodes are held"
            return WhenStarts(latest=start, sentence=f"{said} for it")
        if any(step.op == "Evict" for step in self._plan.operations):
            return WhenStarts(sentence="unknown: who is evicted now waits beside it")
        kind = kind_asked(problem, unit)
        if kind not in self._known:
            ready = self._ready
            unit = unit_of(ready, unit.key)
            beside = given_by(self._plan, ready, unit).beside(ready)
            self._known[kind] = _by_ends(beside, unit, self._plan)
        return self._known[kind]

    @cached_property
    def _ready(self) -> Problem:
        """
        See the round as if no gang backed off: all who do wait as well, a while later.
        """
        snapshot = self._problem.snapshot
        if not any(gang.backoff for gang in snapshot.gangs):
            return self._problem
        gangs = tuple(
            replace(gang, backoff=0) if gang.backoff else gang
            for gang in snapshot.gangs
        )
        return problem_of(replace(snapshot, gangs=gangs), self._problem.policy)

    def _with_record(self, said: WhenStarts, unit: Unit) -> WhenStarts:
        """
        Add by when gangs like a unit started, where enough of them are on record.
        """
        record = self._problem.snapshot.starts
        places = [self._line[x.key] for x in unit.states if x.key in self._line]
        if not places or not record.seconds:
            return said
        queue, gpus, before = max(places, key=lambda place: place[2])
        expected = record.expected(queue, before)
        if expected is None:
            why = f"no start of its queue {queue} is on record that tells its pace"
            return _but(said, why)
        likely = record.likely(gpus, expected)
        if likely is None:
            like = record.like(gpus, expected)
            return _but(said, f"{like} starts like it are on record, {ENOUGH} tell")
        if said.latest is not None:
            likely = likely.before(said.latest)
        text = f"about, in 8 of 10 cases, in {format_duration(likely.most)}"
        if said.latest is None:
            sentence = f"{text}; at the latest {said.sentence}"
        else:
            sentence = f"{said.sentence}; {text}"
        return replace(said, about=likely, sentence=sentence)

    @cached_property
    def _line(self) -> dict[str, tuple[str, int, int]]:
        """
        Give of each gang that is ready and waits what starts up to it in its queue.
        """
        waits = {
            line.name
            for line in self._lines.values()
            if line.waiting is not None and line.waiting.reason in NOT_CHOSEN
        }
        return lines_of(x for x in self._problem.snapshot.gangs if x.key in waits)

    @cached_property
    def _heads(self) -> dict[str, int]:
        """
        Give the heads for which nodes are held, with when they start at the latest.
        """
        heads = heads_of(keep(self._problem, promises_of(self._problem)))
        return {x.key: x.start for x in heads if x.nodes and x.start is not None}


def _unless_it_ends(unit: Unit, said: WhenStarts) -> WhenStarts:
    """
    Say no start of what runs in part and ends by its own limit before.
    """
    found = (ends_in(state.gang) for state in unit.states)
    first = min((end for end in found if end is not None), default=None)
    if said.latest is None or first is None or first > said.latest:
        return said
    end = format_duration(first)
    return WhenStarts(
        sentence=f"unknown: what runs of it ends in {end}, before it could start"
    )


def _but(said: WhenStarts, why: str) -> WhenStarts:
    """
    Say why nobody knows by record either, where limits do not tell.
    """
    if said.latest is not None:
        return said
    return replace(said, sentence=f"{said.sentence}; {why}")


def _by_ends(beside: Problem, unit: Unit, plan: Plan) -> WhenStarts:
    """
    Find the first end for sure after which all that waits has room together.
    """
    nothing = np.zeros(len(beside.room.nodes), dtype=bool)
    seats = Forecast(beside).seats_later(unit, nothing)
    if seats is None or seats.start is None:
        return WhenStarts(sentence="unknown: nobody says when what is in its way ends")
    ends = ends_of(beside).of_others(unit).for_sure()
    starting = {step.gang for step in plan.operations}
    placed = {step.pod for step in plan.operations}
    others = [
        one
        for one in beside.units
        if one.key != unit.key and one.states[0].key not in starting
    ]
    moments = [int(x) for x in np.unique(ends.times) if x >= seats.start]
    low, high, found = 0, len(moments) - 1, None
    while low <= high:
        at = (low + high) // 2 if found is not None else high
        stage = ends.until(moments[at]).out_of(beside)
        if _all_fit(stage, others, unit) and has_room_beside(stage, unit, placed):
            found, high = moments[at], at - 1
        elif found is None:
            break
        else:
            low = at + 1
    if found is None:
        more = f"what else waits may start before it (gangs: {len(others):,})"
        return WhenStarts(sentence=f"unknown: {more}")
    said = f"at the latest in {format_duration(found)}, {_UNLESS}"
    return WhenStarts(latest=found, sentence=said)


def _all_fit(stage: Problem, others: Sequence[Unit], last: Unit) -> bool:
    """
    Tell whether a unit finds places beside all others with all their pods, by hand.
    """
    work = RoundState(stage)
    for unit in others:
        for state in unit.states:
            if unit.starts and not place_gang(work, state):
                return False
            place_surplus(work, state)
    return all(place_gang(work, state) for state in last.states)
