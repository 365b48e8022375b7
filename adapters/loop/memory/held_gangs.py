"""
Holds: for how long nodes were held for gangs, and what was expected at first.

It decides nothing: planning reads it as fields of the gangs.
"""

from collections.abc import Collection, Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from models.plan import Hold

_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _StoredHolds(BaseModel):
    """
    What was kept; fields of another version are passed by.
    """

    held: list[tuple[str, _Seconds, Annotated[int, Field(ge=0)]]]
    now: list[str] = []
    since: Annotated[float, Field(allow_inf_nan=False)] = 0.0


class HoldMemory:
    """
    The gangs for which nodes are or were held, until these start or are gone.
    """

    def __init__(self) -> None:
        self._held: dict[str, tuple[float, int]] = {}
        self._now: frozenset[str] = frozenset()
        self._since = 0.0

    def planned(self, holds: Iterable[Hold], now: float) -> None:
        """
        Let nodes be held for these gangs, and no others, from now on.
        """
        self._pass(now)
        found = {hold.gang: hold.expected for hold in holds}
        for gang, expected in found.items():
            self._held.setdefault(gang, (0.0, expected))
        self._now = frozenset(found)

    def of(self, gang: str, now: float) -> tuple[int, int | None]:
        """
        Give for how many seconds nodes were held, and what was expected at first.
        """
        if gang not in self._held:
            return 0, None
        seconds, first = self._held[gang]
        more = max(0.0, now - self._since) if gang in self._now else 0.0
        return int(seconds + more), first

    def forget(self, gangs: Collection[str]) -> None:
        """
        Forget gangs that start or are gone.
        """
        for gang in gangs:
            self._held.pop(gang, None)
        self._now -= frozenset(gangs)

    @property
    def now(self) -> Collection[str]:
        """
        Name the gangs for which nodes are held now.
        """
        return self._now

    @property
    def gangs(self) -> Collection[str]:
        """
        Name the gangs of which something is remembered.
        """
        return self._held.keys()

    def _pass(self, now: float) -> None:
        more = max(0.0, now - self._since)
        for gang in self._now & self._held.keys():
            seconds, first = self._held[gang]
            self._held[gang] = (seconds + more, first)
        self._since = now

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        rows = [[gang, *row] for gang, row in sorted(self._held.items())]
        return {"held": rows, "now": sorted(self._now), "since": self._since}

    def restore(self, document: object, *, held_on: bool = False) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing was held.

        Unless they were ``held_on``, no nodes were held since.
        """
        self._held, self._now = {}, frozenset()
        if document is None:
            return True
        try:
            read = _StoredHolds.model_validate(document)
        except ValidationError:
            return False
        self._held = {gang: (seconds, first) for gang, seconds, first in read.held}
        self._now = frozenset(read.now) & self._held.keys() if held_on else frozenset()
        self._since = read.since
        return True
