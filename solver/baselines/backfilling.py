"""
Backfilling: who waits passes others where that delays nobody who has a reservation.

Conservative backfilling reserves for everybody in line, EASY for the first who waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from solver.baselines.in_line import by_age, outcome_of
from solver.baselines.line_bookings import Reservation, Reservations, is_plain
from solver.effort.budget import Budget
from solver.place.greedy import fill_up, start
from solver.place.round_state import RoundState
from solver.problem.pod_shapes import kept_off
from solver.problem.problem import Problem, Unit
from solver.search.search_outcome import Outcome

Given = Mapping[str, Reservation]
_Bans = dict[tuple[str, int], tuple[int, ...]]


def plan_conservatively(problem: Problem, budget: Budget) -> Outcome:
    """
    Give everybody, the oldest first, the first room for as long as they run.
    """
    return _plan(problem, budget, reserved=len(problem.units))


def plan_easy(problem: Problem, budget: Budget) -> Outcome:
    """
    Start the oldest first, and behind one that does not fit what does not delay it.
    """
    return _plan(problem, budget, reserved=1)


def _plan(problem: Problem, budget: Budget, *, reserved: int) -> Outcome:
    """
    Start whose room is there now; so many of those who wait have a reservation.

    Reservations are made anew in each round: the same again where run times are exact.
    Nothing grows while anybody waits.
    """
    line = by_age(problem.units)
    given = _starting_now(problem, line, reserved)
    shapes = kept_off(problem.shapes, _bans(problem, line, given))
    work = RoundState(replace(problem, shapes=shapes))
    for plain in (True, False):
        for unit in line:
            if unit.key in given and is_plain(problem, unit) == plain:
                _start(work, unit, given[unit.key], plain=plain)
    first = next((unit.key for unit in line if unit.key not in work.placed), "")
    if not first:
        fill_up(work, lambda *_: None)
    return replace(outcome_of(problem, work, budget), first_in_line=first)


def _starting_now(problem: Problem, line: Sequence[Unit], reserved: int) -> Given:
    """
    Reserve in the order of the line until nobody behind could start now.
    """
    book = Reservations(problem)
    last = _last_who_could(book, line)
    given = {}
    for at, unit in enumerate(line):
        if at > last:
            break
        if not reserved and not book.could_start_now(unit):
            continue
        found = book.first(unit)
        if found is None or (found.start and not reserved):
            continue
        book.take(unit, found)
        if found.start:
            reserved -= 1
        else:
            given[unit.key] = found
            last = _last_who_could(book, line)
    return given


def _last_who_could(book: Reservations, line: Sequence[Unit]) -> int:
    """
    Give the place in line of the last for whom there is room at this moment.
    """
    places = range(len(line) - 1, -1, -1)
    return next((at for at in places if book.could_start_now(line[at])), -1)


def _bans(problem: Problem, line: Sequence[Unit], given: Given) -> _Bans:
    """
    Keep who must be placed anew to the nodes of its reservation.
    """
    every = set(range(len(problem.room.nodes)))
    return {
        leaf: tuple(sorted(every - counts.keys()))
        for unit in line
        if unit.key in given and not is_plain(problem, unit)
        for leaf, counts in given[unit.key].places.items()
    }


def _start(work: RoundState, unit: Unit, given: Reservation, *, plain: bool) -> None:
    """
    Start a unit in its places: exactly these, where nothing but their number counts.
    """
    if not plain:
        start(work, unit, entitled=False)
        return
    for (_, leaf), counts in given.places.items():
        work.take(unit.states[0], leaf, counts)
