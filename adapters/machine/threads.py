"""
Threads for those who may start some: two manners of a search on a core each.
"""

import time
from collections.abc import Callable, Sequence
from threading import RLock, Thread

_PAUSE = 0.002


class ThreadLanes:
    """
    Jobs in threads; the search releases the interpreter while it works.
    """

    def lock(self) -> RLock:
        """
        Give a lock that its holder may take again.
        """
        return RLock()

    def start(self, jobs: Sequence[Callable[[], None]]) -> None:
        """
        Start a thread for each job.
        """
        for job in jobs:
            Thread(target=job).start()

    def wait(self, until: Callable[[], bool], meanwhile: Callable[[], bool]) -> None:
        """
        Ask every few milliseconds until the answer is yes, and do something else.
        """
        while not until():
            if not meanwhile():
                time.sleep(_PAUSE)
