"""
Telling a reporter what happens; what goes wrong there stops no round.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from adapters.loop.interfaces import Reporter
from models.errors import PhalanxError

Say = Callable[[Reporter], None]


@dataclass(frozen=True, slots=True)
class Teller:
    """
    Tells one reporter; an error of it is said once, to itself, and nothing else.
    """

    reporter: Reporter

    def __call__(self, say: Say) -> None:
        """
        Let the reporter hear something.
        """
        try:
            say(self.reporter)
        except Exception as error:  # noqa: BLE001 - said once, and nothing else
            with suppress(Exception):
                self.reporter.failed(error)

    def refused(self, refusal: PhalanxError) -> None:
        """
        Tell of a cluster that cannot be planned on.
        """
        self(lambda to: to.refused(refusal))

    def failed(self, error: Exception) -> None:
        """
        Tell of an error.
        """
        self(lambda to: to.failed(error))
