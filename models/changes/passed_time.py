"""
Time that passes: all grow older, and what reaches its longest run time ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from models.changes.cancelled_gangs import CancelledGangs, without_gangs
from models.gangs import Gang, comes_back, running_pods
from models.memory.aged_gangs import older
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedTime:
    """
    So many seconds pass in which nobody comes, and nothing ends but by its limit.
    """

    seconds: int


def some_time_later(snapshot: Snapshot, change: PassedTime) -> Snapshot:
    """
    Let time pass.
    """
    ended = [gang.key for gang in snapshot.gangs if _ends(gang, change.seconds)]
    left = without_gangs(snapshot, CancelledGangs(gangs=tuple(ended)))
    tried = any(comes_back(gang, change.seconds) for gang in left.gangs)
    unchanged = (snapshot.unchanged_for or 0) + change.seconds
    return replace(
        left,
        gangs=tuple(_later(gang, change.seconds) for gang in left.gangs),
        unchanged_for=0 if ended or tried else unchanged,
    )


def ends_in(gang: Gang) -> int | None:
    """
    Say in how many seconds a gang that runs ends at the latest; none if nobody can.

    Nobody can of what runs on beyond its longest run time: that has not ended it.
    """
    left = time_left(gang)
    return None if left is None or left < 0 else left


def time_left(gang: Gang) -> int | None:
    """
    Give the seconds that a gang that runs has left of its longest run time, if it has.
    """
    ran = [pod.seconds for _, _, pod in running_pods(gang)]
    if not ran or gang.max_runtime is None:
        return None
    return gang.max_runtime - max(ran)


def overdue(gangs: Iterable[Gang]) -> list[Gang]:
    """
    List those that run on beyond their longest run time.
    """
    return [gang for gang in gangs if (time_left(gang) or 0) < 0]


def _ends(gang: Gang, seconds: int) -> bool:
    left = ends_in(gang)
    return left is not None and left <= seconds


def _later(gang: Gang, seconds: int) -> Gang:
    gang = older(gang, seconds)
    evicted = gang.evicted_ago
    return replace(
        gang,
        backoff=max(0, gang.backoff - seconds),
        evicted_ago=None if evicted is None else evicted + seconds,
    )
