"""
How a reflector goes: what it knows, how much it asks for, how long it waits.
"""

import random
from dataclasses import dataclass
from enum import StrEnum

from adapters.machine.backoff import Backoff


class State(StrEnum):
    """
    What is known of a resource: nothing yet, all of it, or that it is not installed.
    """

    UNSYNCED = "unsynced"
    SYNCED = "synced"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """
    How much is asked for at once, and the seconds between tries.

    ``watch`` is when the server ends a quiet watch; ``missing`` is how often we look
    for a kind that is not installed; a watch shorter than ``short`` that said nothing
    counts as a failure.  A kind that was read is believed to be gone once that was said
    more than ``gone`` times in a row, in half a minute at most: what stands before a
    server that is away may say so too.
    """

    limit: int = 500
    watch: int = 60
    missing: float = 30.0
    first: float = 0.5
    longest: float = 30.0
    short: float = 1.0
    tries: int = 3
    gone: int = 6

    def delay(self, failures: int) -> float:
        """
        Give the seconds to wait after some failures.
        """
        backoff = Backoff(first=self.first, longest=self.longest, jitter=True)
        return backoff.after(failures)

    def until_next_look(self) -> float:
        """
        Give the seconds until we look again for what is not installed.
        """
        return self.missing * random.uniform(0.75, 1.25)  # noqa: S311
