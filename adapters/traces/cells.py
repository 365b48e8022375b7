"""
Cells: numbers, moments and names as people and machines write them.
"""

import hashlib
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from adapters.traces.row_faults import Tally
from models.resources import LONGEST_SECONDS

_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0}
_UNITS |= {"h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"\s*([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ]*)\s*")
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME = 50
FARTHEST = 10**11
"""
The farthest moment, in seconds from any beginning: some 3,000 years.
"""
MOST_NAMES = 5_000_000
"""
The most names that are compared, so that a file of any length can be checked.
"""
_SLOTS = 2**24


class RowLeftOutError(Exception):
    """
    A row cannot be read; says by which rule.
    """

    def __init__(self, rule: str, what: str = "") -> None:
        super().__init__(rule)
        self.rule = rule
        self.what = what


def whole(
    text: str, *, least: int = 0, most: int = 2**50, empty: int | None = None
) -> int:
    """
    Read a whole number; 8.0 is one.
    """
    if not text.strip() and empty is not None:
        return empty
    try:
        number = float(text)
    except ValueError:
        raise RowLeftOutError("bad-number", text) from None
    if not math.isfinite(number):
        raise RowLeftOutError("bad-number", text)
    if not least <= number <= most:
        raise RowLeftOutError("out-of-range", text)
    if number != int(number):
        raise RowLeftOutError("not-whole", text)
    return int(number)


def seconds(text: str) -> float:
    """
    Read a time with or without a unit; without one it is in seconds.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise RowLeftOutError("bad-number", text)
    factor = _UNITS.get(match[2].lower())
    if factor is None:
        raise RowLeftOutError("unknown-unit", text)
    return float(match[1]) * factor


def duration(text: str) -> int:
    """
    Read how long a job ran; a part of a second is a whole one.
    """
    if not text.strip() or text.strip().lower() in {"nan", "none", "null"}:
        raise RowLeftOutError("no-duration", text)
    found = seconds(text)
    if found < 0:
        raise RowLeftOutError("negative-duration", text)
    if not found <= LONGEST_SECONDS:
        raise RowLeftOutError("bad-number", text)
    return math.ceil(found)


def moment(text: str) -> tuple[float, bool]:
    """
    Read a moment as seconds, and say whether it is a date.
    """
    found, dated = _moment(text)
    if not abs(found) <= FARTHEST:
        raise RowLeftOutError("bad-time", text)
    return found, dated


def _moment(text: str) -> tuple[float, bool]:
    try:
        return float(text), False
    except ValueError:
        pass
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        match = _TIME.fullmatch(text)
        if match is None:
            raise RowLeftOutError("bad-time", text) from None
        return seconds(text), False
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return date.timestamp(), True


class Names:
    """
    Names of jobs, each given once, and such that pods may have them.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._known = _SeenCells()
        self._numbers: Iterator[int] = iter(range(1, 2**62))

    def take(self, wanted: str, line: int) -> str:
        """
        Give a name that nobody has.
        """
        name = wanted.strip()
        if not name:
            name = f"job-{line:08d}"
        elif not (_NAME.fullmatch(name) and len(name) <= _LONGEST_NAME):
            self._tally.repair("renamed", line, wanted)
            name = safe(name)
        if not self._known.add(name):
            self._tally.repair("same-name", line, wanted)
            while not self._known.add(other := f"{name}-x{next(self._numbers)}"):
                pass
            name = other
        return name


class _SeenCells:
    """
    Texts that were seen, by eight bytes of each: a set of them takes ten times as much.

    Two texts have the same eight bytes in one of four million files of as many names as
    are kept; the second is then taken for seen.  The table is never more than two
    thirds full, and what is not used of it takes no memory.
    """

    def __init__(self) -> None:
        self._slots = memoryview(bytearray(8 * _SLOTS)).cast("Q")
        self._count = 0

    def add(self, text: str) -> bool:
        """
        Keep a text; tell whether it was new.
        """
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8)
        number = int.from_bytes(digest.digest()) or 1
        slots = self._slots
        at = number % _SLOTS
        while (found := slots[at]) != number:
            if not found:
                if self._count < MOST_NAMES:
                    slots[at] = number
                    self._count += 1
                return True
            at = (at + 1) % _SLOTS
        return False


def safe(text: str) -> str:
    """
    Write a text in the letters a name may have.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.lower())[:_LONGEST_NAME].strip("-")
    return name or "x"
