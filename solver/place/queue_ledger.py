"""
The ledger: what queues may still take, kept while a draft grows.
"""

from collections.abc import Mapping, Sequence

from models.resources import Resources
from solver.problem.gang_state import Standing
from solver.problem.pod_shapes import Row
from solver.problem.problem import Problem, Step
from solver.shares.queue_tree import QueueTree

Charge = Mapping[str, int]


class Ledger:
    """
    Room left under limits, quotas and fair shares, per queue and named resource.
    """

    def __init__(self, problem: Problem) -> None:
        queues = problem.queues
        self.named = queues.named
        self.limit: dict[str, dict[str, int]] = {}
        self.quota: dict[str, dict[str, int]] = {}
        self.share: dict[str, dict[str, int]] = {}
        for name in queues.queues:
            limits = {r: queues.limit_left(name, r) for r in self.named}
            quotas = {r: queues.quota_left(name, r) for r in self.named}
            self.limit[name] = {r: n for r, n in limits.items() if n is not None}
            self.quota[name] = {r: n for r, n in quotas.items() if n is not None}
            self.share[name] = {
                r: queues.share_left(problem.shares, name, r) for r in self.named
            }
        self._tables: dict[tuple[str, bool], list[dict[str, int]]] = {}
        self._shares: dict[str, list[dict[str, int]]] = {}
        self._inner: dict[str, dict[str, dict[str, int]]] = {}
        # For those that borrow others leave room, and no share.
        self._gaining = {*queues.parents} if problem.step is not Step.BORROWING else ()
        self._open_tables(queues)
        self._rows = problem.shapes.charges

    def _open_tables(self, queues: QueueTree) -> None:
        for name in self.limit:
            above = queues.path(name)
            limits = [self.limit[q] for q in above if self.limit[q]]
            quotas = [self.quota[q] for q in above if self.quota[q]]
            self._tables[name, True] = limits
            self._tables[name, False] = limits + quotas
            self._shares[name] = [self.share[q] for q in above]
            inner = (q for q in above if q in self._gaining)
            self._inner[name] = {q: self.share[q] for q in inner}

    def charge_of(self, state: Standing, counts: Mapping[int, int]) -> Charge:
        """
        Add up the named resources of some pods, by leaf.
        """
        total: dict[str, int] = {}
        for leaf, count in counts.items():
            for r, amount in self._row(state, leaf):
                total[r] = total.get(r, 0) + amount * count
        return total

    def _row(self, state: Standing, leaf: int) -> Row:
        requests = state.leaves[leaf].pod_set.requests
        known = self._rows.get(id(requests))
        if known is None:
            row = tuple((r, n) for r in self.named if (n := requests.get(r, 0)))
            known = self._rows[id(requests)] = (requests, row)
        return known[1]

    def most(self, state: Standing, leaf: int, count: int) -> int:
        """
        Say how many of some pods limits, and quotas of fixed work, leave room for.
        """
        row = self._row(state, leaf)
        for table in self._tables.get((state.gang.queue, state.gang.preemptible), ()):
            for r, amount in row:
                if r in table and table[r] < amount * count:
                    count = max(0, table[r]) // amount
        return count

    def take(self, state: Standing, leaf: int, count: int) -> None:
        """
        Book pods of a leaf, or give them back where negative.
        """
        row = self._row(state, leaf)
        for table in self._tables.get((state.gang.queue, state.gang.preemptible), ()):
            for r, amount in row:
                if r in table:
                    table[r] -= amount * count

    def give(self, queue: str, amounts: Resources, sign: int = 1) -> None:
        """
        Give what a queue held under limits to others on its path, or take it back.
        """
        for table in self._tables.get((queue, True), ()):
            for r, amount in amounts.items():
                if r in table:
                    table[r] += sign * amount

    def give_share(self, queue: str, amounts: Resources, sign: int = 1) -> None:
        """
        Let what leaves below inner queues count as room in their shares, or no longer.
        """
        for share in self.inner_shares(queue).values():
            for r in share:
                share[r] += sign * amounts.get(r, 0)

    def inner_shares(self, queue: str) -> Mapping[str, dict[str, int]]:
        """
        Give what is left of each inner queue's share that grows by who leaves below it.
        """
        return self._inner.get(queue, {})

    def lend(self, limits: Mapping[tuple[str, str], int], sign: int = 1) -> None:
        """
        Raise some limits, as room for who has no places yet, or lower them again.
        """
        for (queue, r), amount in limits.items():
            self.limit[queue][r] += sign * amount

    def count_later(self, problem: Problem) -> None:
        """
        Count limits as they will be once reserved pods have come and others have gone.

        Of limits, and of the shares of inner queues, count how far they are exceeded.
        """
        queues = problem.queues
        for queue, row in self.limit.items():
            for r in row:
                now = queues.limit_left(queue, r)
                later = queues.limit_left_later(queue, r)
                row[r] += (later or 0) - (now or 0)
        for queue in sorted(queues.parents & self.share.keys()):
            row = self.share[queue]
            for r in row:
                row[r] += min(0, queues.claim_left(problem.shares, queue, r))

    def entitles(self, state: Standing, charge: Charge) -> bool:
        """
        Tell whether a core fits into what is left of the fair share on its path.
        """
        return all(
            amount <= share[r]
            for share in self._shares.get(state.gang.queue, ())
            for r, amount in charge.items()
            if amount
        )

    def entitle_all(self, charges: Sequence[tuple[Standing, Charge]]) -> bool:
        """
        Book cores that start together against the fair share: all of them or none.
        """
        for at, (state, charge) in enumerate(charges):
            if not self.entitles(state, charge):
                for booked, paid in charges[:at]:
                    self.entitle(booked, paid, -1)
                return False
            self.entitle(state, charge)
        return True

    def entitle(self, state: Standing, charge: Charge, sign: int = 1) -> None:
        """
        Book a core against the fair share.
        """
        for share in self._shares.get(state.gang.queue, ()):
            for r, amount in charge.items():
                share[r] -= sign * amount
