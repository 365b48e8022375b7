"""
Evictions by hand: gang by gang, each time those leave whose work is worth least.

What a good scheduler of this field does today, done honestly: the baseline of every
report where somebody must leave, and the first answer of every step with evictions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np

from solver.evict.eviction_ledger import MOVED, HandRights
from solver.evict.greedy.batches import lot_kind, lot_of
from solver.evict.greedy.clear_nodes import Cover, dearest
from solver.evict.greedy.eviction_log import Going, Leavers
from solver.evict.greedy.shortfalls import Counts, Dues
from solver.evict.greedy.victim_table import MOVE, VictimTable
from solver.evict.group_mates import mates_that_stay, promised_mates
from solver.evict.guarantees import may_be_guaranteed
from solver.evict.moved_gangs import Mover
from solver.evict.victims import Victims
from solver.place.complete import loaded
from solver.place.draft import Draft
from solver.place.gang_order import rank_of
from solver.place.place_gang import place_gang
from solver.place.refused_kinds import Refusals
from solver.place.round_state import RoundState
from solver.problem.core_pods import least_core
from solver.problem.gang_state import Standing
from solver.problem.node_room import Ints, Places
from solver.problem.problem import Problem, Step, Unit

Left = Mapping[str, Mapping[str, int]]
"""
What is left of limits or shares, per queue and resource.
"""


def evict_by_hand(
    problem: Problem,
    draft: Draft,
    victims: Victims,
    movers: Sequence[Mover] | None = None,
) -> Draft:
    """
    Add starts to a draft for which others leave.

    Parameters
    ----------
    problem
        The round cut to one step, in the room there will be.
    draft
        The starts that need nobody to leave; they are kept as they are, but for those
        beside whom a mate must stay: these are started again when it is their turn.
    victims
        What may leave.
    movers
        What may be moved, where that was listed already.
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
    return _ByHand(problem, kept, victims, movers).run()


