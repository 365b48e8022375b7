"""
What is reclaimed of each queue, counted while starts and exits are added.

A queue may lose while it is above its share before each unit, or by what guaranteed
starts elsewhere ask for.
"""

from collections.abc import Iterable

from models.resources import Resources, add
from solver.evict.rights.cores import Parts
from solver.evict.rights.guarantees import Guarantees, share_excess
from solver.evict.rights.leaving_sums import Sums
from solver.problem.problem import Problem


class Reclaimed:
    """
    What leaves queues for those that are entitled, and what these ask for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.guarantees = Guarantees(problem)
        self._named = problem.queues.named
        self._sums: dict[str, Sums] = {}
        self._entitled: dict[str, int] = {}
        self._entitled_below: dict[str, dict[str, int]] = {}
        self._excess: dict[str, dict[str, int]] = {}

    def start(self, path: Iterable[str], asked: Resources, times: int) -> None:
        """
        Count entitled starts below some queues, or take them back.
        """
        for above in path:
            add(self._entitled_below.setdefault(above, {}), asked, times)
        add(self._entitled, asked, times)

    def lose(self, path: Iterable[str], parts: Parts, times: int) -> None:
        """
        Count what leaves some queues, or what stays after all.
        """
        for queue in path:
            self._sums.setdefault(queue, Sums()).add(parts, times)

    def is_claimed(self, queue: str, name: str) -> bool:
        """
        Tell whether entitled starts below a queue ask for a resource.
        """
        return self._entitled_below.get(queue, {}).get(name, 0) > 0

    def holds(self) -> bool:
        """
        Tell whether all queues may lose what they lose.
        """
        return all(map(self.may_lose, self._sums))

    def losing_share(self) -> set[str]:
        """
        Name the queues that may not lose as much but for guaranteed starts.
        """
        held = self.guarantees
        self.guarantees = Guarantees(self.problem)
        short = {queue for queue in self._sums if not self.may_lose(queue)}
        self.guarantees = held
        return short

    @property
    def queues(self) -> Iterable[str]:
        """
        Walk the queues of which something is reclaimed.
        """
        return self._sums

    def may_lose(self, queue: str) -> bool:
        """
        Tell whether a queue was above its share before each unit reclaimed from it.
        """
        gone = self._sums[queue]
        if not gone.number or queue in self.problem.queues.outside:
            return True
        is_leaf = queue not in self.problem.queues.parents
        if not is_leaf and not any(self._lost(queue, gone, r) for r in self._named):
            return True
        return any(
            gone.holds(name)
            and self._asked_outside(queue, name) > 0
            and self._is_above(queue, gone, name, is_leaf=is_leaf)
            for name in self._named
        )

    def _is_above(self, queue: str, gone: Sums, name: str, *, is_leaf: bool) -> bool:
        lost = gone.total.get(name, 0) if is_leaf else self._lost(queue, gone, name)
        before_last = lost - min(gone.largest(name), lost)
        excess = self._excess_of(queue, name)
        if before_last < excess:
            return True
        sure = self.guarantees.elsewhere(queue, name)
        beyond = self.problem.queues.beyond_quota(queue, name)
        return sure > 0 and before_last < min(beyond, max(0, excess) + sure)

    def _lost(self, queue: str, gone: Sums, name: str) -> int:
        """
        Give what leaves an inner queue: what is reclaimed less what starts within.
        """
        within = self._entitled_below.get(queue, {}).get(name, 0)
        beyond = gone.total.get(name, 0) - within
        return min(max(0, beyond), self._asked_outside(queue, name))

    def _asked_outside(self, queue: str, name: str) -> int:
        within = self._entitled_below.get(queue, {}).get(name, 0)
        return self._entitled.get(name, 0) - within

    def _excess_of(self, queue: str, name: str) -> int:
        if queue not in self._excess:
            self._excess[queue] = {
                name: share_excess(self.problem, queue, name) for name in self._named
            }
        return self._excess[queue][name]
