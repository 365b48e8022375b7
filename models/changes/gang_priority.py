"""
Another priority of a gang.
"""

from dataclasses import dataclass, replace

from models.changes.one_gang import with_gang
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class GangPriority:
    """
    The priority that a gang ``namespace/name`` gets.
    """

    gang: str
    priority: int


def with_priority(snapshot: Snapshot, change: GangPriority) -> Snapshot:
    """
    Change the priority of one gang.

    Raises
    ------
    ChangeRefusedError
        When there is no such gang.
    """
    return with_gang(
        snapshot, change.gang, lambda gang: replace(gang, priority=change.priority)
    )
