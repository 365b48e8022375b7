"""
Freezing: what a step decided becomes a fact for all that follows.

Who has room now is bound; who waits for somebody to leave is reserved with its places.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from models.gangs import is_complete, leaf_of
from models.resources import Resources
from models.why.reasons import Facts, Reason, Waiting
from solver.evict.beneficiaries import may_be_for
from solver.evict.group_mates import mates_that_stay
from solver.evict.named_devices import Coming, Devices, come_to, named_devices, pods_of
from solver.evict.rights.hand_rights import HandRights
from solver.place.draft import Draft
from solver.place.fits_now import fits_now
from solver.place.gang_order import rank_of
from solver.place.round_state import RoundState
from solver.problem.core_pods import least_core
from solver.problem.gang_state import Standing, standing
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.node_room import Ints, NodeRoom, Places
from solver.problem.pod_shapes import refitted
from solver.problem.problem import Frozen, Problem, Step, Unit
from solver.shares.queue_tree import Booking, QueueTree, Table


def freeze(problem: Problem, draft: Draft, step: Step) -> tuple[Problem, Draft]:
    """
    Turn evictions of a step that ends, and the gangs that wait for them, into facts.

    Gives the round with these too, and the starts that have room now.
    """
    opened = replace(problem, step=step)
    reserved, guaranteed = _guaranteed(opened, draft, waiting_units(opened, draft))
    if not reserved:
        return problem, replace(draft, exits=())
    while True:
        after, rest = _frozen(opened, draft, reserved, guaranteed)
        crowded_out = _without_room(after, rest)
        if crowded_out is None:
            return replace(after, step=problem.step), rest
        reserved = [*reserved, crowded_out]


def _frozen(
    problem: Problem, draft: Draft, reserved: Sequence[Unit], guaranteed: frozenset[str]
) -> tuple[Problem, Draft]:
    keys = {state.key for unit in reserved for state in unit.states}
    places = {key: draft.places[key] for key in sorted(keys)}
    entitled = draft.entitled & keys
    devices = _devices(problem, draft.exits, reserved, places)
    facts = replace(
        problem.frozen.with_exits(draft.exits, problem.step),
        units=(*problem.frozen.units, *reserved),
        places={**problem.frozen.places, **places},
        entitled=problem.frozen.entitled | entitled,
        guaranteed=problem.frozen.guaranteed | guaranteed,
        devices={**problem.frozen.devices, **devices},
    )
    rest = Draft(
        places={k: v for k, v in draft.places.items() if k not in keys},
        entitled=draft.entitled - keys,
    )
    after = with_facts(problem, facts, draft.exits, reserved, places, entitled)
    return after, rest


def _without_room(problem: Problem, draft: Draft) -> Unit | None:
    """
    Name a start that has no room beside what was frozen, since devices are named there.
    """
    if problem.room.parts is None:
        return None
    work = RoundState(problem)
    started = [u for u in sorted(problem.units, key=rank_of) if draft.starts(u)]
    return next((u for u in started if not fits_now(work, u, draft)), None)


def _devices(
    problem: Problem,
    exits: Sequence[Exit],
    reserved: Sequence[Unit],
    places: Mapping[str, Places],
) -> Devices:
    """
    Name the devices of those who are reserved or moved, those that are left first.
    """
    if problem.room.parts is None:
        return {}
    after = NodeRoom(problem.room.after, problem.room.parts)
    leave(after, problem, exits)
    states = [state for unit in reserved for state in unit.states]
    coming = [*pods_of(states, places), *_moved(problem, exits)]
    return named_devices(problem, after.rows, coming, problem.room.idle)


def _moved(problem: Problem, exits: Sequence[Exit]) -> Iterator[Coming]:
    """
    Walk the pods that are moved, with their new nodes.
    """
    for one in exits:
        if one.target != NOWHERE:
            name = f"{problem.gangs[one.gang].namespace}/{one.pod.name}"
            yield name, requests_of(problem, one), one.target


def _guaranteed(
    problem: Problem, draft: Draft, reserved: list[Unit]
) -> tuple[list[Unit], frozenset[str]]:
    """
    Add starts to those reserved until what queues lose of their shares is for them.

    Gives the keys of those that must be guaranteed for it; of such starts those that
    have room now come last.
    """
    if not draft.guaranteed or not draft.exits or problem.step is not Step.ENTITLED:
        return reserved, frozenset()
    rights = HandRights(problem)
    rights.leave(draft.exits)
    counts = {key: places.counts for key, places in draft.places.items()}
    started = [unit for unit in problem.units if draft.starts(unit)]
    rights.start_all(started, replace(draft, guaranteed=frozenset()))
    held = {unit.key for unit in reserved}
    found: set[str] = set()
    for unit in sorted(started, key=lambda x: (x.key not in held, rank_of(x))):
        if rights.hold():
            break
        if unit.key in draft.guaranteed:
            rights.start(unit, counts, entitled=True, sign=-1)
            rights.start(unit, counts, entitled=True, guaranteed=True)
            found.update(state.key for state in unit.states)
            reserved += [unit] * (unit.key not in held)
    return reserved, frozenset(found)


def waiting_units(problem: Problem, draft: Draft) -> list[Unit]:
    """
    List the units that a draft starts and that have no room before somebody leaves.

    The step is that of the problem: after the first one nobody leaves for those who
    are entitled.
    """
    frozen = problem.frozen.with_exits(draft.exits, problem.step)
    work = RoundState(replace(problem, frozen=frozen))
    first, others = by_claims(problem, draft)
    waiting = [unit for unit in (*first, *others) if unit.key in draft.held]
    ready: list[Unit] = []
    for unit in (*first, *others):
        if unit.key not in draft.held:
            (ready if fits_now(work, unit, draft) else waiting).append(unit)
    if work.around is not None or problem.room.parts is not None:
        found = [unit for unit in waiting if fits_now(work, unit, draft)]
        ready += found
        waiting = [unit for unit in waiting if unit not in found]
    served = {unit.key for unit in others}
    asking = [[u for u in units if u.key in served] for units in (waiting, ready)]
    return waiting + _needed_for(_claims(problem, draft), *asking)


def by_claims(problem: Problem, draft: Draft) -> tuple[list[Unit], list[Unit]]:
    """
    Split who starts into those for whom nobody leaves, and those for whom others may.
    """
    claims = _claims(problem, draft)
    split: tuple[list[Unit], list[Unit]] = [], []
    for unit in sorted(filter(draft.starts, problem.units), key=rank_of):
        may = problem.step is Step.ENTITLED or unit.key not in draft.entitled
        split[may and any(_may_ask(unit, claim) for claim in claims)].append(unit)
    return split


def _claims(problem: Problem, draft: Draft) -> set[tuple[str, str, int]]:
    leaf = problem.queues.leaf
    return {
        (one.rule, leaf(problem.gangs[one.gang].queue), one.band) for one in draft.exits
    }


def _needed_for(
    claims: Collection[tuple[str, str, int]],
    waiting: Sequence[Unit],
    ready: Sequence[Unit],
) -> list[Unit]:
    """
    Name a start for each leaving that none of the reserved gangs may ask for.

    It has the right and room now, and takes the place of who leaves; another one, which
    has not, gets the room.
    """
    more: list[Unit] = []
    for claim in sorted(claims):
        if not any(_may_ask(unit, claim) for unit in (*waiting, *more)):
            more += [unit for unit in ready if _may_ask(unit, claim)][-1:]
    return more


def _may_ask(unit: Unit, claim: tuple[str, str, int]) -> bool:
    return any(may_be_for(state, unit.band, *claim) for state in unit.states)


def with_facts(
    problem: Problem,
    facts: Frozen,
    exits: Sequence[Exit],
    reserved: Sequence[Unit],
    places: Mapping[str, Places],
    entitled: frozenset[str],
) -> Problem:
    """
    Book new facts in room, queues and counts.

    What an eviction leaves over is nobody's in this round.
    """
    states = [state for unit in reserved for state in unit.states]
    after = NodeRoom(problem.room.after, problem.room.parts)
    leave(after, problem, exits)
    coming = [*pods_of(states, places), *_moved(problem, exits)]
    come_to(after, problem, coming, facts.devices)
    room = problem.room.with_exits(after)
    gone = {one.gang for one in exits}
    held = {state.key for state in states}
    left = _left_by_mates(problem, exits)
    decided = {*gone, *held, *left}
    return replace(
        problem,
        frozen=facts,
        room=room,
        shapes=refitted(problem.shapes, room.now),
        queues=_booked(problem, exits, states, places, entitled),
        units=tuple(
            unit
            for unit in problem.units
            if not any(s.key in decided for s in unit.states)
        ),
        stuck=tuple(state for state in problem.stuck if state.key not in gone),
        blocked={**problem.blocked, **left},
        satisfied=problem.satisfied - _stopping(problem, exits),
        running_pods=problem.running_pods - len(exits),
        running_gpus=problem.running_gpus - sum(one.gpus for one in exits),
    )


def _left_by_mates(problem: Problem, exits: Sequence[Exit]) -> dict[str, Waiting]:
    """
    Give the gangs that do not start since one of their group is evicted whole.
    """
    stopped = {one.gang for one in exits if one.whole and one.rule != "consolidate"}
    found = {}
    for unit in problem.units if stopped else ():
        mates = mates_that_stay(problem, [unit]) & stopped if unit.starts else ()
        if mates:
            facts: Facts = {"mate": min(mates), "why": "leaves", "cause": "evicted"}
            for state in unit.states:
                found[state.key] = Waiting(Reason.WAITING_FOR_GROUP, facts)
    return found


def leave(room: NodeRoom, problem: Problem, exits: Iterable[Exit]) -> None:
    """
    Give back the room of pods that leave.
    """
    known: dict[int, Ints] = {}
    hosts: list[int] = []
    rows: list[Ints] = []
    for one in exits:
        if one.host == NOWHERE:
            continue
        requests = requests_of(problem, one)
        row = None if one.pod.pieces else known.get(id(requests))
        if row is None:
            row = held_by(problem, one)
            if not one.pod.pieces:
                known[id(requests)] = row
        hosts.append(one.host)
        rows.append(row)
    if hosts:
        room.give_each(np.array(rows), np.array(hosts))


def held_by(problem: Problem, one: Exit) -> Ints:
    """
    Give what a leaving pod holds of its node.
    """
    requests, pod = requests_of(problem, one), one.pod
    devices, tied = (pod.devices, pod.tied) if pod.pieces else ((), ())
    return problem.room.held(requests, devices, one.host, tied)


def requests_of(problem: Problem, one: Exit) -> Resources:
    """
    Give what a leaving pod asks for.
    """
    return leaf_of(problem.gangs[one.gang], one.leaf).requests


def _stopping(problem: Problem, exits: Sequence[Exit]) -> int:
    """
    Count the gangs that were satisfied and leave whole, also to another place.
    """
    whole = {one.gang for one in exits if one.whole}
    gangs = [problem.gangs[key] for key in whole]
    return sum(is_complete(gang) or standing(gang).satisfied for gang in gangs)


def _booked(
    problem: Problem,
    exits: Sequence[Exit],
    states: Sequence[Standing],
    places: Mapping[str, Places],
    entitled: frozenset[str],
    *more: Table,
) -> QueueTree:
    """
    Book in queues what leaves and what is reserved, and who is entitled to it.

    Only what leaves in the first step makes room in the share of an inner queue.
    """
    queues = problem.queues
    if not queues.named:
        return queues
    booking = Booking(queues)
    for one in exits:
        if one.target != NOWHERE:
            continue
        requests = requests_of(problem, one)
        path = queues.path(problem.gangs[one.gang].queue)
        booking.add(path, requests, -1, "drift")
        if problem.step is Step.ENTITLED:
            booking.add(queues.parents & {*path}, requests, -1, "booked")
    for state in states:
        path = queues.path(state.gang.queue)
        tables = more if state.gang.preemptible else (*more, "drift_fixed")
        for i, count in places[state.key].counts.items():
            booking.add(path, state.leaves[i].pod_set.requests, count, "drift", *tables)
        core = least_core(state, places[state.key]) if state.key in entitled else {}
        for i, count in core.items():
            booking.add(path, state.leaves[i].pod_set.requests, count, "booked")
    return booking.tree()


def with_starts(problem: Problem, starts: Draft) -> Problem:
    """
    See room and queues as they are once some starts are bound.
    """
    states = [s for u in problem.units for s in u.states if s.key in starts.places]
    room = NodeRoom(problem.room.now, problem.room.parts)
    come_to(room, problem, pods_of(states, starts.places), {})
    places, entitled = starts.places, starts.entitled
    queues = _booked(problem, (), states, places, entitled, "coming")
    return replace(problem.in_room(room.rows), queues=queues)


def without(problem: Problem, exits: Sequence[Exit]) -> Problem:
    """
    Take leaving pods out of room and queues; what leaf queues may claim stays as it is.

    Who is moved to a node that is known stays in its queue, and has room there.
    """
    if not exits:
        return problem
    room, queues = NodeRoom(problem.room.now, problem.room.parts), problem.queues
    leave(room, problem, exits)
    moved = [*_moved(problem, exits)]
    come_to(room, problem, moved, named_devices(problem, room.rows, moved))
    booking = Booking(queues)
    for one in exits if queues.named else ():
        if one.target != NOWHERE:
            continue
        requests = requests_of(problem, one)
        path = queues.path(problem.gangs[one.gang].queue)
        kept = {*path} if one.rule == "consolidate" else {*path} - queues.parents
        booking.add(path, requests, -1, "running")
        booking.add(kept, requests, 1, "booked")
    around = None if problem.around is None else problem.around.copy()
    if around is not None:
        for one in exits:
            around.leave(problem.gangs[one.gang], one.leaf, one.host)
    after = replace(problem, queues=booking.tree(), around=around)
    return after.in_room(room.rows, room.rows)
