"""
The books: what queues use, what they may still take, and their fair shares.
"""

from collections.abc import Mapping, Sequence

from models.queues import Queue, queues_above
from models.resources import Resources, add
from solver import fair_shares, with_memory

Shares = Mapping[str, Mapping[str, int]]


class Books:
    """
    Use by queue, kept while pods come and go.

    ``limits`` has what each queue may still take on its path, ``quotas`` what work may
    have there at most that is not preemptible.
    """

    def __init__(
        self,
        queues: Sequence[Queue],
        totals: Resources,
        half_life: int | None = None,
    ) -> None:
        self._half_life = half_life
        self.queues = {queue.name: queue for queue in queues}
        self.named = sorted({r for queue in queues for r in queue.resources})
        self._totals = {r: totals.get(r, 0) for r in self.named}
        self.used: dict[str, dict[str, int]] = {name: {} for name in self.queues}
        self._left = {
            name: {
                r: rule.limit
                for r, rule in queue.resources.items()
                if rule.limit is not None
            }
            for name, queue in self.queues.items()
        }
        self.limits = {
            name: [self._left[q] for q in self._path(name) if self._left[q]]
            for name in self.queues
        }
        self.quotas = {
            name: [self._quotas(self.queues[q]) for q in self._path(name)]
            for name in self.queues
        }

    def _quotas(self, queue: Queue) -> dict[str, int]:
        quotas = {r: queue.rule(r).quota for r in self.named}
        return {r: quota for r, quota in quotas.items() if quota is not None}

    def _path(self, name: str) -> Sequence[str]:
        return queues_above(self.queues, name)

    def take(self, queue: str, requests: Resources, count: int = 1) -> None:
        """
        Book pods on a queue, or give them back where negative.
        """
        if queue not in self.queues:
            return
        add(self.used[queue], requests, count)
        for table in self.limits[queue]:
            for r, amount in requests.items():
                if r in table:
                    table[r] -= amount * count

    def shares(self, waiting: Mapping[str, Resources]) -> Shares:
        """
        Divide the cluster, as every round does, by what runs and what waits.
        """
        if not self.queues:
            return {}
        requested: dict[str, dict[str, int]] = {}
        for name, used in self.used.items():
            row = dict(used)
            add(row, waiting.get(name, {}))
            requested[name] = row
        queues = with_memory([*self.queues.values()], self._half_life)
        return fair_shares(queues, self._totals, requested)

    def know(self, queues: Sequence[Queue]) -> None:
        """
        Take the same queues with what they have used so far.
        """
        self.queues = {queue.name: queue for queue in queues}

    def beyond_quotas(self) -> Shares:
        """
        Give what each queue uses now, with all below it, beyond its quota.
        """
        used: dict[str, dict[str, int]] = {name: {} for name in self.queues}
        for name, row in self.used.items():
            for above in self._path(name):
                add(used[above], row)
        return {
            name: {
                r: more
                for r in self.named
                if (more := queue.rule(r).beyond(used[name].get(r, 0)))
            }
            for name, queue in self.queues.items()
        }
