"""
The columns of what queues used over time, and of who owes whom.
"""

from collections.abc import Callable

from adapters.cli.views.listing import ListColumn
from adapters.inventory.listed import Seen
from adapters.inventory.queues import OverTime, QueueRow
from models.memory.usage_hours import MILLIONTHS

_NOTHING = "–"


def over_time_words(seen: Seen) -> str:
    """
    Say what the columns mean, where there are any.
    """
    if seen.policy.shares.half_life is None:
        return ""
    return "; GPU-HOURS are those beyond the quota, the older the less"


def used_words(row: QueueRow) -> str:
    """
    Say of one queue what it used over time; nothing where shares have no memory.
    """
    known = _over_time(row)
    if known is None:
        return ""
    used, due = _written(row, known.usage), _written(row, known.due)
    owes = f"; owes {_owes(row)}" if known.owes else ""
    return f"{used} GPU-hours beyond the quota, its fair part is {due}{owes}"


def used_over_time(seen: Seen) -> list[ListColumn[QueueRow]]:
    """
    Show what queues used over time, their part by weight, and whom they owe.
    """
    if seen.policy.shares.half_life is None:
        return []
    return [
        _hours("GPU-HOURS", lambda known: known.usage),
        _hours("FAIR PART", lambda known: known.due),
        ListColumn("OWES", _owes),
    ]


def _hours(head: str, pick: Callable[[OverTime], int]) -> ListColumn[QueueRow]:
    def cell(row: QueueRow) -> str:
        known = _over_time(row)
        return _NOTHING if known is None else _written(row, pick(known))

    def key(row: QueueRow) -> int:
        known = _over_time(row)
        return -1 if known is None else pick(known)

    return ListColumn(head, cell, by=key, right=True)


def _owes(row: QueueRow) -> str:
    known = _over_time(row)
    debts = {} if known is None else known.owes
    owed = (f"{_written(row, debts[name])} to {name}" for name in sorted(debts))
    return ", ".join(owed) or _NOTHING


def _over_time(row: QueueRow) -> OverTime | None:
    return None if row.gpus is None else row.gpus.over_time


def _written(row: QueueRow, amount: int) -> str:
    return f"{row.in_gpus(amount) / MILLIONTHS:,.1f}"
