"""
Changes as plain values, as they stand in answers.
"""

from typing import Any

from models.changes import (
    AddedNodes,
    CancelledGangs,
    Change,
    ClosedNode,
    GangPriority,
    NewAmount,
    QueueRule,
    RemovedNodes,
    SubmittedGangs,
)


def change_document(change: Change) -> dict[str, Any]:  # noqa: PLR0911 - one for each
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
        case CancelledGangs():
            return {"change": "cancel", "gangs": [*change.gangs]}
        case SubmittedGangs():
            return {"change": "submit", "gangs": [gang.key for gang in change.gangs]}


def _amount(amount: NewAmount) -> dict[str, int | None]:
    """
    Give what an amount becomes, or by how much it changes; no number is unlimited.
    """
    return {"to": amount.value} if amount.by is None else {"by": amount.by}
