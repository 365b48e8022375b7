"""
Gangs that are no longer there.
"""

from dataclasses import dataclass, replace

from models.changes.refused import unknown
from models.gangs import DisruptionBudget
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledGangs:
    """
    The gangs of these names ``namespace/name`` end, and what they hold is free.
    """

    gangs: tuple[str, ...]


def without_gangs(snapshot: Snapshot, change: CancelledGangs) -> Snapshot:
    """
    Remove gangs, also from budgets; others of their groups wait for them.

    Raises
    ------
    ChangeRefusedError
        When one of them is not there.
    """
    known = {gang.key for gang in snapshot.gangs}
    for key in change.gangs:
        if key not in known:
            raise unknown("gang", key, known)
    gone = frozenset(change.gangs)
    budgets = (_without(budget, gone) for budget in snapshot.budgets)
    return replace(
        snapshot,
        gangs=tuple(gang for gang in snapshot.gangs if gang.key not in gone),
        budgets=tuple(budget for budget in budgets if budget.gangs),
    )


def _without(budget: DisruptionBudget, gone: frozenset[str]) -> DisruptionBudget:
    left = tuple(gang for gang in budget.gangs if gang not in gone)
    return budget if len(left) == len(budget.gangs) else replace(budget, gangs=left)
