"""
Another quota, limit or weight of a queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from models.changes.new_amount import NewAmount
from models.changes.refused import ChangeRefusedError, unknown
from models.devices.gpu_counts import written_name
from models.devices.gpu_models import with_sums
from models.queues import Queue, QueueResource, queues_above
from models.resources import format_quantity
from models.snapshot import Snapshot

_FREE = QueueResource(quota=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRule:
    """
    What a queue's number of a resource becomes, in the resource's unit.
    """

    field: Literal["quota", "limit", "weight"]
    queue: str
    resource: str
    amount: NewAmount

    def shown(self, amount: int) -> str:
        """
        Write an amount as people do; a weight is a plain number.
        """
        if self.field == "weight":
            return f"{amount:,}"
        return format_quantity(self.resource, amount)


def with_rule(snapshot: Snapshot, change: QueueRule) -> Snapshot:
    """
    Change one number of one queue.

    A resource that no queue named has no rule anywhere; it gets none in other queues.

    Raises
    ------
    ChangeRefusedError
        When there is no such queue or resource, or no queue can have such a number.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    if change.queue not in queues:
        raise unknown("queue", change.queue, queues)
    _known(snapshot, change.resource)
    if not any(change.resource in queue.resources for queue in snapshot.queues):
        queues = {name: _with(queue, change, _FREE) for name, queue in queues.items()}
    queue = queues[change.queue]
    rule = queue.rule(change.resource)
    changed = _with(queue, change, _changed(rule, change))
    queues[change.queue] = replace(changed, resources=with_sums(changed.resources))
    return replace(snapshot, queues=tuple(queues.values()))


def without_effect(snapshot: Snapshot, change: QueueRule) -> str:
    """
    Say of a change that was made why it, or a part of it, does nothing; else nothing.

    What was unlimited is so whatever is added to it, and no more than a limit of its
    queue or of one above can ever be used of a quota.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    rule = queues[change.queue].rule(change.resource)
    if change.amount.by is not None and getattr(rule, change.field) is None:
        return (
            f"queue {change.queue} has no {change.field} of "
            f"{written_name(change.resource)} to add to or take from: "
            "it stays unlimited"
        )
    return _above_limit(queues, change) if change.field == "quota" else ""


def _above_limit(queues: Mapping[str, Queue], change: QueueRule) -> str:
    name, quota = change.resource, queues[change.queue].rule(change.resource).quota
    for at in queues_above(queues, change.queue):
        limit = queues[at].rule(name).limit
        if limit is not None and quota is not None and quota > limit:
            has, most = (format_quantity(name, x) for x in (quota, limit))
            has = f"{has} {written_name(name)}"
            return (
                f"queue {change.queue} has a quota of {has}, and the limit of "
                f"queue {at} is {most}: what is above it can never be used"
            )
    return ""


def _with(queue: Queue, change: QueueRule, rule: QueueResource) -> Queue:
    return replace(queue, resources={**queue.resources, change.resource: rule})


def _known(snapshot: Snapshot, resource: str) -> None:
    """
    Refuse a resource that no node offers and no queue names.
    """
    known = {name for node in snapshot.nodes for name in node.allocatable}
    known |= {name for queue in snapshot.queues for name in queue.resources}
    if resource not in known:
        names = {written_name(name) for name in known}
        raise unknown("resource", written_name(resource), names)


def _changed(rule: QueueResource, change: QueueRule) -> QueueResource:
    name = written_name(change.resource)
    where = f"{change.field} of {name} of queue {change.queue}"
    amount = change.amount.after(getattr(rule, change.field), where, change.shown)
    if change.field == "quota":
        return replace(rule, quota=amount, is_sum=False)
    if change.field == "limit":
        return replace(rule, limit=amount)
    if amount is None:
        raise ChangeRefusedError(where, "cannot be unlimited", "say 0 or more")
    return replace(rule, weight=amount)
