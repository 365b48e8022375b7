"""
Changes in words, as somebody would say them.
"""

from models.changes import (
    AddedNodes,
    Change,
    ClosedNode,
    EvictedGangs,
    GangAllows,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    MoreMoves,
    PassedTime,
    QueueRule,
)
from models.resources import format_duration
from models.why.reasons import counted, listed
from models.why.verdicts import amount


def change_words(  # noqa: C901, PLR0911, PLR0912 - one for each
    change: Change,
) -> str:
    """
    Say a change as what somebody would do.
    """
    match change:
        case AddedNodes():
            return f"add {counted(change.number, 'node')} like {change.like}"
        case ClosedNode():
            return f"open {change.node}"
        case QueueRule():
            if change.field == "weight":
                what = amount(change.resource, 2).partition(" ")[2]
                where = f"the weight of {change.queue}"
                return f"raise {where} for {what} to {change.amount.value}"
            more = amount(change.resource, change.amount.by or 0)
            return f"raise the {change.field} of {change.queue} by {more}"
        case GangPriority():
            return f"give it the priority {change.priority}"
        case GangTolerates():
            return f"let it tolerate {change.key}"
        case GangAllows():
            return f"also let it be where {change.key} is {change.value}"
        case MoreMoves():
            return f"let {counted(change.pods, 'pod')} more be moved in a round"
        case PassedTime():
            return f"wait {format_duration(change.seconds)}"
        case GangLevel():
            where = "anywhere" if change.to is None else f"in one {change.to}"
            return f"let it be {where} instead of in one {change.level}"
        case GangPods():
            return f"let it need {counted(-change.by, 'pod')} fewer"
        case EvictedGangs():
            return f"evict {listed(change.gangs, 'gang')}"
        case _:
            return str(change)


def ordinal(number: int) -> str:
    """
    Write which of several: 1st, 2nd, 11th.
    """
    word = "th" if 10 <= number % 100 <= 20 else _ENDINGS.get(number % 10, "th")
    return f"{number:,}{word}"


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
