"""
Protected heads: gangs passed over for too long, and the nodes that are held for them.

Nothing is started here.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from models.gangs import has_parts
from models.why.reasons import Facts, counted
from solver.hold.forecast import Forecast, Seats
from solver.hold.turns import Turns, most_held
from solver.place.gang_order import oldest
from solver.problem.gang_state import Standing
from solver.problem.lateness import needs_gpus, passed_over, unit_gpus
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Unit

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    A unit that was passed over for too long, by its key, and the nodes held for it.

    ``start`` is in how many seconds it starts at the latest if what runs ends by then,
    0 if it could now, and none where nobody knows; ``likely`` is when it may.  For one
    that ``slipped`` nodes were held for too long; no more are, until it may start soon.
    """

    key: str
    nodes: tuple[int, ...]
    start: int | None
    band: int
    likely: int = 0
    slipped: bool = False


def heads_of(problem: Problem) -> tuple[Head, ...]:
    """
    Name the heads of all lines, highest band first, and hold nodes for each.

    Of each line the first few are heads once it is their turn: they start first if they
    have room now, and else have nodes held if the budget has room for that.
    """
    units = _first_in_line(problem)
    if not units:
        return ()
    choice = _HeadChoice(problem)
    found = (choice.head(unit) for unit in units)
    return tuple(head for head in found if head is not None)


def next_turn(problem: Problem) -> int | None:
    """
    Give the seconds until one more of those first in line has its turn, if any will.
    """
    units = _first_in_line(problem)
    if not units:
        return None
    turns = Turns(problem)
    found = (turns.turn_in(unit) for unit in units)
    return min((seconds for seconds in found if seconds), default=None)


def has_slipped(unit: Unit, likely: int, slip: float) -> bool:
    """
    Tell whether nodes were held for too long for a unit, or would be till it starts.
    """
    return any(
        state.gang.held_first is not None
        and state.gang.held_for + likely > most_held(state.gang.held_first, slip)
        for state in unit.states
    )


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
        line = queue_of(problem, unit.states[0]) if by_queue else ""
        counts[line] += 1
        if counts[line] <= waiting.heads:
            found.append(unit)
    return found


def by_rank(unit: Unit) -> tuple[int, int, int, str]:
    """
    Order units as they stand in line: highest band, passed over longest, oldest, name.
    """
    return (-unit.band, -passed_over(unit), -oldest(unit), unit.key)


def queue_of(problem: Problem, state: Standing) -> str:
    """
    Name the leaf queue of a gang; without any queue all gangs are in one.
    """
    return state.gang.queue if problem.queues.queues else ""


class _HeadChoice:
    """
    The choice of heads, one after the other: each takes what earlier ones leave.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._forecast = Forecast(problem)
        self._turns = Turns(problem)
        self._slip = problem.policy.waiting.slip
        self._taken: Bools = np.zeros(len(problem.room.nodes), dtype=bool)
        self._asked = sum(unit_gpus(u) for u in problem.units if u.starts)

    def head(self, unit: Unit) -> Head | None:
        """
        Make a unit a head, if it is its turn and nodes are found for it.
        """
        if not self._turns.has_turn(unit):
            return None
        seats = self._forecast.seats_now(unit, self._taken)
        if seats is None:
            seats = self._forecast.seats_later(unit, self._taken)
            if seats is not None and has_slipped(unit, seats.likely, self._slip):
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
        )

    def _affordable(self, unit: Unit, seats: Seats | None) -> Seats | None:
        """
        Give nodes to hold for a unit until it can start; none if that costs too much.
        """
        if seats is None:
            return None
        idle = self._idle(unit, seats)
        fits = not idle or self._turns.has_turn(unit, idle)
        return seats if fits and self._turns.affords(idle) else None

    def _idle(self, unit: Unit, seats: Seats) -> int:
        """
        Give the GPU-seconds that idle at most while somebody waits who could use them.

        What others ask for and other nodes have free needs no held node.
        """
        elsewhere = np.ones(len(self._taken), dtype=bool)
        elsewhere[list(seats.nodes)] = False
        free = int(self._problem.room.holes[elsewhere].sum())
        pressed = max(0, self._asked - unit_gpus(unit) - free)
        return min(seats.idle, pressed * seats.likely)
