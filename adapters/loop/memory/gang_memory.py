"""
What is remembered of one gang, and how that is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

_LARGEST: Final = 1e12


@dataclass(slots=True)
class GangMemory:
    """
    What is remembered of one gang; times are seconds since the epoch.

    ``waited`` are the seconds for which it was ready and not chosen, without those
    since ``waits_since``.  ``halved`` says that we bound a part of it and then failed,
    or make it leave and may fail halfway; it runs on nodes of those that it is
    ``lent_by``.
    """

    born: float = 0.0
    seen: float = 0.0
    waited: float = 0.0
    waits_since: float | None = None
    evicted_at: float | None = None
    failures: int = 0
    again_at: float = 0.0
    below_since: float | None = None
    halved: bool = False
    satisfied: bool = False
    lent_by: tuple[str, ...] = ()

    def set_back(self, now: float, longest: float) -> None:
        """
        Forget what lies ahead, since the clock was set back; no pause is longer.
        """
        for word in ("waits_since", "evicted_at", "below_since"):
            moment = getattr(self, word)
            if moment is not None and moment > now:
                setattr(self, word, now)
        if self.again_at > now + longest:
            self.again_at = now

    def is_blank(self) -> bool:
        """
        Tell whether there is nothing to remember.
        """
        return not (
            self.waited
            or self.waits_since is not None
            or self.evicted_at is not None
            or self.failures
            or self.again_at
            or self.below_since is not None
            or self.halved
            or self.satisfied
            or self.lent_by
        )


_BLANK: Final = {
    each.name: each.default for each in fields(GangMemory) if each.name != "seen"
}


def plain(held: GangMemory) -> dict[str, Any]:
    """
    Give what differs from a gang of which nothing is known; times to a tenth.
    """
    found: dict[str, Any] = {}
    for word, blank in _BLANK.items():
        value = getattr(held, word)
        if value != blank:
            found[word] = round(value, 1) if isinstance(value, float) else value
    return found


def importance(entry: tuple[str, GangMemory]) -> tuple[bool, bool, float, str]:
    """
    Order gangs by what is lost with them: what is wrong, then who waited, the longest.
    """
    key, held = entry
    wrong = held.satisfied or held.halved or held.below_since is not None
    lately = held.failures > 0 or held.evicted_at is not None
    since = held.born if held.waits_since is None else held.waits_since
    return not wrong, not lately, since - held.waited, key


def known(said: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give the words of a kept gang that we know, where they hold what they must.
    """
    found: dict[str, Any] = {}
    for word, blank in _BLANK.items():
        value: Any = said.get(word)
        if isinstance(blank, tuple):
            fits = isinstance(value, list) and all(isinstance(x, str) for x in value)
            value = tuple(value) if fits else value
        elif isinstance(blank, bool):
            fits = isinstance(value, bool)
        else:
            value = as_number(value)
            fits = value is not None
        if fits:
            found[word] = int(value) if word == "failures" else value
    return found


def as_number(said: object) -> float | None:
    """
    Read a number that was kept; none where it is none, or far from any that we write.
    """
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if -_LARGEST < said < _LARGEST else None
