"""
The ledger: what queues may still take, kept while a draft grows.
"""

from collections.abc import Mapping

from models.resources import Resources, add
from solver.problem import Problem
from solver.standing import Standing

Charge = Mapping[str, int]


class Ledger:
    """
    Room left under limits, quotas and fair shares, per queue and named resource.
    """

    def __init__(self, problem: Problem) -> None:
        queues = problem.queues
        self.paths = {name: tuple(queues.path(name)) for name in queues.queues}
        self.named = queues.named
        self.limit: dict[tuple[str, str], int] = {}
        self.quota: dict[tuple[str, str], int] = {}
        self.share: dict[tuple[str, str], int] = {}
        for name in queues.queues:
            running = queues.running.get(name, {})
            for r in self.named:
                limit = queues.limit_left(name, r)
                quota = queues.quota_left(name, r)
                if limit is not None:
                    self.limit[name, r] = limit
                if quota is not None:
                    self.quota[name, r] = quota
                share = problem.shares.get(name, {}).get(r, 0)
                self.share[name, r] = max(0, share - running.get(r, 0))

    def charge_of(self, state: Standing, counts: Mapping[int, int]) -> Charge:
        """
        Add up the named resources of some pods, by leaf.
        """
        total: dict[str, int] = {}
        for leaf, count in counts.items():
            add(total, _only(state.leaves[leaf].pod_set.requests, self.named), count)
        return total

    def allows(self, state: Standing, charge: Charge) -> bool:
        """
        Tell whether limits, and quotas of non-preemptible work, leave room.
        """
        tables = [self.limit] if state.gang.preemptible else [self.limit, self.quota]
        return all(
            amount <= table.get((queue, r), amount)
            for queue in self.paths.get(state.gang.queue, ())
            for r, amount in charge.items()
            if amount
            for table in tables
        )

    def take(self, state: Standing, charge: Charge, sign: int = 1) -> None:
        """
        Book pods, or give them back with a sign of -1.
        """
        for queue in self.paths.get(state.gang.queue, ()):
            for r, amount in charge.items():
                if (queue, r) in self.limit:
                    self.limit[queue, r] -= sign * amount
                if not state.gang.preemptible and (queue, r) in self.quota:
                    self.quota[queue, r] -= sign * amount

    def entitles(self, state: Standing, charge: Charge) -> bool:
        """
        Tell whether a core fits into what is left of the fair share on its path.
        """
        return all(
            amount <= self.share[queue, r]
            for queue in self.paths.get(state.gang.queue, ())
            for r, amount in charge.items()
            if amount
        )

    def entitle(self, state: Standing, charge: Charge, sign: int = 1) -> None:
        """
        Book a core against the fair share.
        """
        for queue in self.paths.get(state.gang.queue, ()):
            for r, amount in charge.items():
                self.share[queue, r] -= sign * amount


def _only(requests: Resources, names: tuple[str, ...]) -> Resources:
    return {r: requests[r] for r in names if r in requests}
