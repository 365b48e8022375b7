"""
Steps: the part of a round in which starts may make others leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.effort.budget import Budget
from solver.evict.beneficiaries import departures_of, worth
from solver.evict.core_only import cut_to_core
from solver.evict.entitled_first import entitled_first, has_room_later, has_room_now
from solver.evict.evicted_before import some_may_follow, was_evicted
from solver.evict.freeze import freeze
from solver.evict.gathering import victims_of
from solver.evict.greedy.evict import evict_by_hand
from solver.evict.idle_starts import without_exits, without_lower, without_profit
from solver.evict.moved_gangs import Mover, movers_of
from solver.evict.rights.hand_rights import HandRights
from solver.evict.rights.last_rights import may_all_leave
from solver.evict.settled import is_settled
from solver.evict.victims import Victims
from solver.place.complete import complete
from solver.place.draft import Draft
from solver.place.greedy import in_queue_order, start_entitled
from solver.place.round_state import RoundState, around_now
from solver.place.stranded import strands_reserved
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import loss_of
from solver.problem.pod_shapes import shapes_of, where_neighbours_let
from solver.problem.problem import Problem, Step, Unit
from solver.score.gpu_sums import may_be_entitled, with_room_beside
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score, tier_keys
from solver.shares.queue_tree import Booking


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """
    A step to be solved: its problem in the room there will be, who may leave or move.

    ``idle`` is what starts without anybody leaving, ``first`` the best draft by hand;
    ``left_out`` says that some gangs may start for which nobody may leave.
    """

    problem: Problem
    now: Problem
    victims: Victims
    movers: Sequence[Mover]
    keys: tuple[TierKey, ...]
    idle: Draft
    first: Draft
    left_out: bool

    @property
    def moved(self) -> list[Standing]:
        """
        The gangs that may move, as they stand.
        """
        return [mover.state for mover in self.movers]

    def by_hand(self, budget: Budget | None = None) -> "Opened":
        """
        Let others leave as greedy would, where that is better than nothing.

        Where somebody still waits of a higher band than one for whom there is room now,
        it is tried before those get theirs, too.
        """
        if budget is not None:
            budget.until = None
        best = self._by_hand(self.idle, (self.idle, self.idle), budget)
        others = without_lower(self.problem, best[0], self.idle)
        if others is not None:
            best = self._by_hand(others, best, budget)
        return replace(self, first=best[0])

    def again_by_hand(self, draft: Draft, budget: Budget | None = None) -> Draft:
        """
        Let others leave as greedy would for just those who start in a draft.

        Those stay where they are who have room though nobody leaves.  It may be that
        not all start then: the draft may know a way that greedy does not find.
        """
        units = tuple(filter(draft.starts, self.problem.units))
        problem = replace(self.problem, units=units)
        base = without_exits(problem, draft)
        only = replace(self, problem=problem)
        return only._by_hand(base, (base, base), budget)[0]  # noqa: SLF001 - its own

    def _by_hand(
        self, base: Draft, best: tuple[Draft, Draft], budget: Budget | None
    ) -> tuple[Draft, Draft]:
        """
        Give the better of two drafts, each with the same and what follows in idle room.
        """
        open_now = with_room_beside(self.problem, base)
        if open_now is None:
            return best
        bounded = self.problem.policy.evict.max_lost_per_gpu is not None
        for pooled in (True, False) if bounded else (True,):
            found = evict_by_hand(
                open_now, base, self.victims, self.movers, budget, pooled=pooled
            )
            found = entitled_first(self.now, self.problem, found)
            first = without_profit(self.problem, found)
            if self.holds(first):
                break
        else:
            return best
        values = (score(self.problem, x, self.keys) for x in (found, best[1]))
        return (first, found) if is_better(self.keys, *values) else best

    def settled(self, draft: Draft) -> Draft:
        """
        Give who is entitled room now, where that is a matter of who gets which place.

        Who may not start beside those who leave waits for a later step.
        """
        draft = without_profit(self.problem, draft)
        return entitled_first(self.now, self.problem, draft)

    def holds(self, draft: Draft, *, whole: bool = True) -> bool:
        """
        Tell whether all who leave may, and lose no more than the policy allows.

        In the second step who is entitled must have room now, and give the right to
        those who left in the first one.  A draft is ``whole`` where it was made for
        this step, with all starts that others leave for; else it may lack room, and
        what found no place gives no right.
        """
        has_room = whole or has_room_later(self.problem, draft)
        has_room = has_room and has_room_now(self.now, draft)
        strands = bool(draft.exits) and strands_reserved(self.now, draft)
        if not has_room or strands or not may_all_leave(self.now, draft):
            return False
        most = self.problem.policy.evict.max_lost_per_gpu
        if not draft.exits or (whole and most is None):
            return True
        try:
            after, _ = freeze(self.now, draft, self.now.step)
        except LookupError:  # No device is left for who is moved.
            return False
        names = {f"{after.gangs[x.gang].namespace}/{x.pod.name}" for x in draft.exits}
        found = departures_of(after).items()
        departures = [one for name, one in found if name in names]
        if not whole and not (
            all(one.beneficiaries for one in departures) and self._may_leave(draft)
        ):
            return False
        if most is None:
            return True
        named = {name for one in departures for name in one.beneficiaries}
        counts = {key: places.counts for key, places in draft.places.items()}
        gained = sum(
            worth(self.problem, unit, counts)
            for unit in self.now.units
            if named & {state.key for state in unit.states}
        )
        return loss_of(draft.exits).work <= gained

    def _may_leave(self, draft: Draft) -> bool:
        """
        Tell whether the starts of a draft give all its exits the right, within quotas.
        """
        rights = HandRights(self.problem)
        rights.start_all(filter(draft.starts, self.problem.units), draft)
        rights.leave(draft.exits)
        return rights.hold() and rights.keep_quotas()


def open_step(
    problem: Problem, step: Step, ready: Draft, budget: Budget | None = None
) -> Opened | None:
    """
    Look whether evictions could start anything in a step; none if they could not.

    The problem is the round with what earlier steps froze; ``ready`` are starts of
    these that have room now.
    """
    if not problem.policy.evicts(borrowing=step is Step.BORROWING):
        return None
    if step is Step.BORROWING and budget is not None and budget.is_over:
        budget.cut.add("starts")
        return None
    if step is Step.ENTITLED:
        problem = remembering(problem)
    units = _candidates(problem, step)
    if not units:
        return None
    now = replace(problem, units=units, step=step)
    if not (somebody_leaves(problem) or _somebody_may(problem)):
        return None
    keys = _keys(problem, step)
    idle = _without_evictions(now, ready, keys, budget)
    if not problem.asked and all(idle.starts(unit) for unit in units):
        return None
    return _opened(problem, now, idle)


def may_open(problem: Problem, step: Step) -> Opened | None:
    """
    Look whether a step could make anybody leave, whatever the step before it decides.

    The problem is the round before that one.
    """
    if not problem.policy.evicts(borrowing=step is Step.BORROWING):
        return None
    units = _candidates(problem, step)
    now = replace(problem, units=units, step=step)
    return _opened(problem, now, Draft()) if units else None


def _opened(problem: Problem, now: Problem, idle: Draft) -> Opened | None:
    """
    Gather who may leave in a step; none where nobody may, and nobody does.
    """
    victims = victims_of(now) if _somebody_may(problem) else Victims()
    if not victims.accounts and not somebody_leaves(problem):
        return None
    movers = movers_of(victims)
    return Opened(
        problem=_later(now, movers, victims),
        now=now,
        victims=victims,
        movers=movers,
        keys=_keys(problem, now.step),
        idle=idle,
        first=idle,
        left_out=some_may_follow(problem),
    )


def somebody_leaves(problem: Problem) -> bool:
    """
    Tell whether there will be more room, whoever is let go.
    """
    return bool((problem.room.later > problem.room.now).any())


def some_may_wait(problem: Problem) -> bool:
    """
    Tell whether who has no room now may get it though nobody else has to leave.
    """
    around = problem.around
    is_ending = around is not None and bool(around.ending)
    return bool(problem.frozen.exits) or is_ending or somebody_leaves(problem)


def _somebody_may(problem: Problem) -> bool:
    """
    Tell whether something runs in a round that may make others leave.
    """
    settled = is_settled(problem.snapshot, problem.policy)
    return problem.running_pods > 0 and not settled


def _keys(problem: Problem, step: Step) -> tuple[TierKey, ...]:
    """
    List the tiers of a step: all up to what it loses.
    """
    keys = tier_keys(problem)
    last = max(
        at
        for at, key in enumerate(keys)
        if key.name in LOSSES and LOSSES[key.name][0] == step
    )
    return keys[: last + 1]


def remembering(problem: Problem) -> Problem:
    """
    Count waiting gangs that were evicted against what their queues may claim.

    Those that do not start in this round, since the next one would evict them, too.
    """
    evicted = problem.remembered.keys() - problem.frozen.places.keys()
    if not evicted:
        return problem
    queues = problem.queues
    booking = Booking(queues)
    for key in sorted(evicted):
        path = queues.path(problem.gangs[key].queue)
        booking.add(path, problem.remembered[key], 1, "booked")
    return replace(problem, queues=booking.tree())


def _candidates(problem: Problem, step: Step) -> tuple[Unit, ...]:
    """
    List the units for which somebody may leave, cut to the pods they need.
    """
    return tuple(
        cut_to_core(unit)
        for unit in problem.units
        if unit.starts
        and not was_evicted(problem, unit)
        and (step is not Step.ENTITLED or may_be_entitled(problem, unit))
    )


def _without_evictions(
    problem: Problem, ready: Draft, keys: Sequence[TierKey], budget: Budget | None
) -> Draft:
    """
    Start what has room now, by hand or going on from what others are reserved beside.
    """
    fresh = _by_queue(problem, budget)
    if not ready.places:
        return fresh
    going_on = complete(problem, ready, budget)
    values = score(problem, going_on, keys), score(problem, fresh, keys)
    kept = strands_reserved(problem, fresh) or is_better(tuple(keys), *values)
    return going_on if kept else fresh


def _by_queue(problem: Problem, budget: Budget | None) -> Draft:
    work = RoundState(problem, budget)
    units = list(problem.units)
    if problem.step is Step.ENTITLED:
        start_entitled(work, units)
    else:
        in_queue_order(work, units)
    return work.draft()


def _later(problem: Problem, movers: Sequence[Mover], victims: Victims) -> Problem:
    """
    See the round in the room there will be, with the shapes of what may be moved.
    """
    shapes = problem.shapes
    if movers:
        states = [mover.state for mover in movers]
        more = shapes_of(problem.room, states)
        number = len(shapes.items)
        of_leaf = dict(shapes.of_leaf)
        index = {item: at for at, item in enumerate(shapes.items)}
        order = [index.get(item, -1) for item in more.items]
        fresh = [at for at, known in enumerate(order) if known < 0]
        for rank, at in enumerate(fresh):
            order[at] = number + rank
        of_leaf |= {key: order[at] for key, at in more.of_leaf.items()}
        shapes = replace(
            shapes,
            items=(*shapes.items, *(more.items[at] for at in fresh)),
            of_leaf=of_leaf,
            requests=np.concatenate([shapes.requests, more.requests[fresh]]),
            allowed=np.concatenate([shapes.allowed, more.allowed[fresh]]),
            fits=np.concatenate([shapes.fits, more.fits[fresh]]),
            let=(
                None
                if shapes.let is None
                else np.concatenate([shapes.let, np.ones_like(more.allowed[fresh])])
            ),
        )
    problem = _beside_who_stays(replace(problem, shapes=shapes), victims)
    return problem.in_room(problem.room.later)


def _beside_who_stays(problem: Problem, victims: Victims) -> Problem:
    """
    See others around as when all are gone who leave; who may, keeps nobody away.
    """
    if problem.around is None:
        return problem
    later = replace(problem, around=problem.around.afterwards())
    found = around_now(later) or problem.around
    for host, here in victims.on_node.items():
        for victim in (victim for alike in here.values() for victim in alike):
            for leaf, _ in victim.pods:
                found.leave(victim.gang, leaf, host)
    return replace(later, shapes=where_neighbours_let(problem.shapes, found))
