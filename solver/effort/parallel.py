"""
The seam to a machine with several cores: jobs that run at once, given from outside.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

Job = Callable[[], None]


class Lanes(Protocol):
    """
    What runs jobs at once; this package starts no thread of its own.
    """

    def lock(self) -> AbstractContextManager[object]:
        """
        Give a lock that its holder may take again.
        """

    def start(self, jobs: Sequence[Job]) -> None:
        """
        Start jobs and do not wait for them.
        """

    def wait(self, until: Callable[[], bool]) -> None:
        """
        Ask again and again, with a short pause, until the answer is yes.
        """
