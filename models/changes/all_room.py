"""
The most room that there could be for some gangs: without all who wait or may leave.
"""

from collections.abc import Iterable, Sequence

from models.changes.cancelled_gangs import CancelledGangs, without_gangs
from models.gangs import Gang, is_complete, pod_sets
from models.snapshot import Snapshot


def in_all_room(snapshot: Snapshot, own: Sequence[Gang]) -> Snapshot | None:
    """
    Take away all gangs but some and those that stay where they are, come what may.

    None where that might leave fewer places than any plan does: where others count for
    them, or belong to their group.
    """
    keys = {gang.key for gang in own}
    gone = [x for x in snapshot.gangs if x.key not in keys and _may_leave(x)]
    mates = {mate for gang in own for mate in gang.mates}
    if not mates <= keys or count_on(own, gone):
        return None
    return without_gangs(snapshot, CancelledGangs(gangs=tuple(x.key for x in gone)))


def _may_leave(gang: Gang) -> bool:
    return gang.preemptible or bool(gang.lent_by) or not is_complete(gang)


def count_on(gangs: Iterable[Gang], others: Iterable[Gang]) -> bool:
    """
    Tell whether places of some gangs may be places only beside others.
    """
    said = [leaf.neighbours for gang in gangs for leaf in pod_sets(gang.tree)]
    wanted = {one.near.pods for one in said if one.near}
    wanted.update(rule.pods for one in said for rule in one.spread)
    return any(
        wanted & {*leaf.neighbours.selected}
        for other in others
        for leaf in pod_sets(other.tree)
    )
