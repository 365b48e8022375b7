"""
How long to wait after failures: twice as long after each, up to a longest pause.
"""

import random
from dataclasses import dataclass

_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """
    The seconds after the first failure, and the most after many.

    With ``jitter`` a pause is cut by up to a half, by chance, so that many who failed
    together do not come back together.
    """

    first: float
    longest: float
    jitter: bool = False

    def after(self, failures: int) -> float:
        """
        Give the seconds to wait after so many failures in a row.
        """
        doublings = min(max(failures, 1) - 1, _MOST_DOUBLINGS)
        pause = min(self.longest, self.first * 2.0**doublings)
        return pause * random.uniform(0.5, 1.0) if self.jitter else pause  # noqa: S311
