"""
Protection: whether a gang that is entitled waits only for work that may not leave.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.plan import TierResult
from models.reasons import Facts, Reason, Waiting
from solver.evict.freeze import refitted
from solver.evict.open_step import may_claim
from solver.evict.settled import is_settled
from solver.evict.victims import vacated, victims_of
from solver.place.place_gang import place_gang
from solver.place.workspace import Workspace
from solver.problem.never_starts import needed
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Step, Unit


class Protection:
    """
    What all that may leave would free, worked out when it is first asked for.
    """

    def __init__(self, problem: Problem, tiers: Sequence[TierResult]) -> None:
        self.problem = problem
        self.open = problem.policy.evicts(borrowing=False)
        self._closed = {
            tier.band
            for tier in tiers
            if tier.name == "entitled" and tier.value == tier.bound
        }
        self._settled = is_settled(problem.snapshot, problem.policy)
        self._work: Workspace | None = None
        self._empty: Workspace | None = None

    def reason(self, unit: Unit) -> Waiting | None:
        """
        Say that a unit is entitled and only protected work is in its way, if so.
        """
        if not self.open or not may_claim(self.problem, unit):
            return None
        vacated = self._vacated()
        if not _places(self._emptied(), unit):
            return None
        if _places(vacated, unit):
            label = self.problem.bands.labels.get(unit.band)
            proven = label in self._closed and not self.problem.frozen.entitled
            if self._settled or not proven:
                return Waiting(Reason.LOWER_TIER_OR_PRIORITY)
        return self._protected(unit, vacated)

    def _protected(self, unit: Unit, vacated: Workspace) -> Waiting:
        problem = self.problem
        best: tuple[float, Facts] | None = None
        rows = [
            problem.shapes.of_leaf[state.key, i]
            for state in unit.states
            for i in range(len(state.leaves))
        ]
        matching = problem.shapes.allowed[rows].any(axis=0)
        for column, resource in enumerate(problem.room.resources):
            needs = sum(needed(state, resource) for state in unit.states)
            if not needs:
                continue
            total, free = (
                int(table[matching, column].clip(min=0).sum())
                for table in (problem.room.empty, problem.room.free)
            )
            loose = int(vacated.stock.free[matching, column].clip(min=0).sum()) - free
            facts: Facts = {
                "resource": resource,
                "needs": needs,
                "free": free,
                "used": max(0, total - free - loose),
            }
            strain = needs / max(1, free)
            if best is None or strain > best[0]:
                best = (strain, facts)
        return Waiting(Reason.PREEMPTION_PROTECTED, best[1] if best else {})

    def _vacated(self) -> Workspace:
        """
        Give the room if all left that may for somebody who is entitled.
        """
        if self._work is None:
            waiting = tuple(unit for unit in self.problem.units if unit.starts)
            asked = replace(self.problem, units=waiting, step=Step.ENTITLED)
            later = replace(asked, room=replace(asked.room, free=asked.room.after))
            self._work = self._with_room(vacated(later, victims_of(asked)))
        return self._work

    def _emptied(self) -> Workspace:
        if self._empty is None:
            self._empty = self._with_room(self.problem.room.empty)
        return self._empty

    def _with_room(self, free: Ints) -> Workspace:
        room = replace(self.problem.room, free=np.maximum(free, self.problem.room.free))
        shapes = refitted(self.problem.shapes, room)
        return Workspace(replace(self.problem, room=room, shapes=shapes))


def _places(work: Workspace, unit: Unit) -> bool:
    mark = work.mark()
    done = all(place_gang(work, state) for state in unit.states)
    work.undo(mark)
    return done
