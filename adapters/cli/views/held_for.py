"""
The column of gangs for which nodes are held, and what idled for such gangs.
"""

from adapters.cli.views.listing import ListColumn
from adapters.inventory.listed import Seen
from adapters.inventory.queues import QueueRow
from models.resources import format_duration

_NOTHING = "–"
_HOUR = 3600


def held_for(seen: Seen) -> list[ListColumn[QueueRow]]:
    """
    Show for which gangs nodes are held and since when, where there are any.
    """
    if not seen.holds:
        return []
    return [
        ListColumn(
            "HELD FOR", _gangs, by=lambda row: max(row.holds.values(), default=-1)
        )
    ]


def held_words(seen: Seen) -> str:
    """
    Say what idled for heads while work waited that fits, and how much of that may.
    """
    words = "; nodes are HELD FOR gangs passed over for long" if seen.holds else ""
    if not seen.snapshot.held:
        return words
    waiting = seen.policy.waiting
    hours, most = seen.snapshot.held / _HOUR, 100 * waiting.budget
    window = format_duration(waiting.window)
    return (
        f"{words}; {hours:,.1f} GPU-hours of the last {window} idled for gangs passed "
        f"over for long, and {most:g} % of all GPU time may"
    )


def _gangs(row: QueueRow) -> str:
    parts = (
        f"{gang} ({format_duration(seconds)})"
        for gang, seconds in sorted(row.holds.items())
    )
    return ", ".join(parts) or _NOTHING
