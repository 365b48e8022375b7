"""
Evictions by hand: gang by gang, each time those leave whose work is worth least.

What a good scheduler of this field does today, done honestly: the baseline of every
report where somebody must leave, and the first answer of every step with evictions.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from solver.effort.budget import Budget
from solver.evict.greedy.batches import batch_kind, batch_of
from solver.evict.greedy.hand_step import HandStep
from solver.evict.greedy.make_room import RoomMaking
from solver.evict.greedy.what_goes import Going
from solver.evict.group_mates import mates_that_stay, promised_mates
from solver.evict.moved_gangs import Mover
from solver.evict.rights.guarantees import may_be_guaranteed
from solver.evict.rights.policy_bounds import MOVED
from solver.evict.victims import Victims
from solver.place.draft import Draft
from solver.place.gang_order import rank_of
from solver.place.place_gang import placed_counts
from solver.place.refused_kinds import Refusals
from solver.problem.problem import Problem, Unit


def evict_by_hand(
    problem: Problem,
    draft: Draft,
    victims: Victims,
    movers: Sequence[Mover] | None = None,
    budget: Budget | None = None,
    *,
    pooled: bool = True,
) -> Draft:
    """
    Add starts to a draft for which others leave, until the limit.

    The problem is the round cut to one step, in the room there will be.  Starts of the
    draft are kept as they are, but for those beside whom a mate must stay: these are
    started again when it is their turn.  ``movers`` is what may be moved, where that
    was listed already.  Where it is ``pooled``, what one start leaves of what may be
    lost for it may be lost for the next one.
    """
    wide = {one.gang.key for one in victims.wide}
    again = {
        state.key
        for unit in problem.units
        if draft.starts(unit) and mates_that_stay(problem, [unit]) & wide
        for state in unit.states
    }
    places = {key: rows for key, rows in draft.places.items() if key not in again}
    kept = replace(draft, places=places, entitled=draft.entitled - again)
    step = HandStep(_for_all_nodes(problem), kept, victims, movers, budget)
    return _ByHand(step, kept, RoomMaking(step, pooled=pooled)).run()


class _ByHand:
    """
    The starts and exits of one step while they are made.
    """

    def __init__(self, step: HandStep, draft: Draft, room: RoomMaking) -> None:
        self.problem = problem = step.problem
        self.before = draft.exits
        self.step = step
        self.room = room
        self.failed = Refusals(self.problem)
        self.batches: dict[str, tuple[str, ...]] = {}
        self.misses = 0
        for at in step.wide(promised_mates(problem)):
            step.leavers.offer(at, offered=False)
        for unit in problem.units:
            if draft.starts(unit):
                counts = placed_counts(step.work, unit)
                named = all(s.key in draft.entitled for s in unit.states)
                step.rights.start(unit, counts, entitled=named)
                step.protect(unit)

    def run(self) -> Draft:
        """
        Offer every unit that does not start what others hold, highest band first.
        """
        units = sorted(self.problem.units, key=rank_of)
        for kind, batch in groupby(units, partial(batch_kind, self.problem)):
            self._start_all(list(batch), kind)
        for unit in filter(self._is_open, filter(self._is_passed_by, units)):
            self._start(unit, evict=False)  # Nobody is moved to where it follows.
        self.room.spare(0)  # Others left later whose room is enough for some.
        self._move_instead()
        draft = self.step.work.draft()
        sure = {
            key
            for batch in self.step.rights.guarantees.names
            for key in self.batches.get(batch, (batch,))
        }
        exits = (*self.before, *self.step.leavers.exits())
        return replace(draft, exits=exits, guaranteed=frozenset(sure))

    def _start_all(self, units: Sequence[Unit], kind: object) -> None:
        """
        Start units that follow each other; of equal ones as many as possible at once.

        Which numbers are tried does not depend on how many wait behind those that fit.
        """
        if kind is None or len(units) < 2:
            for unit in filter(self._is_open, units):
                self._start_one(unit)
            return
        units = [unit for unit in units if self._is_open(unit)]
        number = len(units)
        while number and units:
            if number == 1:
                done = self._start_one(units[0])
            else:
                done = self._start_batch(units[:number])
            if done:
                units = units[number:]
                number = min(number, len(units))
            else:
                number = 1 << (number - 1).bit_length() - 1 if number > 1 else 0

    def _start_one(self, unit: Unit) -> bool:
        """
        Start a unit, making room for it if need be.
        """
        if self._is_passed_by(unit):
            return False
        if self._start(unit, evict=False):
            return True
        if (
            self.failed.covers(unit)
            or self.misses >= self.problem.tuning.evict.most_misses
        ):
            return False
        self.step.rights.guarantees.was_short = False
        if self._start(unit, evict=True) or self._take_up(unit):
            return True
        self.failed.note(unit)
        self.misses += 1
        return False

    def _take_up(self, unit: Unit) -> bool:
        """
        Start a unit whose quota has room once others have left the queues above it.
        """
        if not self.step.rights.guarantees.was_short:
            return False
        problem = self.problem
        inner = any(
            problem.queues.queues[state.gang.queue].parent
            for state in unit.states
            if state.gang.queue in problem.queues.queues
        )
        if not (self.step.entitled and inner and may_be_guaranteed(problem, unit)):
            return False
        self.step.hoping = True
        done = self._start(unit, evict=True)
        self.step.hoping = self.step.rights.guarantees.hopeful = False
        return done

    def _start_batch(self, units: Sequence[Unit]) -> bool:
        """
        Start equal units as if they were one, and share the places out among them.
        """
        batch = batch_of(units)
        (state,) = batch.states
        shapes = self.problem.shapes
        shapes.of_leaf[state.key, 0] = shapes.of_leaf[units[0].key, 0]
        shut = self.failed.covers(units[0]) or self._is_passed_by(units[0])
        if shut or not self._start(batch, evict=True):
            return False
        self.batches[batch.key] = tuple(unit.key for unit in units)
        hosts = sorted(self.step.work.placed.pop(state.key)[0])
        each = len(hosts) // len(units)
        for at, unit in enumerate(units):
            self.step.work.placed[unit.key] = {0: hosts[at * each : (at + 1) * each]}
        if self.step.entitled:
            self.step.work.entitled.discard(batch.key)
            self.step.work.entitled.update(unit.key for unit in units)
        return True

    def _is_open(self, unit: Unit) -> bool:
        """
        Tell whether a unit may still start.
        """
        if self.step.work.is_late():
            return False
        done = unit.key in self.step.work.placed
        return unit.starts and not done and not self._left(unit)

    def _is_passed_by(self, unit: Unit) -> bool:
        """
        Tell whether one of a unit's queues loses as important work by preemption.
        """
        mine = {self.problem.queues.leaf(state.gang.queue) for state in unit.states}
        lost = +self.step.leavers.preempted
        return any(queue in mine and band >= unit.band for queue, band in lost)

    def _left(self, unit: Unit) -> bool:
        """
        Tell whether pods of a unit, or a whole mate, had to go: then it does not start.
        """
        own = self.step.wide([state.key for state in unit.states])
        mates = self.step.wide(mates_that_stay(self.problem, [unit]))
        return any(map(self.step.leavers.has_left, own)) or any(
            map(self.step.leavers.stopped, mates)
        )

    # --- one unit -----------------------------------------------------------------

    def _start(self, unit: Unit, *, evict: bool) -> bool:
        """
        Start all gangs of a unit, others leaving for them if need be, or none.
        """
        mark = self.step.work.mark()
        self.step.protect(unit)
        if self.room.make(unit, mark) if evict else self.step.place(unit):
            return True
        self.step.work.undo(mark)
        self.step.protect(unit, left=True)
        return False

    # --- the end ----------------------------------------------------------------------

    def _move_instead(self) -> None:
        """
        Move those who are evicted where there is a place: then no gang stops.
        """
        most = self.problem.policy.evict.max_moves
        if most is not None and not most:
            return
        refused: set[int] = set()
        movable, kinds = self.step.table.sorts.movable, self.step.table.kind_of
        goings = sorted(self.step.leavers.goings.items(), key=_by_pods)
        for serial, going in goings:
            if self.step.work.is_late():
                break
            sort = going.item.sort
            kind = int(kinds[sort])
            if (
                going.leaver.rule != MOVED
                and movable[sort]
                and kind not in refused
                and not self.step.leavers.move_instead(serial)
            ):
                refused.add(kind)


def _by_pods(pair: tuple[int, Going]) -> tuple[bool, int, int]:
    serial, going = pair
    return (not going.whole, len(going.runners), serial)


def _for_all_nodes(problem: Problem) -> Problem:
    """
    Let shapes fit wherever they may be, since room changes; more gangs will be named.
    """
    shapes = problem.shapes
    own = replace(shapes, fits=shapes.may_be, of_leaf=dict(shapes.of_leaf))
    return replace(problem, shapes=own)
