"""
What is so far while others are let go by hand: starts, rights, and who may leave.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from solver.effort.budget import Budget
from solver.evict.greedy.eviction_log import Leavers
from solver.evict.greedy.places_once_left import PlacesOnceLeft
from solver.evict.greedy.shortfalls import Counts, Shortfalls
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.group_mates import mates_that_stay
from solver.evict.moved_gangs import Mover
from solver.evict.rights.hand_rights import HandRights
from solver.evict.victims import Victims
from solver.place.complete import loaded
from solver.place.draft import Draft
from solver.place.place_gang import place_unit, placed_counts
from solver.problem.problem import Problem, Step, Unit


class HandStep:
    """
    The starts and exits of one step while they are made by hand.

    While ``hoping``, a start may count on evictions that are still to come.
    """

    def __init__(
        self,
        problem: Problem,
        draft: Draft,
        victims: Victims,
        movers: Sequence[Mover] | None,
        budget: Budget | None,
    ) -> None:
        self.problem = problem
        self.entitled = problem.step is Step.ENTITLED
        self.work = loaded(problem, draft, budget)
        self.rights = HandRights(problem)
        self.shortfalls = Shortfalls(self.work, self.rights)
        self.work.ledger.count_later(problem)
        self.table = VictimTable(problem, victims)
        self.once_left = PlacesOnceLeft(self.work.room, self.table)
        self.leavers = Leavers(self.work, self.table, self.rights, movers)
        self.wide_of = {wide.gang.key: at for at, wide in enumerate(victims.wide)}
        self.hoping = False
        self._booked: dict[str, Counts] = {}

    def protect(self, unit: Unit, *, left: bool = False) -> None:
        """
        Keep the running pods of a gang that starts and its mates, or offer them again.
        """
        own = [state.key for state in unit.states]
        for at in self.wide([*own, *mates_that_stay(self.problem, [unit])]):
            self.leavers.offer(at, offered=left)

    def wide(self, gangs: Iterable[str]) -> list[int]:
        """
        List the wide gangs among some.
        """
        return [self.wide_of[key] for key in gangs if key in self.wide_of]

    def place(self, unit: Unit) -> bool:
        """
        Start a unit where there is room.
        """
        return place_unit(self.work, unit) and self.book(
            unit, placed_counts(self.work, unit)
        )

    def book(self, unit: Unit, counts: Counts, *, later: bool = False) -> bool:
        """
        Count a start against the fair share and among the rights to evict.

        What was booked for it before no longer counts.  With ``later``, others may
        still be evicted below inner queues to make room in their shares.
        """
        before = self._booked.get(unit.key)
        self.rights.guarantees.hopeful = self.hoping and later
        self._rebook(unit, before, counts)
        self.work.note(partial(self._rebook, unit, counts, before))
        if self.entitled:
            parents = self.problem.queues.parents
            above = self.shortfalls.above(unit, counts)
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
            del self._booked[unit.key]
            self.work.entitled -= keys
        else:
            self._booked[unit.key] = new
            self.work.entitled |= keys
