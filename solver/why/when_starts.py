"""
When a gang that waits starts at the latest, as far as run limits tell.

Limits say "at the latest"; a record of how gangs like it started says "about".  Nothing
is guessed: without either nobody can say.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import inf

from models.changes.passed_time import (
    PassedTime,
    overdue,
    some_time_later,
    time_left,
)
from models.gangs import pod_sets
from models.memory.start_record import ENOUGH, lines_of
from models.plan import Plan
from models.policy import Policy
from models.resources import format_duration
from models.snapshot import Snapshot
from models.why.reasons import Reason, listed
from models.why.remedies import WhenStarts
from models.why.without_rules import no_start_awaited
from solver.evict.reservations import keep, promises_of
from solver.explain.ending_pods import ending_pods
from solver.explain.reasons import kind_asked
from solver.hold.ends import ends_of
from solver.hold.heads import heads_of
from solver.hold.held_nodes import surely_held
from solver.next_round import protection
from solver.next_snapshot import carry_out, not_chosen
from solver.place.place_gang import place_gang, place_surplus, place_unit
from solver.place.round_state import RoundState
from solver.problem.leaving_pods import Exit
from solver.problem.node_room import NodeRoom
from solver.problem.problem import Problem, Unit, problem_of
from solver.why.given_to_others import given_by
from solver.why.room_beside_others import has_room_beside
from solver.why.start_under import open_steps
from solver.why.why_waits import unit_of

_UNFORESEEN = "unknown: nobody foresees who is around it then"
_ALONE = "time alone does not start it"
_UNLESS = "if nobody more important comes"


def when_starts(
    snapshot: Snapshot, policy: Policy, plan: Plan, gang: str
) -> WhenStarts:
    """
    Say when a gang starts at the latest, or why nobody knows.

    Either nodes are held for it until those there end for sure, or all that waits has
    room together once enough has ended that names its longest run time.

    The ``plan`` is of the round for what is and what is wanted.
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
        self._later = lru_cache(8)(self._round_in)

    def when(self, gang: str) -> WhenStarts:
        """
        Say when one gang starts at the latest, or why nobody knows.
        """
        line, problem = self._lines[gang], self._problem
        if line.state != "Waiting":
            return no_start_awaited(line)
        why = self._ready.blocked.get(gang)
        if why is not None and why.reason is Reason.NEIGHBOURS_IN_THE_WAY:
            return WhenStarts(sentence=_UNFORESEEN)
        if why is not None or problem.states[gang].satisfied:
            return WhenStarts(sentence=f"unknown: {_ALONE}")
        unit = unit_of(self._ready, gang)
        return self._with_record(_unless_it_ends(unit, self._by_limits(unit)), unit)

    def _by_limits(self, unit: Unit) -> WhenStarts:
        """
        Say when a unit starts at the latest, as far as run limits tell.
        """
        ready, states = self._ready, self._problem.states
        said = [leaf.pod_set.neighbours for x in unit.states for leaf in x.leaves]
        if any(each.near or each.spread for each in said):
            return WhenStarts(sentence=_UNFORESEEN)
        start = self._heads.get(unit.key)
        if start is not None:
            held = f"at the latest in {format_duration(start)}: nodes are held"
            return WhenStarts(latest=start, sentence=f"{held} for it")
        if any(step.op == "Evict" for step in self._plan.operations):
            return WhenStarts(sentence="unknown: who is evicted now waits beside it")
        again = max(states[one.key].gang.backoff for one in unit.states)
        kind = kind_asked(ready, unit), again
        if kind not in self._known:
            beside = given_by(self._plan, ready, unit).beside(ready)
            beside = replace(beside, snapshot=self._then)
            found = _by_ends(beside, unit, self._plan, again)
            self._known[kind] = self._by_rights(unit, found, again)
        return self._known[kind]

    def _by_rights(self, unit: Unit, said: WhenStarts, again: int) -> WhenStarts:
        """
        Say when those in its way may be evicted, where that is before what is said.
        """
        policy, last = self._problem.policy, said.latest or inf
        calm = not policy.makes_leave(borrowing=False) or policy.shares.half_life
        if calm or {step.op for step in self._plan.operations} - {"Bind"}:
            return said
        moments = [x for x in self._clocks if max(0, again - 1) < x < last]
        at = _first(moments, lambda moment: _leave_for(unit, self._later(moment)))
        if at is None:
            return said
        once = f"in {format_duration(moments[at])}, once others may be evicted for it"
        sentence = f"at the latest {once}, {_UNLESS}"
        return WhenStarts(latest=moments[at], sentence=sentence)

    @cached_property
    def _clocks(self) -> list[int]:
        """
        Give the moments at which some minimum runtime ends, the first first.
        """
        policy, queues = self._problem.policy, self._problem.queues.queues
        gangs = self._then.gangs
        return sorted({x for one in gangs for x in protection(one, queues, policy)})

    def _round_in(self, seconds: int) -> Problem:
        """
        See the round of a later moment, in which no gang backs off.
        """
        gangs = tuple(replace(gang, backoff=0) for gang in self._then.gangs)
        ready, passed = replace(self._then, gangs=gangs), PassedTime(seconds=seconds)
        return problem_of(some_time_later(ready, passed), self._problem.policy)

    @cached_property
    def _then(self) -> Snapshot:
        """
        See who starts or grows as running, so that it ends by its limit, too.
        """
        bound = {step.gang for step in self._plan.operations if step.op == "Bind"}
        now = self._problem.snapshot
        then = carry_out(now, self._plan, 0).gangs
        pairs = zip(now.gangs, then, strict=True)
        gangs = tuple(two if two.key in bound else one for one, two in pairs)
        return replace(now, gangs=gangs)

    @cached_property
    def _ready(self) -> Problem:
        """
        See the round as if no gang backed off: all who do wait as well, a while later.
        """
        snapshot = self._problem.snapshot
        if not any(gang.backoff for gang in snapshot.gangs):
            return self._problem
        gangs = tuple(replace(gang, backoff=0) for gang in snapshot.gangs)
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
        waits = not_chosen(self._lines.values())
        return lines_of(x for x in self._problem.snapshot.gangs if x.key in waits)

    @cached_property
    def _heads(self) -> dict[str, int]:
        """
        Give the heads for which nodes are held, with when they start at the latest.

        Nobody knows where what should have ended is on them, or in a queue's limit, nor
        where others may use them: in this plan, where one waits that has room now.  Nor
        does anybody of a limit, or of room kept by others, that is left to several.
        """
        problem = self._problem
        index, queues = problem.room.index, problem.queues
        late = overdue(problem.snapshot.gangs)
        leaves = (leaf for gang in late for leaf in pod_sets(gang.tree))
        on = {index.get(pod.node or "", -1) for leaf in leaves for pod in leaf.pods}
        within = {name for gang in late for name in queues.path(gang.queue)}
        rules = {x: queues.queues[x].resources.values() for x in within}
        within = {x for x in within if any(r.limit is not None for r in rules[x])}
        within |= _contested(problem)
        kept = keep(problem, promises_of(problem))
        return {
            x.key: x.start
            for x in surely_held(kept, heads_of(kept))
            if x.start and on.isdisjoint(x.nodes)
            if within.isdisjoint(queues.path(problem.gangs[x.key].queue))
        }


