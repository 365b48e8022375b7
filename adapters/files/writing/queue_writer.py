"""
Queues as files: their rules, with those of models of GPUs inside them.
"""

from typing import Any

from models.devices.gpu_counts import written_name
from models.devices.gpu_models import split
from models.memory.usage_hours import format_usage
from models.queues import Queue, QueueResource
from models.resources import MODEL_MARK, format_quantity

Record = dict[str, Any]


def queue_record(queue: Queue) -> Record:
    """
    Write a queue with everything that is not a default.
    """
    runtime = {
        word: seconds
        for word, seconds in (
            ("preempt", queue.preempt_min_runtime),
            ("reclaim", queue.reclaim_min_runtime),
        )
        if seconds
    }
    return {
        "name": queue.name,
        **keep_said(
            parent=queue.parent,
            priority=queue.priority if queue.priority != 100 else None,
            state=None if queue.open else "Closed",
            resources={
                written_name(name): _rule(name, rule) | _models(queue, name)
                for name, rule in sorted(queue.resources.items())
                if MODEL_MARK not in name
            },
            minRuntime=runtime,
            usage={
                written_name(name): format_usage(name, amount)
                for name, amount in sorted(queue.usage.items())
                if amount
            },
        ),
    }


def _models(queue: Queue, resource: str) -> Record:
    """
    Write the rules of a resource's models, in the order of the queue.
    """
    models = {
        model: _rule(name, rule)
        for name, rule in queue.resources.items()
        for plain, model in [split(name)]
        if model and plain == written_name(resource)
    }
    return {"models": models} if models else {}


def _rule(name: str, rule: QueueResource) -> Record:
    record: Record = {} if rule.is_sum else {"quota": "unlimited"}
    if record and rule.quota is not None:
        record["quota"] = amount_record(name, rule.quota)
    if rule.limit is not None:
        record["limit"] = amount_record(name, rule.limit)
    if rule.weight != 1:
        record["weight"] = rule.weight
    if rule.lend is not None:
        record["lendingLimit"] = amount_record(name, rule.lend)
    return record


def keep_said(**fields: object) -> Record:
    """
    Keep the fields that say something.
    """
    return {
        key: value
        for key, value in fields.items()
        if value is not None and value is not False and value not in ({}, [], "")
    }


def amount_record(name: str, amount: int) -> str | int:
    """
    Write an amount as people do, a plain number as a number.
    """
    text = format_quantity(name, amount)
    return int(text) if text.isdecimal() else text
