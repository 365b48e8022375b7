"""
Called back: gangs that were lent held nodes leave, so that the head starts there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from models.gangs import Gang, pod_sets
from solver.evict.beneficiaries import worth
from solver.evict.core_only import cut_to_core
from solver.evict.evicted_before import was_evicted
from solver.evict.freeze import freeze, leave, requests_of
from solver.evict.pod_exits import pod_exits
from solver.evict.settled import is_settled
from solver.hold.forecast import stage_of
from solver.hold.lent_out import lent_to
from solver.place.draft import Draft
from solver.place.place_gang import place_unit
from solver.place.queue_ledger import Ledger
from solver.place.round_state import RoundState
from solver.problem.leaving_pods import Exit, loss_of
from solver.problem.node_room import NodeRoom
from solver.problem.problem import Problem, Step, Unit
from solver.score.gpu_sums import may_be_entitled


def called_back(problem: Problem, unit: Unit, nodes: Sequence[int]) -> Problem | None:
    """
    Let those leave who were lent the nodes of a unit, and reserve these for it.

    Of them no more leave than it needs beside those that leave anyway, those with most
    work the last; none where it could not start even so, or where nobody may leave for
    it.  Nobody has left for others in the ``problem`` yet.
    """
    gangs = lent_to(problem, unit)
    if not gangs or not _may_lose_for(problem, unit):
        return None
    taken = np.ones(len(problem.room.nodes), dtype=bool)
    taken[list(nodes)] = False
    soon = problem.in_room(problem.room.after)
    stage = stage_of(soon, cut_to_core(unit), taken)
    draft, exits = _fewest(stage, gangs)
    step = _step_of(problem, stage.units[0], draft, exits) if exits else None
    if step is None or not _is_within_bounds(problem, draft, exits, unit):
        return None
    entitled = {state.key for state in unit.states if step is Step.ENTITLED}
    chosen = replace(
        draft,
        entitled=frozenset(entitled),
        exits=exits,
        held=frozenset({unit.key}),
    )
    after, _ = freeze(problem, chosen, step)
    return after


def _fewest(stage: Problem, gangs: tuple[Gang, ...]) -> tuple[Draft, tuple[Exit, ...]]:
    """
    Find places for the unit of a stage, and who is in their way; nobody without any.

    Whoever has most work is the first to stay.
    """
    draft = _placed(stage, gangs)
    if draft is None:
        return Draft(), ()
    for gang in sorted(gangs, key=lambda one: (-_work(stage, one), one.key)):
        fewer = tuple(other for other in gangs if other.key != gang.key)
        found = _placed(stage, fewer)
        if found is not None:
            gangs, draft = fewer, found
    return draft, _in_the_way(stage, gangs, draft)


def _may_lose_for(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether others may be called back for a unit at all.
    """
    if was_evicted(problem, unit) or is_settled(problem.snapshot, problem.policy):
        return False
    leaves = (leaf.pod_set for state in unit.states for leaf in state.leaves)
    return not any(leaf.neighbours for leaf in leaves)


def _step_of(
    problem: Problem, unit: Unit, draft: Draft, exits: Sequence[Exit]
) -> Step | None:
    """
    Name the step in which others may leave for a unit, if there is one.

    It is the first one where the fair shares hold all of it once they have left, and
    nobody has left for others before, whose room it may not count on.
    """
    policy = problem.policy
    others = problem.frozen.losses[Step.BORROWING].pods
    may = policy.lends(borrowing=False) and may_be_entitled(problem, unit)
    if may and not others:
        ledger = Ledger(problem)
        ledger.count_later(problem)
        for one in exits:
            queue = problem.gangs[one.gang].queue
            ledger.give_share(queue, requests_of(problem, one))
        counts = {state.key: draft.places[state.key].counts for state in unit.states}
        if ledger.entitle_all(
            [(s, ledger.charge_of(s, counts[s.key])) for s in unit.states]
        ):
            return Step.ENTITLED
    return Step.BORROWING if policy.lends(borrowing=True) else None


def _placed(stage: Problem, gangs: Iterable[Gang]) -> Draft | None:
    """
    Place the unit of a stage by hand where some gangs have left.

    What their queues hold counts as before.
    """
    (unit,) = stage.units
    room = NodeRoom(stage.room.now, stage.room.parts)
    leave(room, stage, (one for gang in gangs for one in exits_of(stage, gang)))
    work = RoundState(stage.in_room(room.rows))
    return work.draft() if place_unit(work, unit) else None


def exits_of(problem: Problem, gang: Gang) -> Iterator[Exit]:
    """
    Let all of a gang leave.
    """
    index = problem.room.index
    there = (
        ((at, pod), index[pod.node])
        for at, leaf in enumerate(pod_sets(gang.tree))
        for pod in leaf.pods
        if pod.node in index
    )
    return pod_exits(problem, gang, there, "lend", whole=True)


def _work(problem: Problem, gang: Gang) -> int:
    return loss_of(exits_of(problem, gang)).work


def _in_the_way(
    stage: Problem, gangs: Sequence[Gang], draft: Draft
) -> tuple[Exit, ...]:
    """
    Keep of some gangs those without whose room the places of a draft are too few.
    """
    (unit,) = stage.units
    room = NodeRoom(stage.room.now, stage.room.parts)
    leave(room, stage, (one for gang in gangs for one in exits_of(stage, gang)))
    for state in unit.states:
        for i, leaf in enumerate(state.leaves):
            row = stage.room.row(dict(leaf.pod_set.requests))
            for host in draft.places[state.key][i]:
                room.take_one(row, host)
    found: list[Exit] = []
    for gang in gangs:
        mine = tuple(exits_of(stage, gang))
        trial = NodeRoom(room.rows, stage.room.parts)
        for one in mine:
            row = stage.room.row(dict(requests_of(stage, one)))
            trial.take_one(row, one.host)
        if (trial.rows < 0).any():
            found += mine
        else:
            room = trial
    return tuple(found)


def _is_within_bounds(
    problem: Problem, draft: Draft, exits: Sequence[Exit], unit: Unit
) -> bool:
    """
    Tell whether the policy lets as much leave for a unit.
    """
    evict, lost = problem.policy.evict, loss_of(exits)
    counts = {key: places.counts for key, places in draft.places.items()}
    bounds = (
        (evict.max_pods, lost.pods),
        (evict.max_gangs, lost.gangs),
        (worth(problem, unit, counts), lost.work),
    )
    return all(most is None or number <= most for most, number in bounds)
