"""
Protected heads: gangs passed over for too long, and the nodes that are held for them.

Nothing is started here.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from models.gangs import has_parts
from models.why.reasons import Facts, counted
from solver.hold.forecast import Forecast, Seats
from solver.hold.turns import Turns, most_held
from solver.place.gang_order import oldest
from solver.problem.lateness import needs_gpus, passed_over, unit_gpus
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Unit

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    A unit that was passed over for too long, by its key, and the nodes held for it.

    ``start`` is in how many seconds it starts at the latest if what runs ends by then,
    0 if it could now, and none where nobody knows; ``likely`` is when it may.  One that
    is ``ready`` has room on them now.  For one that ``slipped`` nodes were held for too
    long; no more are, until it may start soon.
    """

    key: str
    nodes: tuple[int, ...]
    start: int | None
    band: int
    likely: int = 0
    ready: bool = False
    slipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """
    The heads of a round, and the seconds until time alone may make them others.

    ``turn`` is that whatever idles; ``afforded`` tells it of GPUs that idle for heads.
    """

    heads: tuple[Head, ...] = ()
    turn: int | None = None
    afforded: Callable[[int], int | None] = lambda _: None

    def next_turn(self, held: int) -> int | None:
        """
        Give the seconds until heads may be others, while so many GPUs idle for them.
        """
        found = (self.turn, self.afforded(held) if held else None)
        return min((moment for moment in found if moment is not None), default=None)


def heads_of(problem: Problem) -> tuple[Head, ...]:
    """
    Name the heads of all lines, highest band first, and hold nodes for each.
    """
    return line_of(problem).heads


def line_of(problem: Problem) -> Line:
    """
    Choose the heads of all lines, highest band first, and hold nodes for each.

    Of each line the first few are heads once it is their turn: they start first if they
    have room now, and else have nodes held if the budget has room for that.
    """
    units = _first_in_line(problem)
    if not units:
        return Line()
    choice = _HeadChoice(problem)
    found = [choice.head(unit) for unit in units]
    return Line(
        heads=tuple(head for head in found if head is not None),
        turn=min((each for each in choice.moments if each > 0), default=None),
        afforded=choice.afforded_for,
    )


def has_slipped(unit: Unit, likely: int, slip: float) -> bool:
    """
    Tell whether nodes were held for too long for a unit, or would be till it starts.
    """
    return likely > held_yet(unit, slip, likely)


def held_yet(unit: Unit, slip: float, likely: int) -> int:
    """
    Give for how many seconds nodes may be held yet for a unit that starts in so many.
    """
    found = (
        most_held(state.gang.held_first, slip) - state.gang.held_for
        for state in unit.states
        if state.gang.held_first is not None
    )
    return int(min(found, default=most_held(likely, slip)))


def head_facts(head: Head, problem: Problem) -> Facts:
    """
    Say what is held for a head, and in how many seconds it is expected to start.
    """
    names = [problem.room.nodes[at].name for at in head.nodes]
    shown = names[:_MOST_NAMED]
    if len(names) > len(shown):
        shown.append(f"{counted(len(names) - len(shown), 'more node')}")
    facts: Facts = {"held": len(names)}
    facts |= {"nodes": ", ".join(shown)} if shown else {}
    facts |= {} if head.start is None else {"expected": head.start}
    return facts | ({"slipped": head.likely} if head.slipped else {})


def _first_in_line(problem: Problem) -> list[Unit]:
    """
    List those passed over for too long: of each leaf queue, or of all, the first few.
    """
    waiting = problem.policy.waiting
    if not waiting.heads:
        return []
    late = [
        unit
        for unit in problem.units
        if unit.starts
        and not any(has_parts(state.gang) for state in unit.states)
        and passed_over(unit) >= waiting.protect_after
        and needs_gpus(unit, waiting.gpus)
    ]
    counts: Counter[str] = Counter()
    found = []
    for unit in sorted(late, key=by_rank):
        by_queue = waiting.heads_of == "queue"
        queue = unit.states[0].gang.queue
        line = problem.queues.leaf(queue) if by_queue else ""
        counts[line] += 1
        if counts[line] <= waiting.heads:
            found.append(unit)
    return found


