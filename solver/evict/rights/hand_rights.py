"""
Rights by hand: what may still leave, counted unit by unit while starts are added.

It keeps the sums behind the rules of reclaim and preempt and the policy's bounds; every
unit that it lets go may be taken back.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from models.resources import Resources, add
from solver.evict.rights.exit_batches import batches_of
from solver.evict.rights.guarantees import Guarantees
from solver.evict.rights.leaving_sums import Leaver, Preempted
from solver.evict.rights.policy_bounds import EVICTS, PolicyBounds
from solver.evict.rights.reclaimed import Reclaimed
from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import Exit
from solver.problem.problem import Problem, Step, Unit
from solver.shares.queue_tree import Amounts


class HandRights:
    """
    Who may still leave, given all starts so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._claims = problem.step is Step.ENTITLED
        self._reclaimed = Reclaimed(problem)
        self._preempted = Preempted()
        self.in_step = Preempted()
        self._starts_below: Counter[str] = Counter()
        self._paths: dict[str, Sequence[str]] = {}
        self._gone: Amounts = {}
        self.bounds = PolicyBounds(problem)
        self._is_now = False
        self._take_frozen()
        self._is_now = True

    @property
    def guarantees(self) -> Guarantees:
        """
        The starts for which a queue may lose of its share.
        """
        return self._reclaimed.guarantees

    def path(self, queue: str) -> Sequence[str]:
        """
        List a queue and all above it.
        """
        if queue not in self._paths:
            self._paths[queue] = self.problem.queues.path(queue)
        return self._paths[queue]

    # --- starts -------------------------------------------------------------------

    def start(
        self,
        unit: Unit,
        counts: Mapping[str, Mapping[int, int]],
        *,
        entitled: bool,
        guaranteed: bool | None = None,
        sign: int = 1,
    ) -> None:
        """
        Count a start, or take it back, with so many pods per gang and leaf.

        Where nobody says whether it is guaranteed, it is if the quotas hold it.
        """
        each = {s.key: asked_of(s, counts[s.key]) for s in unit.states}
        if sign < 0:
            self.guarantees.remove(unit)
        elif guaranteed:
            self.guarantees.insist(unit, each)
        elif guaranteed is None and entitled and self._claims:
            self.guarantees.add(unit, each, self._released())
        for state in unit.states:
            queue = self.problem.queues.leaf(state.gang.queue)
            self._start(queue, unit.band, each[state.key], sign, entitled=entitled)

    def start_all(self, units: Iterable[Unit], draft: Draft) -> None:
        """
        Count starts as a draft has them, those that ask for the same at one go.
        """
        batches: Counter[tuple[str, int, bool, tuple[tuple[str, int], ...]]] = Counter()
        for unit in units:
            each = {s.key: asked_of(s, draft.places[s.key].counts) for s in unit.states}
            if unit.key in draft.guaranteed:
                self.guarantees.insist(unit, each)
            for state in unit.states:
                asked = tuple(each[state.key].items())
                queue = self.problem.queues.leaf(state.gang.queue)
                batches[queue, unit.band, unit.key in draft.entitled, asked] += 1
        for (queue, band, entitled, asked), number in batches.items():
            self._start(queue, band, dict(asked), number, entitled=entitled)

    def _start(
        self, queue: str, band: int, asked: Resources, times: int, *, entitled: bool
    ) -> None:
        self._preempted.start(queue, band, asked, times)
        if self._is_now and entitled == self._claims:
            self.in_step.start(queue, band, asked, times)
        for above in self.path(queue):
            self._starts_below[above] += times
        if entitled:
            self._reclaimed.start(self.path(queue), asked, times)

    def has_starts(self, queue: str) -> bool:
        """
        Tell whether anything starts below a queue.
        """
        return self._starts_below[queue] > 0

    def is_claimed(self, queue: str, name: str) -> bool:
        """
        Tell whether entitled starts below a queue ask for a resource.
        """
        return self._reclaimed.is_claimed(queue, name)

    def hold(self) -> bool:
        """
        Tell whether all that was let go may go, whoever has started since.
        """
        return (
            self._reclaimed.holds()
            and all(map(self._preempted.may_lose, self._preempted.queues))
            and all(map(self.in_step.may_lose, self.in_step.queues))
        )

    def keep_quotas(
        self, leaver: Leaver | None = None, less: Resources | None = None
    ) -> bool:
        """
        Tell whether guaranteed starts are within quotas, also if one stays after all.
        """
        released = self._released() if self.guarantees.names else {}
        for queue in self.path(leaver.queue) if leaver and less else ():
            add(released.get(queue, {}), less or {}, -1)
        return self.guarantees.hold(released)

    def _released(self) -> Amounts:
        """
        Give what is evicted below each inner queue.
        """
        parents = self.problem.queues.parents
        return {q: dict(row) for q, row in self._gone.items() if q in parents}

    # --- who leaves ---------------------------------------------------------------

    def take(self, leaver: Leaver) -> bool:
        """
        Let a unit go if it may; say whether it does.
        """
        self.add(leaver, 1)
        if self._is_right(leaver) and self.bounds.hold(leaver):
            return True
        self.add(leaver, -1)
        return False

    def add(self, leaver: Leaver, sign: int) -> None:
        """
        Count a unit that leaves, or one that stays after all.
        """
        self._lose(leaver, [leaver.gang], sign)

    def _lose(self, leaver: Leaver, gangs: Iterable[str], times: int) -> None:
        """
        Count so many units of which each leaves like this one.
        """
        self.bounds.add(leaver, gangs, times)
        for queue in self.path(leaver.queue) if leaver.rule in EVICTS else ():
            add(self._gone.setdefault(queue, {}), leaver.parts.amounts, times)
        if leaver.rule == "preempt":
            self._preempted.add(leaver, times)
            if self._is_now:
                self.in_step.add(leaver, times)
        elif leaver.rule == "reclaim":
            self._reclaimed.lose(self.path(leaver.queue), leaver.parts, times)

    def _is_right(self, leaver: Leaver) -> bool:
        if leaver.rule == "reclaim":
            return all(map(self._reclaimed.may_lose, self.path(leaver.queue)))
        return leaver.rule != "preempt" or (
            self._preempted.may_lose(leaver.queue)
            and self.in_step.may_lose(leaver.queue)
        )

    # --- what earlier steps decided -------------------------------------------------

    def _take_frozen(self) -> None:
        frozen = self.problem.frozen
        entitled, guaranteed = frozen.entitled, frozen.guaranteed
        draft = Draft(frozen.places, entitled, guaranteed=guaranteed)
        self.start_all(frozen.units, draft)
        self.leave(frozen.exits)

    def losing_share(self) -> frozenset[str]:
        """
        Name the leaf queues of which something is reclaimed for guaranteed starts only.
        """
        short = self._reclaimed.losing_share()
        queues = self._reclaimed.queues
        return frozenset(q for q in queues if short.intersection(self.path(q)))

    def leave(self, exits: Iterable[Exit]) -> None:
        """
        Count pods that leave.
        """
        for leaver, gangs in batches_of(self.problem, exits):
            self._lose(leaver, gangs, len(gangs))


def asked_of(state: Standing, counts: Mapping[int, int]) -> dict[str, int]:
    """
    Add up what so many pods of each leaf ask for.
    """
    total: dict[str, int] = {}
    for i, count in counts.items():
        add(total, state.leaves[i].pod_set.requests, count)
    return total
