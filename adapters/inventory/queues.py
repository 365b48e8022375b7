"""
Queues as rows: what they may hold, what they are entitled to, what they use.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.inventory.gangs import state_now
from adapters.inventory.listed import Seen
from models.devices.gpu_counts import shown_amount, written_name
from models.memory.usage_hours import format_usage
from models.queues import Queue
from models.resources import GPU, GPU_SHARE, SHARES_PER_GPU
from solver import FairPart, RoundMemo, fair_parts, shared_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """
    One resource of one queue; none of ``quota`` and ``limit`` means without a bound.

    ``share`` is what the queue is entitled to now, ``used`` what runs in it and below,
    ``kept`` what it keeps of its quota for itself.
    ``over_time`` is what it used beyond its quota, where shares have a memory.
    """

    quota: int | None
    limit: int | None
    weight: int
    share: int
    used: int
    kept: int = 0
    over_time: "OverTime | None" = None

    @property
    def borrowed(self) -> int:
        """
        What it uses beyond its share.
        """
        return max(0, self.used - self.share)

    def document(self, resource: str) -> dict[str, Any]:
        """
        Give the amounts as people write them.
        """
        return {
            "quota": bound(resource, self.quota),
            "limit": bound(resource, self.limit),
            "weight": self.weight,
            "kept": shown_amount(resource, self.kept),
            "fairShare": shown_amount(resource, self.share),
            "used": shown_amount(resource, self.used),
            "borrowed": shown_amount(resource, self.borrowed),
            "overTime": self.over_time and self.over_time.document(resource),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime:
    """
    What a queue used beyond its quota over time, and what its fair part of that is.

    Who used more ``owes`` those who used less; amounts are millionths of an hour.
    """

    usage: int
    due: int
    owes: Mapping[str, int] = field(default_factory=dict)

    def document(self, resource: str) -> dict[str, Any]:
        """
        Give the hours as people write them.
        """
        return {
            "usage": format_usage(resource, self.usage),
            "fairPart": format_usage(resource, self.due),
            "owes": {
                name: format_usage(resource, amount)
                for name, amount in sorted(self.owes.items())
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """
    One queue: its gangs by state, and each resource that some queue names.

    ``holds`` are its gangs for which nodes are held, with the seconds so far.
    """

    queue: Queue
    gangs: Mapping[str, int]
    holdings: Mapping[str, Holding]
    holds: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """
        The queue's name.
        """
        return self.queue.name

    @property
    def state(self) -> str:
        """
        Whether its gangs may start.
        """
        return "Open" if self.queue.open else "Closed"

    @property
    def gpus(self) -> Holding | None:
        """
        Its GPUs; none where no queue names them.
        """
        return self.holdings.get(GPU_SHARE, self.holdings.get(GPU))

    @property
    def counts_parts(self) -> bool:
        """
        Tell whether its GPUs are counted in 1/7000, since somebody asks for parts.
        """
        return GPU_SHARE in self.holdings

    def in_gpus(self, amount: float) -> float:
        """
        Give what its GPUs are counted in as GPUs.
        """
        return amount / SHARES_PER_GPU if self.counts_parts else amount

    def document(self) -> dict[str, Any]:
        """
        Give the row as plain values.
        """
        return {
            "name": self.name,
            "parent": self.queue.parent,
            "state": self.state,
            "priority": self.queue.priority,
            "gangs": dict(sorted(self.gangs.items())),
            "holds": dict(sorted(self.holds.items())),
            "resources": {
                written_name(name): holding.document(name)
                for name, holding in sorted(self.holdings.items())
            },
        }


def queue_rows(seen: Seen) -> Iterator[QueueRow]:
    """
    Walk the queues of a snapshot by name; gangs count in their own queue only.
    """
    gangs: dict[str, Counter[str]] = {}
    holds: dict[str, dict[str, int]] = {}
    for gang in seen.snapshot.gangs:
        gangs.setdefault(gang.queue, Counter())[state_now(gang)] += 1
        if gang.key in seen.holds:
            holds.setdefault(gang.queue, {})[gang.key] = seen.holds[gang.key]
    for row in rows_without_gangs(seen):
        yield replace(row, gangs=gangs.get(row.name, {}), holds=holds.get(row.name, {}))


def rows_without_gangs(seen: Seen, memo: RoundMemo | None = None) -> Iterator[QueueRow]:
    """
    Walk the queues of a snapshot by name, with their numbers only.
    """
    known = None if memo is None else memo.problem
    found = shared_out(seen.snapshot, seen.policy, known, devices=False)
    queues = found.given.queues
    times = {name: _over_time(seen, name) for name in queues.named}
    for queue in seen.snapshot.queues:
        used = queues.running.get(queue.name, {})
        shares = found.shares.get(queue.name, {})
        yield QueueRow(
            queue=queue,
            gangs={},
            holdings={
                name: Holding(
                    quota=queue.rule(name).quota,
                    limit=queue.rule(name).limit,
                    weight=queue.rule(name).weight,
                    share=shares.get(name, 0),
                    used=used.get(name, 0),
                    kept=queue.rule(name).kept,
                    over_time=times[name].get(queue.name),
                )
                for name in queues.named
            },
        )


def _over_time(seen: Seen, resource: str) -> dict[str, OverTime]:
    """
    Tell of each queue that shares by weight what it used, and whom it owes.
    """
    queues = seen.snapshot.queues
    if seen.policy.shares.half_life is None:
        return {}
    parts = fair_parts(queues, resource)
    teams: dict[tuple[str | None, int], dict[str, FairPart]] = {}
    for queue in queues:
        if queue.name in parts:
            team = teams.setdefault((queue.parent, queue.priority), {})
            team[queue.name] = parts[queue.name]
    owes = {name: row for team in teams.values() for name, row in _debts(team).items()}
    return {
        name: OverTime(usage=part.usage, due=part.due, owes=owes[name])
        for name, part in parts.items()
    }


def _debts(team: Mapping[str, FairPart]) -> dict[str, dict[str, int]]:
    """
    Tell who used more than its part, and on whose: the largest debt to who lacks most.
    """
    over = {name: part.usage - part.due for name, part in team.items()}
    owes: dict[str, dict[str, int]] = {name: {} for name in team}
    while True:
        debtor = max(over, key=lambda name: (over[name], name))
        creditor = min(over, key=lambda name: (over[name], name))
        amount = min(over[debtor], -over[creditor])
        if amount <= 0:
            return owes
        owes[debtor][creditor] = amount
        over[debtor] -= amount
        over[creditor] += amount


def bound(resource: str, amount: int | None) -> str | None:
    """
    Write a bound as people do; none where there is none.
    """
    return None if amount is None else shown_amount(resource, amount)
