"""
Sentences that stay as they are while only numbers and names of others change.

What is free in a cluster, and who gets it, changes every second; nobody wants ten
thousand pods to be written anew for it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from adapters.kube.dialects.protocol import GroupStanding
from adapters.kube.status.sayings import Saying, message_of
from models.why.reasons import NAMES_OTHERS

_NUMBERS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class _KeptSentence:
    """
    What was said of a gang, when, and its shape without numbers and names.
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
        self._kept: dict[str, _KeptSentence] = {}

    def of(self, saying: Saying) -> Saying:
        """
        Give what is to be said: the sentence of before where only those differ.
        """
        standing, at = saying.standing, self._clock()
        shape = (standing.state, standing.reason, _words(standing))
        kept = self._kept.get(standing.key)
        if kept is None or kept.shape != shape or at - kept.at >= self._refresh:
            self._kept[standing.key] = _KeptSentence(shape, saying, at)
            return saying
        before = kept.saying.standing
        same = replace(standing, message=before.message, facts=before.facts)
        return replace(saying, standing=same, message=message_of(same))

    def keep(self, keys: Collection[str]) -> None:
        """
        Forget the gangs that are gone.
        """
        self._kept = {key: kept for key, kept in self._kept.items() if key in keys}


def _words(standing: GroupStanding) -> str:
    """
    Give a sentence without its numbers and the names of other gangs.
    """
    words = standing.message or ""
    for name in NAMES_OTHERS:
        fact = standing.facts.get(name)
        words = words.replace(str(fact), name) if fact else words
    return _NUMBERS.sub("#", words)
