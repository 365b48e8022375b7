"""
Queues: a tree of quotas; gangs live in its leaves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResource:
    """
    One resource's rule in one queue; ``None`` is unlimited.
    """

    quota: int | None = 0
    limit: int | None = None
    weight: int = 1


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


_UNNAMED = QueueResource()
