"""
Budgets, and the policy's bounds on pods, gangs and moves, counted as units leave.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from models.plan import Rule
from solver.evict.rights.leaving_sums import Leaver
from solver.problem.node_room import MANY
from solver.problem.problem import Problem

EVICTS: tuple[Rule, ...] = ("reclaim", "preempt")
"""
The rules by which work is evicted, and not only moved.
"""

MOVED: Rule = "consolidate"


class StillMayLeave(NamedTuple):
    """
    How many pods and gangs may still be evicted and pods be moved, as far as bounds go.

    Of ``begun`` gangs some pod is evicted already.
    """

    pods: int
    gangs: int
    moves: int
    begun: frozenset[str]


class PolicyBounds:
    """
    What has left in all, and whether that is within what the policy allows.
    """

    def __init__(self, problem: Problem) -> None:
        self._evict = problem.policy.evict
        self._allowed = [budget.allowed for budget in problem.snapshot.budgets]
        self._evicted = self._moved = 0
        self._gangs: Counter[str] = Counter()
        self._budgets: Counter[int] = Counter()

    def add(self, leaver: Leaver, gangs: Iterable[str], times: int) -> None:
        """
        Count so many units of some gangs that leave like this one, or that stay.
        """
        if leaver.rule == MOVED:
            self._moved += times * leaver.pods
        else:
            self._evicted += times * leaver.pods
            for gang in gangs:
                self._gangs[gang] += 1 if times > 0 else -1
                if not self._gangs[gang]:
                    del self._gangs[gang]
        for budget in leaver.budgets:
            self._budgets[budget] += times * leaver.pods

    def left(self) -> StillMayLeave:
        """
        Give what of the policy's bounds is not used up.
        """
        rows = self._used()
        pods, gangs, moves = (MANY if most is None else most - n for most, n in rows)
        return StillMayLeave(pods, gangs, moves, frozenset(self._gangs))

    def hold(self, leaver: Leaver) -> bool:
        """
        Tell whether the bounds hold, and the budgets of one that leaves.
        """
        return all(most is None or n <= most for most, n in self._used()) and all(
            self._budgets[at] <= self._allowed[at] for at in leaver.budgets
        )

    def _used(self) -> tuple[tuple[int | None, int], ...]:
        """
        Give the bounds on pods, gangs and moves, each with what is used of it.
        """
        evict = self._evict
        return (
            (evict.max_pods, self._evicted),
            (evict.max_gangs, len(self._gangs)),
            (evict.max_moves, self._moved),
        )
