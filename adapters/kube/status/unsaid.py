"""
What is left to tell of rounds before: who started, who was refused, who had to leave.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from adapters.kube.status.sayings import Saying, Told, sayings

_MOST_MISSED = 8
_MOST_ENDS = 10_000


class Unsaid:
    """
    Keeps it until it is told; of too much, the oldest goes.
    """

    def __init__(self) -> None:
        self._missed: deque[Told] = deque(maxlen=_MOST_MISSED)
        self._ends: deque[Saying] = deque(maxlen=_MOST_ENDS)
        self._left: list[Saying] = []

    def missed(self, told: Told) -> None:
        """
        Keep a round that a newer one takes the place of, if something was done in it.
        """
        if told.receipts:
            self._missed.append(told)

    def ended(self, told: Told) -> None:
        """
        Keep what came of gangs that were held.
        """
        self._ends.extend(sayings(told))

    def left(self, rest: Sequence[Saying]) -> None:
        """
        Keep what is not written yet of a round that is broken off.
        """
        self._left = [saying for saying in rest if saying.events or saying.bound]

    def taken(self) -> Iterator[Saying]:
        """
        Take one after the other.
        """
        while self._left:
            yield self._left.pop()
        while self._ends:
            yield self._ends.popleft()
        while self._missed:
            yield from sayings(self._missed.popleft())

    def clear(self) -> None:
        """
        Forget all of it.
        """
        self._missed.clear()
        self._ends.clear()
        self._left.clear()
