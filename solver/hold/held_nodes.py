"""
Held nodes: who may not use what is held for heads.

What may not gets pod shapes of its own, which do not fit there; everything that places
pods obeys these as it obeys any shape.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from models.queues import least_runtimes
from solver.hold.heads import Head, by_rank
from solver.hold.lent_out import is_free_to_go, may_return
from solver.place.draft import Draft
from solver.place.queue_ledger import Ledger
from solver.problem.lateness import passed_over
from solver.problem.pod_shapes import kept_off
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import unit_kind
from solver.problem.when_empty.never_starts import needed
from solver.run_times.time_left import RunTimeForecast


def with_heads(problem: Problem, heads: Sequence[Head]) -> Problem:
    """
    Keep others off the nodes that are held for heads; the same where nobody is.
    """
    holding = [head for head in heads if head.nodes]
    if not holding:
        return problem
    shapes = kept_off(problem.shapes, _Holds(problem, holding).bans())
    return problem if shapes is problem.shapes else replace(problem, shapes=shapes)


def lent_by(
    problem: Problem, heads: Sequence[Head], draft: Draft
) -> dict[str, tuple[str, ...]]:
    """
    Name for each head the gangs that start on its nodes and leave again for it.
    """
    holding = [head for head in heads if head.nodes and head.likely]
    return _Holds(problem, holding).lent(draft) if holding else {}


def next_loan(problem: Problem, heads: Sequence[Head]) -> int | None:
    """
    Give the seconds until time alone may change to whom held nodes are lent.
    """
    holding = [head for head in heads if head.nodes]
    moments = _Holds(problem, holding).moments() if holding else iter(())
    return min((moment for moment in moments if moment > 0), default=None)


def surely_held(problem: Problem, heads: Sequence[Head]) -> Iterator[Head]:
    """
    Walk the heads whose nodes nobody else that waits may use once they are to start.
    """
    holding = [head for head in heads if head.nodes]
    holds, sure = _Holds(problem, holding), problem.policy.waiting.lend is None
    for head in holding if sure else ():
        others = (x for x in problem.units if x.key != head.key)
        if not any(holds.outranks(head, x, entitled=x.starts) for x in others):
            yield head


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
        self._lend = problem.policy.waiting.lend
        self._forecast = RunTimeForecast(problem.snapshot.run_times)
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

    def lent(self, draft: Draft) -> dict[str, tuple[str, ...]]:
        """
        Name for each head the gangs that start on its nodes and leave again for it.
        """
        found: dict[str, tuple[str, ...]] = {}
        for head in self._heads:
            nodes = frozenset(head.nodes)
            found[head.key] = tuple(
                unit.key
                for unit in self._problem.units
                if draft.starts(unit)
                and not nodes.isdisjoint(draft.places[unit.key].nodes)
                and self._is_lent(head, unit)
                and self._is_kept_off(head, unit, entitled=self._is_entitled(unit))
            )
        return {key: gangs for key, gangs in found.items() if gangs}

    def moments(self) -> Iterator[int]:
        """
        Walk the seconds until a head starts too soon for somebody, or soon enough.
        """
        problem, lent_for = self._problem, self._problem.policy.evict.lent_for
        times = {self._run_time(unit) for unit in problem.units}
        if problem.policy.lends(borrowing=True):
            named = {unit.states[0].gang.queue for unit in problem.units}
            queues, path = problem.queues.queues, problem.queues.path
            times |= {max(least_runtimes(queues, path(name))) for name in named}
            yield from (head.likely for head in self._heads)
            yield from (head.likely - lent_for for head in self._heads)
        for head in self._heads:
            until = head.likely if head.start is None else head.start
            yield from (until - time + 1 for time in times if time is not None)

    def _firm_ones(self) -> frozenset[str]:
        """
        Name the first few in line of all heads that are entitled or long overdue.
        """
        waiting = self._problem.policy.waiting
        after = math.inf if waiting.firm_after is None else waiting.firm_after
        may = [
            u for u in self._units if passed_over(u) >= after or self._is_entitled(u)
        ]
        return frozenset(u.key for u in sorted(may, key=by_rank)[: waiting.firm])

    def _kind(self, unit: Unit) -> object:
        """
        Give equal keys to units that are held back alike.
        """
        if unit.key in self._queues_of_head:
            return unit.key
        kind = unit_kind(self._problem.shapes, unit.states)
        gang = unit.states[0].gang
        goes = gang.evicted_ago is None and is_free_to_go(self._problem, gang)
        return (kind, self._run_time(unit), unit.band, unit.starts, goes)

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
        kept_off = self._is_kept_off(head, unit, entitled=entitled)
        return kept_off and not self._is_lent(head, unit)

    def _is_kept_off(self, head: Head, unit: Unit, *, entitled: bool) -> bool:
        """
        Tell whether a unit that stays may not use what is held for a head.
        """
        if unit.key == head.key or self.outranks(head, unit, entitled=entitled):
            return False
        time, until = self._run_time(unit), head.start
        if until is None and self._lend is not None:
            until = head.likely
        return time is None or until is None or not 0 < time <= until

    def outranks(self, head: Head, unit: Unit, *, entitled: bool) -> bool:
        """
        Tell whether a unit may use what is held for a head for as long as it likes.
        """
        if unit.starts and unit.band > head.band:
            return True
        of_head = self._queues_of_head[head.key]
        return (
            entitled
            and head.key not in self._firm
            and self._queues(unit).isdisjoint(of_head)
        )

    def _is_lent(self, head: Head, unit: Unit) -> bool:
        """
        Tell whether a unit may use what is held for a head, since it leaves again.
        """
        is_head = unit.key in self._queues_of_head
        if is_head or self._problem.policy.waiting.idle == "hold":
            return False
        until = head.likely if head.start is None else head.start
        return may_return(self._problem, unit, until)

    def _queues(self, unit: Unit) -> frozenset[str]:
        leaf = self._problem.queues.leaf
        return frozenset(leaf(state.gang.queue) for state in unit.states)

    def _run_time(self, unit: Unit) -> int | None:
        """
        Give how long a unit runs, where idle nodes may be used until then.

        That is at most, or with the certainty with which the policy lends them.
        """
        if self._problem.policy.waiting.idle == "hold":
            return None
        times = [state.gang.max_runtime for state in unit.states]
        if self._lend is not None:
            left = (self._forecast.of(state.gang) for state in unit.states)
            times = [each.within(self._lend) for each in left]
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
