"""
Held time: the GPU-seconds that idled for heads while work waited that fits.

Counted by quarters of an hour, so that a day of it is kept in a hundred numbers.
"""

from math import ceil
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

SLOT = 900
_Finite = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _StoredHeld(BaseModel):
    """
    What was kept; fields of another version are passed by.
    """

    gpus: Annotated[int, Field(ge=0)] = 0
    since: _Finite = 0.0
    slots: dict[int, _Finite] = {}


class HeldTime:
    """
    How many GPUs idle so now, since when, and what it came to before.
    """

    def __init__(self) -> None:
        self._gpus = 0
        self._since = 0.0
        self._slots: dict[int, float] = {}

    def note(self, gpus: int, now: float) -> None:
        """
        Let so many GPUs idle from now on.
        """
        self._pass(now)
        self._gpus = gpus

    def within(self, window: int, now: float) -> int:
        """
        Add up the GPU-seconds of the last window, and forget what is older or to come.

        A clock that was ahead has counted what is to come.
        """
        self._pass(now)
        first, last = int((now - window) // SLOT) + 1, int(now // SLOT)
        for slot in [slot for slot in self._slots if not first <= slot <= last]:
            del self._slots[slot]
        return round(sum(self._slots.values()))

    def eases_in(self, window: int, now: float) -> int | None:
        """
        Give the seconds until some of it is no longer of the last window, if any is.
        """
        first = int((now - window) // SLOT) + 1
        slots = [slot for slot, sum_ in self._slots.items() if slot >= first and sum_]
        return ceil(min(slots) * SLOT + window - now) if slots else None

    def _pass(self, now: float) -> None:
        while self._gpus and self._since < now:
            slot = int(self._since // SLOT)
            until = min(now, (slot + 1) * SLOT)
            more = self._gpus * (until - self._since)
            self._slots[slot] = self._slots.get(slot, 0.0) + more
            self._since = until
        self._since = now

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        slots = {str(slot): round(sum_) for slot, sum_ in sorted(self._slots.items())}
        return {"gpus": self._gpus, "since": self._since, "slots": slots}

    def restore(self, document: object, *, held_on: bool = False) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing idled.

        Unless they were ``held_on``, no nodes were held since.
        """
        self._gpus, self._since, self._slots = 0, 0.0, {}
        if document is None:
            return True
        try:
            read = _StoredHeld.model_validate(document)
        except ValidationError:
            return False
        self._gpus = read.gpus if held_on else 0
        self._since, self._slots = read.since, dict(read.slots)
        return True
