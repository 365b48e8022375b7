"""
Queue arithmetic: usage, limits and quotas on the whole path to the root.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from models.memory.aged_gangs import ages_of, still
from models.memory.census import Census
from models.names import nearest
from models.queues import Queue, queues_above
from models.resources import LARGEST_TOTAL, Resources, add
from models.snapshot import Snapshot
from solver.shares.kept_room import Outsiders, outsiders

Amounts = dict[str, dict[str, int]]
Shares = Mapping[str, Mapping[str, int]]
Table = Literal[
    "running", "fixed", "coming", "drift", "drift_fixed", "booked", "leaving"
]
_MOST_NEAREST = 100


_Entry = tuple[tuple[str, ...], tuple[tuple[str, int], ...], tuple[Table, ...]]
"""
Some queues, what each pod asks for, and the tables in which it is booked.
"""


class Booking:
    """
    The tables of some queues while pods come and go, each copied when it changes.

    Pods that ask for the same are added up before they are booked together.
    """

    def __init__(self, tree: "QueueTree") -> None:
        self._tree = tree
        self._tables: dict[Table, Amounts] = {}
        self._due: Counter[_Entry] = Counter()

    def add(
        self, path: Iterable[str], requests: Resources, count: int, *tables: Table
    ) -> None:
        """
        Add what some pods ask for to the queues on a path, in some tables.
        """
        self._due[tuple(path), tuple(requests.items()), tables] += count

    def _book(self) -> None:
        for (names, asked, tables), count in self._due.items():
            requests = dict(asked)
            for table in tables:
                if table not in self._tables:
                    known = self._of(table)
                    copied = {name: dict(row) for name, row in known.items()}
                    self._tables[table] = copied
                for name in names:
                    add(self._tables[table].setdefault(name, {}), requests, count)
        self._due.clear()

    def tree(self) -> "QueueTree":
        """
        Give the queues as they are booked now.
        """
        self._book()
        return replace(
            self._tree,
            running=self._of("running"),
            fixed=self._of("fixed"),
            coming=self._of("coming"),
            drift=self._of("drift"),
            drift_fixed=self._of("drift_fixed"),
            booked=self._of("booked"),
            leaving=self._of("leaving"),
        )

    def _of(self, table: Table) -> Amounts:
        found: Amounts = self._tables.get(table) or getattr(self._tree, table)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTree:
    """
    The queues with what runs in them; ``named`` are the resources any of them names.

    ``coming`` is what kept promises add to a queue at once, ``drift`` what they and
    reservations add to it later, less what leaves it;
    ``booked`` the part of the fair share that reserved gangs take, ``leaving`` what
    leaves it whatever is planned.  Among the queues
    are those ``outside`` of queues that keep room: so many together, with one limit.
    """

    queues: Mapping[str, Queue]
    named: tuple[str, ...]
    running: Amounts
    fixed: Amounts
    own: Amounts = field(default_factory=dict)
    coming: Amounts = field(default_factory=dict)
    drift: Amounts = field(default_factory=dict)
    drift_fixed: Amounts = field(default_factory=dict)
    booked: Amounts = field(default_factory=dict)
    leaving: Amounts = field(default_factory=dict)
    parents: frozenset[str] = frozenset()
    outside: Mapping[str, Outsiders] = field(default_factory=dict)
    _nearest: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot, census: Census) -> "QueueTree":
        """
        Add up what runs, per queue and for every queue above it.
        """
        queues = {queue.name: queue for queue in snapshot.queues}
        teams = outsiders(snapshot)
        queues |= {team.queue.name: team.queue for team in teams}
        named = tuple(sorted({r for q in snapshot.queues for r in q.resources}))
        own: Amounts = {}
        own_fixed: Amounts = {}
        if named:
            for (name, preemptible, kind), count in sorted(census.queues.items()):
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
            outside={team.queue.name: team for team in teams},
        )
        for source, target in ((own, tree.running), (own_fixed, tree.fixed)):
            for name, amounts in source.items():
                for above in tree.path(name):
                    add(target.setdefault(above, {}), amounts)
        return tree

    def leaf(self, name: str) -> str:
        """
        Name the leaf queue of gangs that name it so: one for all where none is listed.
        """
        return name if self.queues else ""

    def path(self, name: str) -> Sequence[str]:
        """
        List a queue, all above it, and all that bind those outside of others.
        """
        chain = self.chain(name)
        if not self.outside or not chain:
            return chain
        teams = [at for at, team in self.outside.items() if name in team.members]
        return [*chain, *(at for at in teams if at in self.queues)]

    def chain(self, name: str) -> Sequence[str]:
        """
        List a queue and all above it that exist, the queue first.
        """
        return queues_above(self.queues, name)

    def nearest(self, name: str) -> str:
        """
        Give the queue that is called most like a name that none has; or nothing.
        """
        if name not in self._nearest and len(self._nearest) < _MOST_NEAREST:
            names = [known for known in self.queues if known not in self.outside]
            self._nearest[name] = nearest(name, names)
        return self._nearest.get(name, "")

    def limit_left(self, queue: str, resource: str) -> int | None:
        """
        How much more of a resource a queue may hold; none is unlimited.
        """
        limit = self.queues[queue].rule(resource).limit
        if limit is None:
            return None
        gone = self.leaving.get(queue, {}).get(resource, 0)
        soon = self.coming.get(queue, {}).get(resource, 0)
        more = max(soon, self.drift.get(queue, {}).get(resource, 0) - gone)
        running = self.running.get(queue, {}).get(resource, 0)
        return max(0, limit - running - more)

    def is_over(self, queue: str, resource: str) -> bool:
        """
        Tell whether a queue holds more of a resource than it may.
        """
        most = self.queues[queue].rule(resource).limit
        return most is not None and most < self.running.get(queue, {}).get(resource, 0)

    def limit_left_later(self, queue: str, resource: str) -> int | None:
        """
        Give the same without a floor: evictions may make room below a limit.
        """
        limit = self.queues[queue].rule(resource).limit
        if limit is None:
            return None
        gone = self.leaving.get(queue, {}).get(resource, 0)
        return limit + gone - self._held(self.running, self.drift, queue, resource)

    @staticmethod
    def _held(running: Amounts, drift: Amounts, queue: str, resource: str) -> int:
        """
        Give what a queue holds now or later, whichever is more.
        """
        more = max(0, drift.get(queue, {}).get(resource, 0))
        return running.get(queue, {}).get(resource, 0) + more

    def quota_left(self, queue: str, resource: str) -> int | None:
        """
        How much more non-preemptible work a queue may hold; none is unlimited.
        """
        quota = self.queues[queue].rule(resource).quota
        if quota is None:
            return None
        return max(0, quota - self._held(self.fixed, self.drift_fixed, queue, resource))

    def share_left(self, shares: Shares, queue: str, resource: str) -> int:
        """
        How much more entitled work a queue may start.
        """
        return max(0, self.claim_left(shares, queue, resource))

    def claim_left(self, shares: Shares, queue: str, resource: str) -> int:
        """
        How much more entitled work a queue may start; negative above its share.

        Those outside of others are no queue and have no share that they may pass.
        """
        if queue in self.outside:
            return LARGEST_TOTAL
        taken = self.running.get(queue, {}).get(resource, 0)
        taken += self.booked.get(queue, {}).get(resource, 0)
        return shares.get(queue, {}).get(resource, 0) - taken

    def guarantee_left(self, queue: str, resource: str) -> int | None:
        """
        How much more guaranteed work a queue may start; negative above its quota.

        None is unlimited.
        """
        quota = self.queues[queue].rule(resource).quota
        if quota is None:
            return None
        taken = self.running.get(queue, {}).get(resource, 0)
        return quota - taken - self.booked.get(queue, {}).get(resource, 0)

    def beyond_quota(self, queue: str, resource: str) -> int:
        """
        How much a queue runs above its quota; nothing where it has none, or is missing.
        """
        if queue not in self.queues:
            return 0
        running = self.running.get(queue, {}).get(resource, 0)
        return self.queues[queue].rule(resource).beyond(running)

    def oldest(self, snapshot: Snapshot) -> dict[str, int]:
        """
        Give the age of the oldest gang in each queue and below it.
        """
        gangs, found = snapshot.gangs, dict.fromkeys(self.queues, 0)
        for gang, age in zip(still(gangs), ages_of(gangs), strict=True):
            found[gang.queue] = max(age, found.get(gang.queue, 0))
        for name, age in [*found.items()]:
            for above in self.chain(name):
                found[above] = max(age, found.get(above, 0))
        return found

    def requested(self, pending: Amounts) -> Amounts:
        """
        Add pending demand to what runs, per leaf queue.
        """
        total: Amounts = {name: dict(amounts) for name, amounts in self.own.items()}
        for name, amounts in pending.items():
            add(total.setdefault(name, {}), amounts)
        return total
