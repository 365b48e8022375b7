"""
When a gang that waits starts at the latest, as far as run limits tell.

Nothing is guessed: without a limit on what is in its way nobody can say.
"""

from collections.abc import Sequence

import numpy as np

from models.plan import Plan
from models.policy import Policy
from models.remedies import WhenStarts
from models.resources import format_duration
from models.snapshot import Snapshot
from solver.evict.reservations import keep, promises_of
from solver.hold.ends import ends_of
from solver.hold.forecast import Forecast
from solver.hold.heads import heads_of
from solver.place.place_gang import place_gang, place_surplus
from solver.place.round_state import RoundState
from solver.problem.problem import Problem, Unit, problem_of
from solver.why.given_to_others import given_by
from solver.why.why_waits import unit_of

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
    line = next(line for line in plan.gangs if line.name == gang)
    if line.state == "Starting":
        return WhenStarts(latest=0, sentence="starts in this round")
    if line.state != "Waiting":
        return WhenStarts(sentence="does not wait for a start")
    problem = problem_of(snapshot, policy)
    if gang in problem.blocked or problem.states[gang].satisfied:
        return WhenStarts(sentence="unknown: time alone does not start it")
    unit = unit_of(problem, gang)
    kept = keep(problem, promises_of(problem))
    for head in heads_of(kept):
        if head.key == unit.key and head.nodes and head.start is not None:
            said = f"at the latest in {format_duration(head.start)}: nodes are held"
            return WhenStarts(latest=head.start, sentence=f"{said} for it")
    if any(step.op == "Evict" for step in plan.operations):
        return WhenStarts(sentence="unknown: who is evicted now waits beside it")
    return _by_ends(given_by(plan, problem, unit).beside(problem), unit, plan)


def _by_ends(beside: Problem, unit: Unit, plan: Plan) -> WhenStarts:
    """
    Find the first end for sure after which all that waits has room together.
    """
    nothing = np.zeros(len(beside.room.nodes), dtype=bool)
    seats = Forecast(beside).seats_later(unit, nothing)
    if seats is None or seats.start is None:
        return WhenStarts(sentence="unknown: nobody says when what is in its way ends")
    ends = ends_of(beside).for_sure()
    starting = {step.gang for step in plan.operations}
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
        if _all_fit(stage, others, unit):
            found, high = moments[at], at - 1
        elif found is None:
            break
        else:
            low = at + 1
    if found is None:
        more = f"{len(others)} others that wait may start before it"
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
