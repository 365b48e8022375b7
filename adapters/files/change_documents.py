"""
Changes as plain values, as they stand in answers.
"""

from typing import Any

from models.changes import (
    AddedNodes,
    CancelledGangs,
    Change,
    ClosedNode,
    EvictedGangs,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    NewAmount,
    QueueRule,
    RemovedNodes,
    SubmittedGangs,
)


def change_document(  # noqa: C901, PLR0911 - one for each
    change: Change,
) -> dict[str, Any]:
    """
    Give a change as plain values; amounts are integers in the resource's unit.
    """
    match change:
        case AddedNodes():
            return {"change": "nodes", "like": change.like, "by": change.number}
        case RemovedNodes():
            return {"change": "remove", "nodes": [*change.names]}
        case ClosedNode():
            return {"change": change.how, "node": change.node}
        case QueueRule():
            return {
                "change": change.field,
                "queue": change.queue,
                "resource": change.resource,
                **_amount(change.amount),
            }
        case GangPriority():
            return {"change": "priority", "gang": change.gang, "to": change.priority}
        case GangTolerates():
            return {"change": "tolerate", "gang": change.gang, "key": change.key}
        case GangLevel():
            return {
                "change": "level",
                "gang": change.gang,
                "from": change.level,
                "to": change.to,
            }
        case GangPods():
            return {"change": "pods", "gang": change.gang, "by": change.by}
        case EvictedGangs():
            return {"change": "evict", "gangs": [*change.gangs]}
        case CancelledGangs():
            return {"change": "cancel", "gangs": [*change.gangs]}
        case SubmittedGangs():
            return {"change": "submit", "gangs": [gang.key for gang in change.gangs]}


def _amount(amount: NewAmount) -> dict[str, int | None]:
    """
    Give what an amount becomes, or by how much it changes; no number is unlimited.
    """
    return {"to": amount.value} if amount.by is None else {"by": amount.by}
