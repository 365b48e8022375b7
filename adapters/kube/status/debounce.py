"""
Sentences that stay as they are while only their numbers change.

What is free in a cluster changes every second; nobody wants ten thousand pods to be
written anew for it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from adapters.kube.status.sayings import Saying, message_of

_NUMBERS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class _Kept:
    """
    What was said of a gang, when, and its shape without numbers.
    """

    shape: tuple[str, str | None, str]
    saying: Saying
    at: float


class Steady:
    """
    Gives the sentence that was said of a gang for ``refresh`` seconds.
    """

    def __init__(self, clock: Callable[[], float], refresh: float) -> None:
        self._clock = clock
        self._refresh = refresh
        self._kept: dict[str, _Kept] = {}

    def of(self, saying: Saying) -> Saying:
        """
        Give what is to be said: the sentence of before where only numbers differ.
        """
        standing, at = saying.standing, self._clock()
        words = _NUMBERS.sub("#", standing.message or "")
        shape = (standing.state, standing.reason, words)
        kept = self._kept.get(standing.key)
        if kept is None or kept.shape != shape or at - kept.at >= self._refresh:
            self._kept[standing.key] = _Kept(shape, saying, at)
            return saying
        before = kept.saying.standing
        same = replace(standing, message=before.message, facts=before.facts)
        return replace(saying, standing=same, message=message_of(same))

    def keep(self, keys: Collection[str]) -> None:
        """
        Forget the gangs that are gone.
        """
        self._kept = {key: kept for key, kept in self._kept.items() if key in keys}
