"""
Queue arithmetic: usage, limits and quotas on the whole path to the root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.names import nearest
from models.queues import Queue
from models.resources import add
from models.snapshot import Snapshot
from solver.census import Census

Amounts = dict[str, dict[str, int]]
_MOST_NEAREST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTree:
    """
    The queues with what runs in them; ``named`` are the resources any of them names.
    """

    queues: Mapping[str, Queue]
    named: tuple[str, ...]
    running: Amounts
    fixed: Amounts
    own: Amounts = field(default_factory=dict)
    parents: frozenset[str] = frozenset()
    _nearest: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot, census: Census) -> "QueueTree":
        """
        Add up what runs, per queue and for every queue above it.
        """
        queues = {queue.name: queue for queue in snapshot.queues}
        named = tuple(sorted({r for q in snapshot.queues for r in q.resources}))
        own: Amounts = {}
        own_fixed: Amounts = {}
        if named:
            for (name, preemptible, kind), count in census.queues.items():
                requests = census.kinds[kind]
                add(own.setdefault(name, {}), requests, count)
                if not preemptible:
                    add(own_fixed.setdefault(name, {}), requests, count)
        tree = cls(
            queues=queues,
            named=named,
            running={},
            fixed={},
            own=own,
            parents=frozenset(q.parent for q in snapshot.queues if q.parent),
        )
        for source, target in ((own, tree.running), (own_fixed, tree.fixed)):
            for name, amounts in source.items():
                for above in tree.path(name):
                    add(target.setdefault(above, {}), amounts)
        return tree

    def path(self, name: str) -> Sequence[str]:
        """
        List a queue and all above it that exist, the queue first.
        """
        found: list[str] = []
        at: str | None = name
        while at is not None and at in self.queues and at not in found:
            found.append(at)
            at = self.queues[at].parent
        return found

    def nearest(self, name: str) -> str:
        """
        Give the queue that is called most like a name that none has; or nothing.
        """
        if name not in self._nearest and len(self._nearest) < _MOST_NEAREST:
            self._nearest[name] = nearest(name, self.queues)
        return self._nearest.get(name, "")

    def limit_left(self, queue: str, resource: str) -> int | None:
        """
        How much more of a resource a queue may hold; none is unlimited.
        """
        limit = self.queues[queue].rule(resource).limit
        if limit is None:
            return None
        return max(0, limit - self.running.get(queue, {}).get(resource, 0))

    def quota_left(self, queue: str, resource: str) -> int | None:
        """
        How much more non-preemptible work a queue may hold; none is unlimited.
        """
        quota = self.queues[queue].rule(resource).quota
        if quota is None:
            return None
        return max(0, quota - self.fixed.get(queue, {}).get(resource, 0))

    def requested(self, pending: Amounts) -> Amounts:
        """
        Add pending demand to what runs, per leaf queue.
        """
        total: Amounts = {name: dict(amounts) for name, amounts in self.own.items()}
        for name, amounts in pending.items():
            add(total.setdefault(name, {}), amounts)
        return total
