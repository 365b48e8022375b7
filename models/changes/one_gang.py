"""
One gang of a snapshot, otherwise.
"""

from collections.abc import Callable
from dataclasses import replace

from models.changes.refused import unknown
from models.gangs import Gang
from models.memory.aged_gangs import AgedGangs
from models.snapshot import Snapshot


def with_gang(snapshot: Snapshot, key: str, change: Callable[[Gang], Gang]) -> Snapshot:
    """
    Change one gang; all others stay the objects that they are.

    Raises
    ------
    ChangeRefusedError
        When there is no such gang.
    """
    gangs = snapshot.gangs
    if isinstance(gangs, AgedGangs):
        at = gangs.places().get(key, -1)
    else:
        at = next((at for at, gang in enumerate(gangs) if gang.key == key), -1)
    if at < 0:
        raise unknown("gang", key, (gang.key for gang in gangs))
    new = change(gangs[at])
    if isinstance(gangs, AgedGangs):
        return replace(snapshot, gangs=gangs.replaced({at: new}))
    return replace(snapshot, gangs=(*gangs[:at], new, *gangs[at + 1 :]))