def _contested(problem: Problem) -> set[str]:
    """
    Name the queues whose limits leave less than all that waits below them asks for.
    """
    queues, asked = problem.queues, Counter[tuple[str, str]]()
    for state in (state for unit in problem.units for state in unit.states):
        for leaf in state.leaves:
            for name in queues.path(state.gang.queue):
                for resource, amount in leaf.pod_set.requests.items():
                    asked[name, resource] += amount * len(leaf.pending)
    return {
        name
        for (name, resource), wanted in asked.items()
        if (limit := queues.queues[name].rule(resource).limit) is not None
        and wanted > limit - queues.running.get(name, {}).get(resource, 0)
    }


def _unless_it_ends(unit: Unit, said: WhenStarts) -> WhenStarts:
    """
    Say no start of what runs in part and ends by its own limit before.
    """
    found = (time_left(state.gang) for state in unit.states)
    first = min((left for left in found if left is not None), default=None)
    if said.latest is None or first is None or first > said.latest:
        return said
    end = format_duration(max(0, first))
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


def _by_ends(beside: Problem, unit: Unit, plan: Plan, again: int) -> WhenStarts:
    """
    Find the first end for sure after which all that waits has room together.

    A unit whose bind was refused is tried ``again`` in so many seconds, not before.
    """
    late = overdue(beside.snapshot.gangs)
    ends = ends_of(beside).of_others(unit).without(late).for_sure()
    times = {int(x) for x in ends.times} | ({again} if again else set())
    moments = sorted({max(again, moment) for moment in times})
    starting = {step.gang for step in plan.operations}
    placed = {step.pod for step in plan.operations}
    others = [
        one
        for one in beside.units
        if one.key != unit.key and one.states[0].key not in starting
    ]

    def fits_alone(moment: int) -> bool:
        return _all_fit(ends.until(moment).out_of(beside), (), unit)

    def fits(moment: int) -> bool:
        stage = ends.until(moment).out_of(beside)
        return _all_fit(stage, others, unit) and has_room_beside(stage, unit, placed)

    at = _first(moments, fits_alone)
    if at is None:
        return WhenStarts(sentence=f"unknown: {_in_the_way(beside, unit)}")
    at = _first(moments, fits, at)
    if at is None:
        more = f"what else waits may start before it (gangs: {len(others):,})"
        return WhenStarts(sentence=f"unknown: {more}")
    said = f"at the latest in {format_duration(moments[at])}, {_UNLESS}"
    return WhenStarts(latest=moments[at], sentence=said)