class _ByHand:
    """
    The starts and exits of one step while they are made.
    """

    def __init__(
        self,
        problem: Problem,
        draft: Draft,
        victims: Victims,
        movers: Sequence[Mover] | None,
    ) -> None:
        self.problem = _for_all_nodes(problem)
        self.entitled = problem.step is Step.ENTITLED
        self.before = draft.exits
        self.work = loaded(self.problem, draft)
        self.rights = HandRights(problem)
        self.dues = Dues(self.work, self.rights)
        self.work.ledger.count_later(self.problem)
        self.table = VictimTable(self.problem, victims)
        self.leavers = Leavers(self.work, self.table, self.rights, movers)
        self.wide_of = {wide.gang.key: at for at, wide in enumerate(victims.wide)}
        self.booked: dict[str, Counts] = {}
        self.failed = Refusals(self.problem)
        self.lots: dict[str, tuple[str, ...]] = {}
        self.hoping = False
        self.misses = 0
        self.gained = 0
        for at in self._wide(promised_mates(problem)):
            self.leavers.offer(at, offered=False)
        for unit in problem.units:
            if draft.starts(unit):
                counts = _placed(self.work, unit)
                named = all(s.key in draft.entitled for s in unit.states)
                self.rights.start(unit, counts, entitled=named)
                self._protect(unit)

    def run(self) -> Draft:
        """
        Offer every unit that does not start what others hold, highest band first.
        """
        units = sorted(self.problem.units, key=rank_of)
        for kind, lot in groupby(units, partial(lot_kind, self.problem)):
            self._start_all(list(lot), kind)
        self._move_instead()
        draft = self.work.draft()
        sure = {
            key
            for lot in self.rights.guarantees.names
            for key in self.lots.get(lot, (lot,))
        }
        exits = (*self.before, *self.leavers.exits())
        return replace(draft, exits=exits, guaranteed=frozenset(sure))

    def _start_all(self, units: Sequence[Unit], kind: object) -> None:
        """
        Start units that follow each other; of equal ones as many as possible at once.
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
                done = self._start_lot(units[:number])
            if done:
                units = units[number:]
                number = min(number, len(units))
            else:
                number //= 2

    def _start_one(self, unit: Unit) -> bool:
        """
        Start a unit, making room for it if need be.
        """
        if self._start(unit, evict=False):
            return True
        if (
            self.failed.covers(unit)
            or self.misses >= self.problem.tuning.evict.most_misses
        ):
            return False
        if self._start(unit, evict=True) or self._take_up(unit):
            return True
        self.failed.note(unit)
        self.misses += 1
        return False

    def _take_up(self, unit: Unit) -> bool:
        """
        Start a unit whose quota has room once others have left the queues above it.
        """
        problem = self.problem
        inner = any(
            problem.queues.queues[state.gang.queue].parent
            for state in unit.states
            if state.gang.queue in problem.queues.queues
        )
        if not (self.entitled and inner and may_be_guaranteed(problem, unit)):
            return False
        self.hoping = True
        done = self._start(unit, evict=True)
        self.hoping = self.rights.guarantees.hopeful = False
        return done

    def _start_lot(self, units: Sequence[Unit]) -> bool:
        """
        Start equal units as if they were one, and share the places out among them.
        """
        lot = lot_of(units)
        (state,) = lot.states
        shapes = self.problem.shapes
        shapes.of_leaf[state.key, 0] = shapes.of_leaf[units[0].key, 0]
        if self.failed.covers(units[0]) or not self._start(lot, evict=True):
            return False
        self.lots[lot.key] = tuple(unit.key for unit in units)
        hosts = sorted(self.work.placed.pop(state.key)[0])
        each = len(hosts) // len(units)
        for at, unit in enumerate(units):
            self.work.placed[unit.key] = {0: hosts[at * each : (at + 1) * each]}
        if self.entitled:
            self.work.entitled.discard(lot.key)
            self.work.entitled.update(unit.key for unit in units)
        return True

    def _is_open(self, unit: Unit) -> bool:
        """
        Tell whether a unit may still start.
        """
        done = unit.key in self.work.placed
        return unit.starts and not done and not self._left(unit)

    def _left(self, unit: Unit) -> bool:
        """
        Tell whether pods of a unit, or a whole mate, had to go: then it does not start.
        """
        own = self._wide([state.key for state in unit.states])
        mates = self._wide(mates_that_stay(self.problem, [unit]))
        return any(map(self.leavers.has_left, own)) or any(
            map(self.leavers.stopped, mates)
        )

    def _protect(self, unit: Unit, *, left: bool = False) -> None:
        """
        Keep the running pods of a gang that starts and its mates, or offer them again.
        """
        own = [state.key for state in unit.states]
        for at in self._wide([*own, *mates_that_stay(self.problem, [unit])]):
            self.leavers.offer(at, offered=left)

    def _wide(self, gangs: Iterable[str]) -> list[int]:
        return [self.wide_of[key] for key in gangs if key in self.wide_of]

    # --- one unit -----------------------------------------------------------------

    def _start(self, unit: Unit, *, evict: bool) -> bool:
        """
        Start all gangs of a unit, others leaving for them if need be, or none.
        """
        mark = self.work.mark()
        self._protect(unit)
        if self._make_room(unit, mark) if evict else self._place(unit):
            return True
        self.work.undo(mark)
        self._protect(unit, left=True)
        return False

    def _place(self, unit: Unit) -> bool:
        """
        Start a unit where there is room.
        """
        return all(place_gang(self.work, state) for state in unit.states) and (
            self._book(unit, _placed(self.work, unit))
        )

    def _book(self, unit: Unit, counts: Counts, *, later: bool = False) -> bool:
        """
        Count a start against the fair share and among the rights to evict.

        What was booked for it before no longer counts.  With ``later``, others may
        still be evicted below inner queues to make room in their shares.
        """
        before = self.booked.get(unit.key)
        self.rights.guarantees.hopeful = self.hoping and later
        self._rebook(unit, before, counts)
        self.work.note(partial(self._rebook, unit, counts, before))
        if self.entitled:
            parents = self.problem.queues.parents
            above = self.dues.above(unit, counts)
            if not all(later and queue in parents for queue, _ in above):
                return False
        return self.rights.hold()

    def _rebook(self, unit: Unit, old: Counts | None, new: Counts | None) -> None:
        """
        Count a start with other pods than before; none is no start.
        """
        for counts, sign in ((old, -1), (new, 1)):
            if counts is None:
                continue
            self.rights.start(unit, counts, entitled=self.entitled, sign=sign)
            for state in unit.states if self.entitled else ():
                charge = self.work.ledger.charge_of(state, counts[state.key])
                self.work.ledger.entitle(state, charge, sign)
        keys = {state.key for state in unit.states} if self.entitled else set()
        if new is None:
            del self.booked[unit.key]
            self.work.entitled -= keys
        else:
            self.booked[unit.key] = new
            self.work.entitled |= keys

    # --- room -----------------------------------------------------------------------

    def _make_room(self, unit: Unit, mark: int) -> bool:
        """
        Let others go until all of a unit has a place, then only those who must.
        """
        planned = {state.key: _need(state) for state in unit.states}
        if not self._book(unit, planned, later=True):
            return False
        if not self.dues.within_quotas(unit, planned):
            return False
        short = self.dues.short(unit, planned)
        above = self.dues.above(unit, planned) if self.entitled else []
        tight = {queue for queue, _ in [*short, *above]}
        tries = [self._below(tight), None] if tight else [None]
        if not any(self._clear(unit, planned, short, queues) for queues in tries):
            return False
        self._place_again(unit, mark)
        placed = _placed(self.work, unit)
        if not self._book(unit, placed):
            return False
        self._spare(mark)
        return self._settle(placed, unit, mark)

    def _clear(
        self,
        unit: Unit,
        planned: Counts,
        short: Mapping[tuple[str, str], int],
        queues: Ints | None,
    ) -> bool:
        """
        Let others go, of some queues or of all, until a unit has places and rights.
        """
        mark, ledger = self.work.mark(), self.work.ledger
        ledger.lend(short)
        done = all(self._cover(state, planned, unit, queues) for state in unit.states)
        ledger.lend(short, -1)
        if done and all(self._relieve(unit, ledger.limit, *key) for key in short):
            share = ledger.share
            above = self.dues.above(unit, planned) if self.entitled else []
            if all(self._relieve(unit, share, *key) for key in above):
                return True
        self.work.undo(mark)
        return False

    def _cover(
        self, state: Standing, planned: Counts, unit: Unit, queues: Ints | None
    ) -> bool:
        rules = self._rules(state, unit, queues)
        cover = Cover(
            self.work, self.table, self.leavers, state, planned[state.key], rules
        )
        return cover.run()

    def _rules(self, state: Standing, unit: Unit, queues: Ints | None) -> Ints:
        rules = self.table.rules(state.gang.queue, unit.band)
        return rules if queues is None else rules * queues

    def _place_again(self, unit: Unit, mark: int) -> None:
        """
        Place a unit by the usual habits where nobody was moved for it.

        The places found on the way are kept where that fails.
        """
        pods = sum(
            len(h) for s in unit.states for h in self.work.placed[s.key].values()
        )
        if pods == 1 or any(g.unit for g in self.leavers.since(mark).values()):
            return
        found = {
            state.key: {i: [*h] for i, h in self.work.placed[state.key].items()}
            for state in unit.states
        }
        self.work.unplace(mark)
        if all(place_gang(self.work, state) for state in unit.states):
            return
        self.work.unplace(mark)
        for state in unit.states:
            for i, hosts in found[state.key].items():
                self.work.take(state, i, Counter(hosts))

    def _spare(self, mark: int) -> None:
        """
        Let those stay who need not leave after all, the dearest first.
        """
        found = [
            (serial, going)
            for serial, going in self.leavers.since(mark).items()
            if going.unit is None and self.leavers.may_stay(going)
        ]
        for serial, _ in sorted(found, key=dearest):
            self.leavers.spare(serial)

    def _settle(self, placed: Counts, unit: Unit, mark: int) -> bool:
        """
        Keep what was done for a unit if it is worth it.
        """
        if not self.leavers.since(mark):
            return True
        most = self.problem.policy.evict.max_lost_per_gpu
        if most is not None:
            gained = sum(
                self.problem.values.work(state.leaves[i].pod_set.requests, most) * pods
                for state in unit.states
                for i, pods in placed[state.key].items()
            )
            lost = sum(going.work for going in self.leavers.goings.values())
            if lost > self.gained + gained:
                return False
            self.gained += gained
        return True

    # --- limits and shares ----------------------------------------------------------

    def _below(self, tight: AbstractSet[str]) -> Ints:
        """
        Mark the sorts below all of some queues: what leaves there is of use for all.
        """
        names = [
            name
            for name in self.problem.queues.queues
            if tight <= set(self.rights.path(name))
        ]
        return self.table.in_queues(names).astype(np.int64)

    def _relieve(self, unit: Unit, table: Left, queue: str, name: str) -> bool:
        """
        Let the cheapest go until a queue is within its limit, or its share.
        """
        left = table[queue]
        if left[name] >= 0:
            return True
        queues = self._below({queue})
        rules = self._rules(unit.states[0], unit, queues)
        rules[rules == MOVE] = 0
        column = self.problem.room.resources.index(name)
        amounts = self.table.rows[:, column]
        costs = self.table.shared_cost / np.maximum(amounts, 1)
        order = np.flatnonzero((rules[self.table.sort] > 0) & (amounts > 0))
        ranks = (self.table.size, self.table.age, costs)
        for at in order[np.lexsort([rank[order] for rank in ranks])].tolist():
            sort = self.table.sort[at]
            if self.table.live[at] and rules[sort]:
                if self.leavers.let_go(at, int(rules[sort])) is None:
                    rules[sort] = 0
                elif left[name] >= 0:
                    return True
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
        movable, kinds = self.table.movable, self.table.kind_of
        goings = sorted(self.leavers.goings.items(), key=_by_pods)
        for serial, going in goings:
            sort = going.item.sort
            kind = int(kinds[sort])
            if (
                going.leaver.rule != MOVED
                and movable[sort]
                and kind not in refused
                and not self.leavers.move_instead(serial)
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
    own = replace(shapes, fits=shapes.allowed, of_leaf=dict(shapes.of_leaf))
    return replace(problem, shapes=own)


def _need(state: Standing) -> dict[int, int]:
    """
    Count the pods of each leaf that a gang needs, where all its pods may be had.
    """
    every = Places(tuple((0,) * len(leaf.pending) for leaf in state.leaves))
    return {i: count for i, count in least_core(state, every).items() if count}


def _placed(work: RoundState, unit: Unit) -> Counts:
    return {
        state.key: {i: len(h) for i, h in work.placed.get(state.key, {}).items()}
        for state in unit.states
    }
