"""
Held time: the GPU-seconds that idled for heads while work waited that fits.

Counted in slots of a ninety-sixth of the window, so that a window of any length is kept
in a hundred numbers: a day by quarters of an hour.
"""

from math import ceil
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

_DAY = 86400
_SLOTS = 96
_Finite = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _StoredHeld(BaseModel):
    """
    What was kept; fields of another version are passed by.
    """

    gpus: Annotated[int, Field(ge=0)] = 0
    since: _Finite = 0.0
    slots: dict[int, _Finite] = {}
    slot: Annotated[int, Field(gt=0)] = _DAY // _SLOTS


class HeldTime:
    """
    How many GPUs idle so now, since when, and what it came to in the last ``window``.
    """

    def __init__(self, window: int = _DAY) -> None:
        self._window = window
        self._slot = max(1, window // _SLOTS)
        self._gpus = 0
        self._since = 0.0
        self._slots: dict[int, float] = {}

    def note(self, gpus: int, now: float) -> None:
        """
        Let so many GPUs idle from now on.
        """
        self._pass(now)
        self._gpus = gpus

    def within(self, now: float) -> int:
        """
        Add up the GPU-seconds of the last window, and forget what is older or to come.

        A clock that was ahead has counted what is to come.
        """
        self._pass(now)
        first, last = self._first(now), int(now // self._slot)
        for slot in [slot for slot in self._slots if not first <= slot <= last]:
            del self._slots[slot]
        return round(sum(self._slots.values()))

    def eases_in(self, now: float) -> int | None:
        """
        Give the seconds until some of it is no longer of the last window, if any is.
        """
        first = self._first(now)
        slots = [slot for slot, sum_ in self._slots.items() if slot >= first and sum_]
        return ceil(min(slots) * self._slot + self._window - now) if slots else None

    def _first(self, now: float) -> int:
        """
        Name the first slot that is whole in the window that ends now.
        """
        return int((now - self._window) // self._slot) + 1

    def _pass(self, now: float) -> None:
        if self._gpus:
            self._add(self._gpus, max(self._since, now - self._window), now)
        self._since = now

    def _add(self, gpus: float, since: float, until: float) -> None:
        """
        Let so many GPUs have idled for some time, slot by slot.
        """
        while since < until:
            slot = int(since // self._slot)
            end = min(until, (slot + 1) * self._slot)
            self._slots[slot] = self._slots.get(slot, 0.0) + gpus * (end - since)
            since = end

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        slots = {str(slot): round(sum_) for slot, sum_ in sorted(self._slots.items())}
        return {
            "gpus": self._gpus,
            "since": self._since,
            "slots": slots,
            "slot": self._slot,
        }

    def restore(self, document: object, *, held_on: bool = False) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing idled.

        Unless they were ``held_on``, no nodes were held since.  What another window was
        counted for is taken to have idled evenly in each of its slots.
        """
        self._gpus, self._since, self._slots = 0, 0.0, {}
        if document is None:
            return True
        try:
            read = _StoredHeld.model_validate(document)
        except ValidationError:
            return False
        self._gpus = read.gpus if held_on else 0
        self._since = read.since
        if read.slot == self._slot:
            self._slots = dict(read.slots)
            return True
        for slot, sum_ in read.slots.items():
            begin, end = slot * read.slot, min((slot + 1) * read.slot, read.since)
            if begin < end:
                first = max(begin, read.since - self._window)
                self._add(sum_ / (end - begin), first, end)
        return True