def _leave_for(unit: Unit, problem: Problem) -> bool:
    """
    Tell whether others leave for a unit in a later round, whatever else has ended then.

    So they do if nobody else waits, who could take room, and if they may leave as well
    where nothing else runs that queues are charged for, though it holds its room.
    """
    exits, then, room = _exits_for(problem, unit), problem.snapshot, problem.room
    who = {one.gang for one in exits} | {state.key for state in unit.states}
    if not exits or any(who & {*budget.gangs} for budget in then.budgets):
        return False
    left = replace(then, gangs=tuple(gang for gang in then.gangs if gang.key in who))
    alone = problem_of(left, problem.policy).in_room(room.now, room.later)
    return bool(_exits_for(alone, unit))


def _exits_for(problem: Problem, unit: Unit) -> tuple[Exit, ...]:
    """
    Find who would leave by hand for the only unit that waits; nobody beside parts.
    """
    if [one.key for one in problem.units] != [unit.key] or problem.room.parts:
        return ()
    opened = (one.by_hand() for one in open_steps(problem))
    drafts = (one.first for one in opened if one.holds(one.first))
    return next((x.exits for x in drafts if x.starts(problem.units[0])), ())


def _in_the_way(beside: Problem, unit: Unit) -> str:
    """
    Say what nobody knows of those in the way, and whose pods terminate if that is all.
    """
    used = any(node.used for node in beside.room.nodes)
    some = used or ends_of(beside).of_others(unit).times.size
    if not some and not _all_fit(beside, (), unit):
        return _ALONE
    room, pods = NodeRoom(beside.room.now), [*ending_pods(beside)]
    for _, node, requests in pods:
        room.give_one(beside.room.row(dict(requests)), node)
    whole = bool(pods) and beside.room.parts is None
    if whole and _all_fit(beside.in_room(room.rows), (), unit):
        who = listed(sorted({gang for gang, *_ in pods}), "gang")
        return f"nobody says when pods of {who}, which terminate, have ended"
    return "nobody says when what is in its way ends"


def _first(
    moments: Sequence[int], fits: Callable[[int], bool], low: int = 0
) -> int | None:
    """
    Find the first moment from which on something fits; often it never does.
    """
    if not moments or not fits(moments[-1]):
        return None
    return bisect_left(moments, x=True, lo=low, hi=len(moments) - 1, key=fits)


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
    return place_unit(work, last)
