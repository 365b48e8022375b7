"""
Who may still start in plans that are equal so far, whoever leaves: by adding up GPUs.

Where all start who may, they start in every such plan, and hold their GPUs.  Those who
leave for entitled starts free no more GPUs than they are worth.  Who needs more than
what is left starts in none.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.gangs import PodPhase, pod_sets
from models.resources import GPU
from solver.problem.problem import Problem, Unit
from solver.problem.running_domains import staying
from solver.problem.when_empty.never_starts import needed
from solver.score.reserved_pods import least_kept
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import trivial_bound


class StillPossible:
    """
    A round before anything was chosen, and what plans that are equal so far may start.

    ``units`` are those that start in some of them; of the ``rest`` not all do.
    ``gpus`` is the most GPUs there may be for these, None where no sum bounds it.
    """

    def __init__(self, bare: Problem) -> None:
        self.bare = bare
        self.units = bare.units
        self.rest = bare.units
        self.gpus: int | None = None

    def among(self, problem: Problem) -> Problem:
        """
        Leave out of a round who starts in no plan that is equal so far.
        """
        keys = {unit.key for unit in self.units}
        units = tuple(unit for unit in problem.units if unit.key in keys)
        return replace(problem, units=units)

    def bound(self, key: TierKey) -> int:
        """
        Give a bound of the next tier that holds whatever is evicted and reserved.
        """
        counted = self.rest if key.name == "borrowing" else self.units
        problem = replace(self.bare, units=counted)
        if key.name == "packing" and not any(unit.starts for unit in self.rest):
            return least_kept(problem)
        return widest_bound(problem, key)

    def take(self, key: TierKey, value: int) -> bool:
        """
        Take in that plans are equal in the next tier; tell whether none is better.
        """
        is_widest = value == self.bound(key)
        if key.name == "disruption-size":
            started = {unit.key for unit in self.units} - {u.key for u in self.rest}
            self.gpus = _gpus_at_most(self.bare, value)
            self._hold([unit for unit in self.units if unit.key in started])
        elif is_widest and key.name in {"entitled", "borrowing"}:
            sure = [unit for unit in self.rest if _starts_by(self.bare, unit, key)]
            keys = {unit.key for unit in sure}
            self.rest = tuple(unit for unit in self.rest if unit.key not in keys)
            self._hold(sure)
        return is_widest

    def _hold(self, sure: Sequence[Unit]) -> None:
        """
        Let some start for sure, and leave out who needs more GPUs than are left.
        """
        if self.gpus is None:
            return
        self.gpus -= sum(map(_gpus_needed, sure))
        large = {
            unit.key
            for unit in self.rest
            if unit.starts and _gpus_needed(unit) > self.gpus
        }
        self.rest = tuple(unit for unit in self.rest if unit.key not in large)
        self.units = tuple(unit for unit in self.units if unit.key not in large)


def widest_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that holds whatever is evicted and reserved.

    The ``problem`` is the round before anything was frozen.
    """
    match key.name:
        case name if name in LOSSES:
            return 0
        case "entitled":
            mine = tuple(u for u in problem.units if _may_be_entitled(problem, u))
            return trivial_bound(replace(problem, units=mine), key)
        case "topology":
            return trivial_bound(staying(problem), key)
        case _:
            return trivial_bound(problem, key)


def _may_be_entitled(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether the fair share of its leaf queue holds what a unit needs.

    Queues above it may have to lose something, and then have room.
    """
    queues = problem.queues
    return all(
        needed(state, name) <= queues.share_left(problem.shares, queue, name)
        for state in unit.states
        for queue in [state.gang.queue]
        if queue in queues.queues
        for name in queues.named
    )


def _starts_by(problem: Problem, unit: Unit, key: TierKey) -> bool:
    """
    Tell whether a unit starts where all of a band do who may, by right or borrowing.
    """
    return (
        unit.starts
        and unit.band == key.band
        and (key.name == "borrowing" or _may_be_entitled(problem, unit))
    )


def _gpus_needed(unit: Unit) -> int:
    return sum(needed(state, GPU) for state in unit.states)


def _gpus_at_most(problem: Problem, lost: int) -> int | None:
    """
    Add up the GPUs there may be for starts, where so much leaves for entitled ones.

    Who is moved takes as many as it frees.  Where GPUs have parts, or were lent, no sum
    bounds it.
    """
    room, policy = problem.room, problem.policy
    if room.parts is not None or GPU not in room.resources:
        return None
    if policy.lends(borrowing=True):
        return None
    at = room.resources.index(GPU)
    tables = (room.now, room.later, room.after)
    free = np.max([table[:, at] for table in tables], axis=0)
    evicted = lost // problem.values.of_pod({GPU: 1})
    return int(free.clip(0).sum()) + evicted + _gpus_outranked(problem)


def _gpus_outranked(problem: Problem) -> int:
    """
    Add up the GPUs of those who may be preempted for starts that borrow.
    """
    if not (problem.policy.evicts(borrowing=True) and problem.policy.evict.preempt):
        return 0
    top: dict[str, int] = {}
    for unit in problem.units:
        for state in unit.states if unit.starts else ():
            queue = problem.queues.leaf(state.gang.queue)
            top[queue] = max(unit.band, top.get(queue, -1))
    return sum(
        leaf.requests.get(GPU, 0) * sum(x.phase is PodPhase.RUNNING for x in leaf.pods)
        for gang in problem.gangs.values()
        if (queue := problem.queues.leaf(gang.queue)) in top
        and problem.bands.of(gang.priority) < top[queue]
        for leaf in pod_sets(gang.tree)
    )
