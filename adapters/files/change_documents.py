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
    GangAllows,
    GangChange,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    MoreMoves,
    PassedTime,
    QueueRule,
    RemovedNodes,
    SubmittedGangs,
)
from models.devices.gpu_counts import in_gpus, written_name
from models.resources import GPU_SHARE


def change_document(  # noqa: PLR0911 - one for each
    change: Change,
) -> dict[str, Any]:
    """
    Give a change as plain values; amounts are in the resource's unit.
    """
    match change:
        case AddedNodes():
            return {"change": "nodes", "like": change.like, "by": change.number}
        case RemovedNodes():
            return {"change": "remove", "nodes": [*change.names]}
        case ClosedNode():
            return {"change": change.how, "node": change.node}
        case QueueRule():
            where = {"queue": change.queue, "resource": written_name(change.resource)}
            return {"change": change.field, **where, **_amount(change)}
        case EvictedGangs():
            return {"change": "evict", "gangs": [*change.gangs]}
        case CancelledGangs():
            return {"change": "cancel", "gangs": [*change.gangs]}
        case SubmittedGangs():
            return {"change": "submit", "gangs": [gang.key for gang in change.gangs]}
        case MoreMoves():
            return {"change": "move", "pods": change.pods}
        case PassedTime():
            moment = change.seconds
            return {"change": "wait", "seconds": moment, "until": moment}
        case _:
            word, more = _of_gang(change)
            return {"change": word, "gang": change.gang, **more}


def _of_gang(change: GangChange) -> tuple[str, dict[str, Any]]:
    """
    Give what a gang asks for otherwise: a word, and what else there is to say.
    """
    match change:
        case GangAllows():
            return "label", {"key": change.key, "value": change.value}
        case GangLevel():
            return "level", {"from": change.level, "to": change.to}
        case GangPods():
            return "pods", {"by": change.by}
        case GangPriority():
            return "priority", {"to": change.priority}
        case GangTolerates():
            return "tolerate", {"key": change.key}


def _amount(change: QueueRule) -> dict[str, float | None]:
    """
    Give by how much an amount changes, or what it becomes; no number is unlimited.
    """
    amounts = {"by": change.amount.by, "to": change.amount.value}
    said = [word for word, n in amounts.items() if n is not None]
    return {
        word: amounts[word]
        if change.field == "weight"
        else number(change.resource, amounts[word])
        for word in said or ["to"]
    }


def number(resource: str, amount: int | None) -> float | None:
    """
    Give an amount in the resource's unit; GPUs with their parts as GPUs.
    """
    if amount is None or resource != GPU_SHARE:
        return amount
    return in_gpus(amount)
