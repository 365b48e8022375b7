"""
Protected heads: gangs passed over for too long, and the nodes that are held for them.

Nothing is started here.  What may not use a held node gets pod shapes of its own, which
do not fit there; everything that places pods obeys these as it obeys any shape.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.reasons import Facts, counted
from solver.hold.forecast import Forecast
from solver.place.gang_order import oldest
from solver.place.queue_ledger import Ledger
from solver.problem.gang_state import Standing
from solver.problem.lateness import needs_gpus, passed_over
from solver.problem.never_starts import needed
from solver.problem.pod_shapes import kept_off
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import unit_kind

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    A unit that was passed over for too long, by its key, and the nodes held for it.

    ``start`` is in how many seconds it is expected to start, 0 if it could now, and
    none where nobody knows.
    """

    key: str
    nodes: tuple[int, ...]
    start: int | None
    band: int


def heads_of(problem: Problem) -> tuple[Head, ...]:
    """
    Name the heads of all leaf queues, highest band first, and hold nodes for each.
    """
    units = _first_in_line(problem)
    if not units:
        return ()
    forecast = Forecast(problem)
    taken = np.zeros(len(problem.room.nodes), dtype=bool)
    heads = []
    for unit in units:
        seats = forecast.seats(unit, taken)
        taken[list(seats.nodes)] = True
        heads.append(
            Head(key=unit.key, nodes=seats.nodes, start=seats.start, band=unit.band)
        )
    return tuple(heads)


def with_heads(problem: Problem, heads: Sequence[Head]) -> Problem:
    """
    Keep others off the nodes that are held for heads.
    """
    holding = [head for head in heads if head.nodes]
    if not holding:
        return problem
    bans = _Holds(problem, holding).bans()
    return replace(problem, shapes=kept_off(problem.shapes, bans)) if bans else problem


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
    return facts


def _first_in_line(problem: Problem) -> list[Unit]:
    """
    List the units that are heads: of each leaf queue, or of all, the first few.
    """
    waiting = problem.policy.waiting
    after, most = waiting.protect_after, waiting.heads
    if not most:
        return []
    late = [
        unit
        for unit in problem.units
        if unit.starts and passed_over(unit) >= after and needs_gpus(unit, waiting.gpus)
    ]
    counts: Counter[str] = Counter()
    heads = []
    for unit in sorted(late, key=_by_rank):
        line = _queue_of(problem, unit.states[0]) if waiting.heads_of == "queue" else ""
        counts[line] += 1
        if counts[line] <= most:
            heads.append(unit)
    return heads


def _by_rank(unit: Unit) -> tuple[int, int, int, str]:
    return (-unit.band, -passed_over(unit), -oldest(unit), unit.key)


def _queue_of(problem: Problem, state: Standing) -> str:
    """
    Name the leaf queue of a gang; without any queue all gangs are in one.
    """
    return state.gang.queue if problem.queues.queues else ""


class _Holds:
    """
    Who may not use which held nodes.
    """

    def __init__(self, problem: Problem, heads: Sequence[Head]) -> None:
        self._problem = problem
        self._heads = heads
        units = {head.key: frozenset[str]() for head in heads}
        self._units = [unit for unit in problem.units if unit.key in units]
        for unit in self._units:
            units[unit.key] = self._queues(unit)
        self._queues_of_head: Mapping[str, frozenset[str]] = units
        self._ledger = Ledger(problem)
        self._firm = self._firm_ones()
        self._known: dict[object, tuple[int, ...]] = {}

    def bans(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """
        List for each leaf that is kept off some nodes which ones.
        """
        found = {}
        for unit in self._problem.units:
            nodes = self._kept_from(unit)
            if nodes:
                for state in unit.states:
                    found.update(
                        dict.fromkeys(
                            ((state.key, i) for i in range(len(state.leaves))), nodes
                        )
                    )
        return found

    def _firm_ones(self) -> frozenset[str]:
        """
        Name the first few in line of all heads that are entitled or long overdue.
        """
        waiting = self._problem.policy.waiting
        after = math.inf if waiting.firm_after is None else waiting.firm_after
        may = [
            u for u in self._units if passed_over(u) >= after or self._is_entitled(u)
        ]
        return frozenset(u.key for u in sorted(may, key=_by_rank)[: waiting.firm])

    def _kind(self, unit: Unit) -> object:
        """
        Give equal keys to units that are held back alike.
        """
        if unit.key in self._queues_of_head:
            return unit.key
        kind = unit_kind(self._problem.shapes, unit.states)
        return (kind, unit.states[0].gang.max_runtime, unit.band, unit.starts)

    def _kept_from(self, unit: Unit) -> tuple[int, ...]:
        """
        List the nodes that are held against a unit.
        """
        kind = self._kind(unit)
        if kind not in self._known:
            entitled = self._is_entitled(unit)
            against = [
                h for h in self._heads if self._is_held(h, unit, entitled=entitled)
            ]
            nodes = {node for head in against for node in head.nodes}
            self._known[kind] = tuple(sorted(nodes))
        return self._known[kind]

    def _is_held(self, head: Head, unit: Unit, *, entitled: bool) -> bool:
        """
        Tell whether a unit may not use what is held for a head.
        """
        if unit.key == head.key or (unit.starts and unit.band > head.band):
            return False
        if entitled and head.key not in self._firm:
            elsewhere = self._queues(unit).isdisjoint(self._queues_of_head[head.key])
            if elsewhere:
                return False
        time = self._run_time(unit)
        return time is None or head.start is None or not 0 < time <= head.start

    def _queues(self, unit: Unit) -> frozenset[str]:
        return frozenset(_queue_of(self._problem, state) for state in unit.states)

    def _run_time(self, unit: Unit) -> int | None:
        """
        Give how long a unit runs at most, where idle nodes may be used until then.
        """
        if self._problem.policy.waiting.idle == "hold":
            return None
        times = [state.gang.max_runtime for state in unit.states]
        known = [time for time in times if time is not None]
        return max(known) if len(known) == len(times) else None

    def _is_entitled(self, unit: Unit) -> bool:
        """
        Tell whether the fair share has room for a start, if it were the only one.
        """
        if not unit.starts or not self._problem.policy.has("entitled"):
            return False
        ledger = self._ledger
        charges = [
            (state, {r: needed(state, r) for r in ledger.named})
            for state in unit.states
        ]
        fits = ledger.entitle_all(charges)
        for state, charge in charges if fits else ():
            ledger.entitle(state, charge, -1)
        return fits
