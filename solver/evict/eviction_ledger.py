"""
Rights by hand: what may still leave, counted unit by unit while starts are added.

It keeps the sums behind the rules of reclaim and preempt and the policy's bounds; every
unit that it lets go may be taken back.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from models.gangs import Gang, PodSet
from models.plan import Rule
from models.resources import Resources, add
from solver.evict.cores import as_one, parts_of
from solver.evict.guarantees import Guarantees, share_excess
from solver.evict.leaving_sums import Leaver, Preempted, Sums
from solver.problem.gang_state import Standing, standing
from solver.problem.leaving_pods import Exit
from solver.problem.node_room import Places
from solver.problem.problem import Problem, Step, Unit
from solver.shares.queue_tree import Amounts

MOVED: Rule = "consolidate"


class HandRights:
    """
    Who may still leave, given all starts so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._named = problem.queues.named
        self._claims = problem.step is Step.ENTITLED
        self._reclaimed: dict[str, Sums] = {}
        self._preempted = Preempted()
        self.in_step = Preempted()
        self._entitled: dict[str, int] = {}
        self._entitled_below: dict[str, dict[str, int]] = {}
        self.guarantees = Guarantees(problem)
        self._starts_below: Counter[str] = Counter()
        self._paths: dict[str, Sequence[str]] = {}
        self._excess: dict[str, dict[str, int]] = {}
        self._evicted = self._moved = 0
        self._is_now = False
        self._gangs: Counter[str] = Counter()
        self._budgets: Counter[int] = Counter()
        self._take_frozen()
        self._is_now = True

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

    def start_all(
        self, starts: Iterable[tuple[Unit, bool, bool]], places: Mapping[str, Places]
    ) -> None:
        """
        Count starts that are decided, those that ask for the same at one go.

        Parameters
        ----------
        starts
            Units, whether they are entitled, and whether they are guaranteed.
        places
            Where the pods of their gangs lie.
        """
        batches: Counter[tuple[str, int, bool, tuple[tuple[str, int], ...]]] = Counter()
        for unit, entitled, guaranteed in starts:
            each = {s.key: asked_of(s, places[s.key].counts) for s in unit.states}
            if guaranteed:
                self.guarantees.insist(unit, each)
            for state in unit.states:
                asked = tuple(each[state.key].items())
                queue = self.problem.queues.leaf(state.gang.queue)
                batches[queue, unit.band, entitled, asked] += 1
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
                add(self._entitled_below.setdefault(above, {}), asked, times)
        if entitled:
            add(self._entitled, asked, times)

    def _released(self) -> Amounts:
        """
        Give what is reclaimed below each inner queue.
        """
        parents = self.problem.queues.parents
        return {q: row.total for q, row in self._reclaimed.items() if q in parents}

    def has_starts(self, queue: str) -> bool:
        """
        Tell whether anything starts below a queue.
        """
        return self._starts_below[queue] > 0

    def is_claimed(self, queue: str, name: str) -> bool:
        """
        Tell whether entitled starts below a queue ask for a resource.
        """
        return self._entitled_below.get(queue, {}).get(name, 0) > 0

    def hold(self) -> bool:
        """
        Tell whether all that was let go may go, whoever has started since.
        """
        return (
            all(self._may_lose(queue) for queue in self._reclaimed)
            and all(map(self._preempted.may_lose, self._preempted.queues))
            and all(map(self.in_step.may_lose, self.in_step.queues))
        )

    # --- who leaves ---------------------------------------------------------------

    def take(self, leaver: Leaver) -> bool:
        """
        Let a unit go if it may; say whether it does.
        """
        self.add(leaver, 1)
        if self._is_right(leaver) and self._is_within(leaver):
            return True
        self.add(leaver, -1)
        return False

    def add(self, leaver: Leaver, sign: int) -> None:
        """
        Count a unit that leaves, or one that stays after all.
        """
        self._lose(leaver, sign)
        if leaver.rule != MOVED:
            self._gangs[leaver.gang] += sign
            if not self._gangs[leaver.gang]:
                del self._gangs[leaver.gang]

    def _lose(self, leaver: Leaver, times: int) -> None:
        """
        Count so many units of which each leaves like this one.
        """
        if leaver.rule == MOVED:
            self._moved += times * leaver.pods
        else:
            self._evicted += times * leaver.pods
        for budget in leaver.budgets:
            self._budgets[budget] += times * leaver.pods
        if leaver.rule == "preempt":
            self._preempted.add(leaver, times)
            if self._is_now:
                self.in_step.add(leaver, times)
        elif leaver.rule == "reclaim":
            for queue in self.path(leaver.queue):
                self._reclaimed.setdefault(queue, Sums()).add(leaver.parts, times)

    def _is_right(self, leaver: Leaver) -> bool:
        if leaver.rule == "reclaim":
            return all(self._may_lose(queue) for queue in self.path(leaver.queue))
        return leaver.rule != "preempt" or (
            self._preempted.may_lose(leaver.queue)
            and self.in_step.may_lose(leaver.queue)
        )

    def _is_within(self, leaver: Leaver) -> bool:
        """
        Tell whether budgets and the policy's bounds hold.
        """
        evict = self.problem.policy.evict
        rows = (
            (evict.max_pods, self._evicted),
            (evict.max_gangs, len(self._gangs)),
            (evict.max_moves, self._moved),
        )
        budgets = self.problem.snapshot.budgets
        return all(most is None or number <= most for most, number in rows) and all(
            self._budgets[at] <= budgets[at].allowed for at in leaver.budgets
        )

    # --- reclaim ------------------------------------------------------------------

    def _may_lose(self, queue: str) -> bool:
        """
        Tell whether a queue was above its share before each unit reclaimed from it.
        """
        gone = self._reclaimed[queue]
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

    # --- what earlier steps decided -------------------------------------------------

    def _take_frozen(self) -> None:
        frozen = self.problem.frozen
        keys = [(unit, {state.key for state in unit.states}) for unit in frozen.units]
        self.start_all(
            [
                (unit, mine <= frozen.entitled, mine <= frozen.guaranteed)
                for unit, mine in keys
            ],
            frozen.places,
        )
        self.leave(frozen.exits)

    def losing_share(self) -> frozenset[str]:
        """
        Name the leaf queues of which something is reclaimed for guaranteed starts only.
        """
        held = self.guarantees
        self.guarantees = Guarantees(self.problem)
        short = {queue for queue in self._reclaimed if not self._may_lose(queue)}
        self.guarantees = held
        return frozenset(q for q in self._reclaimed if short.intersection(self.path(q)))

    def leave(self, exits: Iterable[Exit]) -> None:
        """
        Count pods that leave, those of one gang by one rule together.
        """
        parts: dict[tuple[str, Rule], list[Exit]] = {}
        for one in exits:
            parts.setdefault((one.gang, one.rule), []).append(one)
        batches: dict[Hashable, tuple[Leaver, list[str]]] = {}
        for (key, rule), some in parts.items():
            if rule == "stale":
                continue
            gang = self.problem.gangs[key]
            batch: Hashable = key, rule
            if isinstance(gang.tree, PodSet) and len(gang.tree.pods) == 1:
                batch = gang.queue, gang.priority, rule, *gang.tree.requests.items()
                if self.problem.snapshot.budgets:
                    batch = *batch, *self._budgets_of(key)
            if batch not in batches:
                batches[batch] = self._leaver(gang, rule, some), []
            batches[batch][1].append(key)
        for leaver, gangs in batches.values():
            self._lose(leaver, len(gangs))
            if leaver.rule != MOVED:
                self._gangs.update(gangs)

    def _leaver(self, gang: Gang, rule: Rule, exits: Sequence[Exit]) -> Leaver:
        if isinstance(gang.tree, PodSet) and len(gang.tree.pods) == 1:
            parts = as_one(gang.tree.requests)
        else:
            parts = parts_of(standing(gang), Counter(one.leaf for one in exits))
        return Leaver(
            gang=gang.key,
            queue=self.problem.queues.leaf(gang.queue),
            band=self.problem.bands.of(gang.priority),
            rule=rule,
            parts=parts,
            pods=len(exits),
            budgets=self._budgets_of(gang.key),
        )

    def _budgets_of(self, key: str) -> tuple[int, ...]:
        budgets = enumerate(self.problem.snapshot.budgets)
        return tuple(at for at, budget in budgets if key in budget.gangs)


def asked_of(state: Standing, counts: Mapping[int, int]) -> dict[str, int]:
    """
    Add up what so many pods of each leaf ask for.
    """
    total: dict[str, int] = {}
    for i, count in counts.items():
        add(total, state.leaves[i].pod_set.requests, count)
    return total
