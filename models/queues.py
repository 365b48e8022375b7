"""
Queues: a tree of quotas; gangs live in its leaves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.resources import GPU, GPU_SHARE, SHARES_PER_GPU

MOST_KEEPING = 5
"""
So many queues may keep room: each doubles the sums that are bounded.
"""
MOST_LEVELS = 16
"""
So many queues may be above one another, the lowest among them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResource:
    """
    One resource's rule in one queue; ``None`` is unlimited.

    Where a number of GPUs is not whole, all of them are in parts (``GPU_SHARE``).
    ``lend`` is how much of the quota others may use while the queue does not.  A quota
    that ``is_sum`` is that of the models of the resource together.
    """

    quota: int | None = 0
    limit: int | None = None
    weight: int = 1
    lend: int | None = None
    is_sum: bool = False

    @property
    def kept(self) -> int:
        """
        How much of the quota nobody else may use.
        """
        if self.quota is None or self.lend is None:
            return 0
        return max(0, self.quota - self.lend)

    def beyond(self, used: int) -> int:
        """
        Give how much of what is used is above the quota.
        """
        return 0 if self.quota is None else max(0, used - self.quota)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """
    A node of the quota tree.

    ``usage`` is what it used beyond its quota, the older the less: of each resource
    millionths of a unit for an hour.
    """

    name: str
    parent: str | None = None
    priority: int = 100
    open: bool = True
    resources: Mapping[str, QueueResource] = field(default_factory=dict)
    preempt_min_runtime: int = 0
    reclaim_min_runtime: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)

    def rule(self, resource: str) -> QueueResource:
        """
        Give the rule of a resource that some queue names.
        """
        return self.resources.get(resource, _UNNAMED)

    @property
    def says_anything(self) -> bool:
        """
        Tell whether it has rules, a parent or anything else but a name and a priority.
        """
        return self != Queue(name=self.name, priority=self.priority)

    @property
    def keeps(self) -> bool:
        """
        Tell whether it keeps some of its quotas for itself.
        """
        return any(rule.kept for rule in self.resources.values())


_UNNAMED = QueueResource()


def queues_above(queues: Mapping[str, Queue], name: str) -> Sequence[str]:
    """
    List a queue and all above it that exist, the queue first.
    """
    found: list[str] = []
    at: str | None = name
    while at is not None and at in queues and at not in found:
        found.append(at)
        at = queues[at].parent
    return found


def least_runtimes(queues: Mapping[str, Queue], path: Iterable[str]) -> tuple[int, int]:
    """
    Give for how long what runs in a queue is kept from reclaim, and from preempt.
    """
    above = [queues[name] for name in path]
    reclaim = max((queue.reclaim_min_runtime for queue in above), default=0)
    return reclaim, max((queue.preempt_min_runtime for queue in above), default=0)


def say_parts(queues: Iterable[Queue]) -> bool:
    """
    Tell whether some queue says parts of GPUs, so that all count them.
    """
    return any(GPU_SHARE in queue.resources for queue in queues)


def with_shared_gpus(queue: Queue) -> Queue:
    """
    Let what a queue says of GPUs hold for whole ones and parts together.
    """
    if GPU not in queue.resources and GPU not in queue.usage:
        return queue
    return replace(
        queue,
        resources={
            GPU_SHARE if name == GPU else name: _times(rule, name)
            for name, rule in queue.resources.items()
        },
        usage={
            GPU_SHARE if name == GPU else name: amount * _scale(name)
            for name, amount in queue.usage.items()
        },
    )


def _scale(resource: str) -> int:
    return SHARES_PER_GPU if resource == GPU else 1


def _times(rule: QueueResource, resource: str) -> QueueResource:
    scale = _scale(resource)

    def times(amount: int | None) -> int | None:
        return None if amount is None else amount * scale

    return replace(
        rule, quota=times(rule.quota), limit=times(rule.limit), lend=times(rule.lend)
    )