def by_rank(unit: Unit) -> tuple[int, int, int, str]:
    """
    Order units as they stand in line: highest band, passed over longest, oldest, name.
    """
    return (-unit.band, -passed_over(unit), -oldest(unit), unit.key)


class _HeadChoice:
    """
    The choice of heads, one after the other: each takes what earlier ones leave.

    ``moments`` are the seconds after which time alone may change it.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._forecast = Forecast(problem)
        self._turns = Turns(problem)
        self._slip = problem.policy.waiting.slip
        self._taken: Bools = np.zeros(len(problem.room.nodes), dtype=bool)
        self._asked = sum(unit_gpus(u) for u in problem.units if u.starts)
        self._fading = self._fading_most = 0
        self.moments: list[int] = []

    def head(self, unit: Unit) -> Head | None:
        """
        Make a unit a head, if it is its turn and nodes are found for it.
        """
        turns = self._turns
        if not turns.has_turn(unit):
            self._again(turns.turn_in(unit))
            return None
        self._again(turns.turn_ends_in(unit))
        seats = self._forecast.seats_now(unit, self._taken)
        ready = seats is not None
        if seats is None:
            seats = self._forecast.seats_later(unit, self._taken)
            if seats is not None and has_slipped(unit, seats.likely, self._slip):
                self._again(seats.likely - held_yet(unit, self._slip, seats.likely))
                return Head(
                    key=unit.key,
                    nodes=(),
                    start=None,
                    band=unit.band,
                    likely=seats.likely,
                    slipped=True,
                )
            seats = self._affordable(unit, seats)
        if seats is None or not seats.nodes:
            return None
        self._taken[list(seats.nodes)] = True
        return Head(
            key=unit.key,
            nodes=seats.nodes,
            start=seats.start,
            band=unit.band,
            likely=seats.likely,
            ready=ready,
        )

    def afforded_for(self, held: int) -> int | None:
        """
        Give the seconds until the budget lacks what is booked, while so many GPUs idle.
        """
        return self._turns.afforded_for(held - self._fading)

    def _again(self, moment: int | None) -> None:
        """
        Look again in so many seconds.
        """
        self.moments += [] if moment is None else [moment]

    def _affordable(self, unit: Unit, seats: Seats | None) -> Seats | None:
        """
        Give nodes to hold for a unit until it can start; none if that costs too much.
        """
        if seats is None:
            return None
        turns, pressed = self._turns, self._pressed(unit, seats)
        waited = pressed * seats.likely
        idle = min(seats.idle, waited)
        fits = not idle or turns.has_turn(unit, idle)
        if not fits or not turns.affords(idle):
            self._again_if_less_idles(
                unit, ((seats.idle, seats.then), (waited, pressed))
            )
            return None
        fades = 0 if seats.likely <= seats.late else min(seats.now, pressed)
        self._fading += fades
        self._fading_most += max(seats.then, pressed)
        if idle:
            self._again(turns.turn_ends_in(unit, idle, fades))
        self._again(seats.likely - seats.late)
        self._again(held_yet(unit, self._slip, seats.likely) - seats.late + 1)
        return seats

    def _again_if_less_idles(
        self, unit: Unit, costs: Iterable[tuple[int, int]]
    ) -> None:
        """
        Look again once one of some costs is affordable, each less with each second.
        """
        for idle, fading in costs:
            turn = self._turns.turn_in(unit, idle, fading)
            money = self._turns.affords_in(idle, fading + self._fading_most)
            if turn is not None and money is not None:
                self._again(max(turn, money))

    def _pressed(self, unit: Unit, seats: Seats) -> int:
        """
        Count the GPUs that others ask for and that no node has free but the held ones.
        """
        elsewhere = np.ones(len(self._taken), dtype=bool)
        elsewhere[list(seats.nodes)] = False
        free = int(self._problem.room.holes[elsewhere].sum())
        return max(0, self._asked - unit_gpus(unit) - free)
