"""
Keeping what is remembered, for whoever leads after us.
"""

from dataclasses import dataclass

from adapters.loop.parts import Parts
from adapters.loop.telling import Teller
from models.errors import PhalanxError

_EVERY = 30.0
_AFTER_ERROR = 5.0


@dataclass(slots=True)
class Remembering:
    """
    When the memory was kept last, and since when it is owed.
    """

    parts: Parts
    tell: Teller
    _kept_at: float = 0.0
    _owed: float | None = None

    @property
    def is_owed(self) -> bool:
        """
        Tell whether something must be kept now, lest the next leader believe the old.
        """
        return self._owed is not None and self.parts.clock() >= self._owed

    @property
    def is_due(self) -> bool:
        """
        Tell whether it has not been kept for a while.
        """
        return self.parts.clock() >= self._kept_at + _EVERY

    def owe(self) -> None:
        """
        Note that it must be kept soon.
        """
        if self._owed is None:
            self._owed = self.parts.clock()

    def keep_if_due(self) -> None:
        """
        Keep it where nothing needs it now, lest much be lost with us.
        """
        if self.is_due:
            self.keep()

    def keep(self) -> None:
        """
        Keep it.

        Where that fails rounds go on, and it is tried again: nothing is bound without
        an intent, which holds all of it.
        """
        self._kept_at, self._owed = self.parts.clock(), None
        try:
            self.parts.sink.remember()
        except PhalanxError as error:
            self._owed = self._kept_at + _AFTER_ERROR
            self.tell.failed(error)
