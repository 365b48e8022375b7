"""
Queues as rows: what they may hold, what they are entitled to, what they use.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.inventory.gangs import gang_rows
from adapters.inventory.listed import Seen
from models.queues import Queue
from models.resources import GPU, format_quantity
from solver.problem.problem import problem_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """
    One resource of one queue; none of ``quota`` and ``limit`` means without a bound.

    ``share`` is what the queue is entitled to now, ``used`` what runs in it and below.
    """

    quota: int | None
    limit: int | None
    weight: int
    share: int
    used: int

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
            "fairShare": format_quantity(resource, self.share),
            "used": format_quantity(resource, self.used),
            "borrowed": format_quantity(resource, self.borrowed),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """
    One queue: its gangs by state, and each resource that some queue names.
    """

    queue: Queue
    gangs: Mapping[str, int]
    holdings: Mapping[str, Holding]

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
        return self.holdings.get(GPU)

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
            "resources": {
                name: holding.document(name)
                for name, holding in sorted(self.holdings.items())
            },
        }


def queue_rows(seen: Seen) -> Iterator[QueueRow]:
    """
    Walk the queues of a snapshot by name; gangs count in their own queue only.
    """
    problem = problem_of(seen.snapshot, seen.policy)
    gangs: dict[str, Counter[str]] = {}
    for row in gang_rows(seen):
        gangs.setdefault(row.queue, Counter())[row.state] += 1
    for queue in seen.snapshot.queues:
        used = problem.queues.running.get(queue.name, {})
        shares = problem.shares.get(queue.name, {})
        yield QueueRow(
            queue=queue,
            gangs=gangs.get(queue.name, {}),
            holdings={
                name: Holding(
                    quota=queue.rule(name).quota,
                    limit=queue.rule(name).limit,
                    weight=queue.rule(name).weight,
                    share=shares.get(name, 0),
                    used=used.get(name, 0),
                )
                for name in problem.queues.named
            },
        )


def bound(resource: str, amount: int | None) -> str | None:
    """
    Write a bound as people do; none where there is none.
    """
    return None if amount is None else format_quantity(resource, amount)
