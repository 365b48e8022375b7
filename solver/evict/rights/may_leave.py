"""
Permissions: by which rules work may leave, as starters, queues and run times allow.
"""

from dataclasses import dataclass

from models.eviction_bounds import spared_for
from models.gangs import Gang, pod_sets
from models.plan import Rule
from models.policy import Policy
from models.queues import least_runtimes
from solver.evict.rights.guarantees import (
    is_beyond_quota,
    may_be_guaranteed,
    share_excess,
)
from solver.problem.eligibility import gets_no_place, takes_no_work
from solver.problem.problem import Problem, Step


@dataclass(frozen=True, slots=True)
class Rights:
    """
    By which rules something may leave.
    """

    reclaim: bool = False
    preempt: bool = False
    move: bool = False

    def __bool__(self) -> bool:
        """
        Tell whether it may leave at all.
        """
        return self.reclaim or self.preempt or self.move

    def rules(self) -> list[Rule]:
        """
        List the rules.
        """
        pairs: list[tuple[Rule, bool]] = [
            ("reclaim", self.reclaim),
            ("preempt", self.preempt),
            ("consolidate", self.move),
        ]
        return [rule for rule, may in pairs if may]

    def __and__(self, other: "Rights") -> "Rights":
        """
        Keep the rules that both allow.
        """
        return Rights(
            self.reclaim and other.reclaim,
            self.preempt and other.preempt,
            self.move and other.move,
        )


@dataclass(frozen=True, slots=True)
class _Runtimes:
    """
    How long work of a queue must have run before each rule may touch it.
    """

    reclaim: int
    preempt: int

    def passed(self, seconds: int) -> tuple[bool, bool]:
        """
        Tell whether a pod that has run for so long has passed each.
        """
        return seconds >= self.reclaim, seconds >= self.preempt

    def rights(self, seconds: int) -> Rights:
        """
        Tell what may be done to a pod that has run for so long.
        """
        reclaim, preempt = self.passed(seconds)
        return Rights(reclaim, preempt, reclaim and preempt)


class Permissions:
    """
    What may be done to running work for the starters of a step.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.policy: Policy = problem.policy
        self._known: dict[object, Rights] = {}
        self._queues: dict[str, tuple[bool, bool, set[str], _Runtimes]] = {}
        self._decided = problem.frozen.decided
        self._needed = _needed(problem)
        starters = [unit for unit in problem.units if unit.starts]
        leaf = problem.queues.leaf
        self._starters = {leaf(s.gang.queue) for u in starters for s in u.states}
        self._claimants = {
            leaf(state.gang.queue)
            for unit in starters
            if may_be_guaranteed(problem, unit)
            for state in unit.states
        }
        self._top: dict[str, int] = {}
        for unit in starters:
            for state in unit.states:
                queue = leaf(state.gang.queue)
                self._top[queue] = max(self._top.get(queue, -1), unit.band)
        moves = self.policy.evict.max_moves
        left = moves is None or moves > sum(
            one.rule == "consolidate" for one in problem.frozen.exits
        )
        self._moves = self.policy.evict.consolidate and left
        gangs = problem.snapshot.gangs
        grouped = self._moves and any(gang.mates for gang in gangs)
        self._lists = {gang.key: gang.mates for gang in gangs} if grouped else {}

    def may_leave(self, gang: Gang) -> bool:
        """
        Tell whether a gang is not decided yet, and long enough there.
        """
        if self._needed and not all(
            self._needed.isdisjoint(leaf.neighbours.selected)
            for leaf in pod_sets(gang.tree)
        ):
            return False
        if spared_for(gang, self.policy.evict) > 0:
            return False
        return not self._decided or gang.key not in self._decided

    def of(self, gang: Gang, seconds: int) -> Rights:
        """
        Tell what the starters, the queue and the run time allow.
        """
        queue = self.problem.queues.leaf(gang.queue)
        above, closed, full, runtimes = self._of_queue(queue)
        moves = self._moves and not closed and not gets_no_place(gang, self._lists)
        moves &= all(full.isdisjoint(x.requests) for x in pod_sets(gang.tree) if full)
        key = (queue, gang.priority, moves, *runtimes.passed(seconds))
        rights = self._known.get(key)
        if rights is None:
            band = self.problem.bands.of(gang.priority)
            outranked = self._top.get(queue, -1) > band
            preempt = outranked and self.policy.evict.preempt
            rights = Rights(above, preempt, moves) & runtimes.rights(seconds)
            self._known[key] = rights
        return rights

    def _of_queue(self, queue: str) -> tuple[bool, bool, set[str], _Runtimes]:
        """
        Tell whether others may reclaim from a queue, and whether it takes no work.

        The last are of what it holds more than its limits, and its min runtimes.
        """
        known = self._queues.get(queue)
        if known is None:
            queues = self.problem.queues
            above = queues.path(queue)
            path = [queues.queues[name] for name in above]
            times = _Runtimes(*least_runtimes(queues.queues, above))
            closed = takes_no_work(queue, queues)
            full = {r for q in path for r in q.resources if queues.is_over(q.name, r)}
            known = self._queues[queue] = self._is_above(queue), closed, full, times
        return known

    def _is_above(self, queue: str) -> bool:
        if self.problem.step is not Step.ENTITLED or not self.policy.evict.reclaim:
            return False
        if not self._starters - {queue}:
            return False
        if self._claimants - {queue} and is_beyond_quota(self.problem, queue):
            return True
        return any(
            share_excess(self.problem, queue, name) > 0
            for name in self.problem.queues.named
        )


def _needed(problem: Problem) -> set[str]:
    """
    Name the pods that gangs are near to, or spread among, that have their places.
    """
    said = [
        leaf.pod_set.neighbours
        for key in (*problem.frozen.places, *problem.frozen.bound)
        for leaf in problem.states[key].leaves
    ]
    near = {one.near.pods for one in said if one.near}
    return near | {rule.pods for one in said for rule in one.spread}
