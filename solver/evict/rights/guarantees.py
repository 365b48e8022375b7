"""
Guarantees: who may take up a quota that is not used, and what others use beyond theirs.
"""

from collections.abc import Iterable, Mapping, Sequence

from models.resources import Resources, add
from solver.problem.problem import Problem, Unit
from solver.problem.when_empty.never_starts import needed
from solver.shares.queue_tree import Amounts


def may_be_guaranteed(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether the quotas of its own queues would hold a unit by itself.

    Queues above them may still have to lose something first.
    """
    queues = problem.queues
    for state in unit.states:
        if state.gang.queue not in queues.queues:
            return False
        for name in queues.named:
            left = queues.guarantee_left(state.gang.queue, name)
            asked = needed(state, name)
            if asked and left is not None and asked > left:
                return False
    return bool(queues.named)


def is_beyond_quota(problem: Problem, queue: str) -> bool:
    """
    Tell whether a queue runs more of a resource than its quota.
    """
    queues = problem.queues
    return any(queues.beyond_quota(queue, name) for name in queues.named)


def share_excess(problem: Problem, queue: str, resource: str) -> int:
    """
    How much a queue runs above its fair share; negative below it.
    """
    running = problem.queues.running.get(queue, {}).get(resource, 0)
    return running - problem.shares.get(queue, {}).get(resource, 0)


def is_of_use(problem: Problem, queue: str) -> bool:
    """
    Tell whether guaranteed starts may take more from a queue than others may.
    """
    queues = problem.queues
    return any(
        queues.beyond_quota(above, name) > max(0, share_excess(problem, above, name))
        for above in queues.path(queue)
        for name in queues.named
    )


class Guarantees:
    """
    The starts that are guaranteed so far, and what they ask for below each queue.

    While it is ``hopeful``, enough may still leave inner queues; ``was_short`` says
    that somebody would have been guaranteed who was not, if it had been.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._starts: dict[str, list[tuple[Sequence[str], Resources]]] = {}
        self._below: Amounts = {}
        self._all: dict[str, int] = {}
        self.hopeful = self.was_short = False

    @property
    def names(self) -> frozenset[str]:
        """
        Name the units.
        """
        return frozenset(self._starts)

    def add(
        self, unit: Unit, asked: Mapping[str, Resources], released: Amounts
    ) -> None:
        """
        Count a start if the quotas hold it, beside what is released below queues.
        """
        self.insist(unit, asked)
        if not (self.hold(released) and all(x for x, _ in self._starts[unit.key])):
            self.remove(unit)

    def insist(self, unit: Unit, asked: Mapping[str, Resources]) -> None:
        """
        Count a start of which it is known already.
        """
        rows = [
            (self.problem.queues.path(state.gang.queue), asked[state.key])
            for state in unit.states
        ]
        self._count(rows, 1)
        self._starts[unit.key] = rows

    def remove(self, unit: Unit) -> None:
        """
        Count a start no more.
        """
        self._count(self._starts.pop(unit.key, []), -1)

    def hold(self, released: Amounts) -> bool:
        """
        Tell whether they are within the quotas of all queues.
        """
        return all(self._is_within(queue, released) for queue in self._below)

    def elsewhere(self, queue: str, name: str) -> int:
        """
        Give what they ask for outside a queue.
        """
        return self._all.get(name, 0) - self._below.get(queue, {}).get(name, 0)

    def _count(
        self, rows: Iterable[tuple[Sequence[str], Resources]], sign: int
    ) -> None:
        for path, amounts in rows:
            add(self._all, amounts, sign)
            for queue in path:
                add(self._below.setdefault(queue, {}), amounts, sign)

    def _is_within(self, queue: str, released: Amounts) -> bool:
        queues = self.problem.queues
        inner = queue in queues.parents
        for name in queues.named:
            left = queues.guarantee_left(queue, name)
            taken = self._below.get(queue, {}).get(name, 0)
            more = released.get(queue, {}).get(name, 0) if inner else 0
            fits = left is None or not taken or taken <= left + more
            if not fits and not (inner and self.hopeful):
                self.was_short |= inner
                return False
        return True
