"""
Starts: how gangs that waited started, against what the work before them let expect.

What is expected is the work that comes first in a gang's queue, itself among it, at the
pace of the queue's last day.  How much later or earlier gangs really started is counted
in bins, by their size and by how far off the start was: with that, what is expected
becomes "with 80 % by ...".  Nothing may depend on it for being legal.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from models.gangs import Gang, pod_sets
from models.memory.run_times import EDGES, Counts, bin_of
from models.resources import num_gpus

ENOUGH = 59
"""
The fewest gangs of a class that tell by when 95 of 100 have started.
"""
DAY = 86400
LEAST_KNOWN = 6 * 3600
"""
Seconds for which starts must have been seen before they say a pace.
"""
_SIZES = (2, 8)
_FAR_OFF = (3600, 6 * 3600, 24 * 3600)
_MOST_COUNTED = 512
WEIGHT = 64
_WHOLE = 1000
PERCENTS = (50, 80, 95)
STEP = 0.005
LEAST_LEVEL, MOST_LEVEL = 0.02, 0.995
Levels = tuple[float, float, float]
FIRST_LEVELS: Levels = (0.5, 0.8, 0.95)
"""
The parts of the record that are told as 50, 80 and 95 per cent, before it is known how
often that came true, and how far a level moves with one that did not.
"""
StartClass = tuple[int, int]
"""
Which sizes, and how far off the start was expected: the places in two lists of bounds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyStart:
    """
    In how many seconds a gang starts with 50, 80 and 95 per cent; by how many like it.
    """

    half: int
    most: int
    nearly: int
    like: int

    def before(self, latest: int) -> "LikelyStart":
        """
        Give none of them later than what is sure.
        """
        half, most, nearly = (
            min(latest, each) for each in (self.half, self.most, self.nearly)
        )
        return LikelyStart(half=half, most=most, nearly=nearly, like=self.like)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRecord:
    """
    What is known of starts; never changed.

    ``started`` counts gangs by class and by how late they were, in thousandths of what
    was expected; ``late`` those that wait still, by how late they are so far.  ``gpus``
    are those that started by queue in the last ``seconds``.
    """

    started: Mapping[StartClass, Counts] = field(default_factory=dict)
    late: Mapping[StartClass, Counts] = field(default_factory=dict)
    levels: Mapping[StartClass, Levels] = field(default_factory=dict)
    gpus: Mapping[str, int] = field(default_factory=dict)
    seconds: int = 0

    def expected(self, queue: str, gpus: int) -> int | None:
        """
        Give the seconds until so many GPUs of a queue start at its pace.
        """
        started = self.gpus.get(queue, 0)
        if self.seconds < LEAST_KNOWN or not started or not gpus:
            return None
        return max(1, gpus * self.seconds // started)

    def having(self, kind: StartClass, expected: int, waited: int) -> "StartRecord":
        """
        Give the record with one gang more that started after so long.

        Of a class of which many are counted each counts half from then on.
        """
        counts = dict(self.started.get(kind, {}))
        at = lateness(expected, waited)
        counts[at] = counts.get(at, 0) + WEIGHT
        if sum(counts.values()) > _MOST_COUNTED * WEIGHT:
            counts = {each: half for each, n in counts.items() if (half := n // 2)}
        return replace(self, started={**self.started, kind: counts})

    def judged(self, kind: StartClass, at: int, *, kept: bool) -> "StartRecord":
        """
        Give the record after a level was seen to be kept, or not.
        """
        levels = [*self.levels.get(kind, FIRST_LEVELS)]
        moved = levels[at] + STEP * (PERCENTS[at] / 100 - kept)
        levels[at] = min(MOST_LEVEL, max(LEAST_LEVEL, moved))
        half, most, nearly = levels
        return replace(self, levels={**self.levels, kind: (half, most, nearly)})

    def like(self, size: int, expected: int) -> int:
        """
        Count the gangs on record that are like one.
        """
        return sum(self.started.get(class_of(size, expected), {}).values()) // WEIGHT

    def likely(self, size: int, expected: int) -> LikelyStart | None:
        """
        Say when a gang of a size starts of which this is expected; none if few tell.
        """
        kind = class_of(size, expected)
        started, late = self.started.get(kind, {}), self.late.get(kind, {})
        like = self.like(size, expected)
        if like < ENOUGH:
            return None
        levels = sorted(self.levels.get(kind, FIRST_LEVELS))
        half, most, nearly = (
            _within(started, late, level, expected) for level in levels
        )
        if half is None or most is None or nearly is None:
            return None
        return LikelyStart(half=half, most=most, nearly=nearly, like=like)


NO_STARTS = StartRecord()


def class_of(size: int, expected: int) -> StartClass:
    """
    Say which gangs are like one.
    """
    return bisect_right(_SIZES, size), bisect_right(_FAR_OFF, expected)


def lateness(expected: int, waited: int) -> int:
    """
    Give the bin of how late a start was.
    """
    return bin_of(-(-waited * _WHOLE // expected))


def _within(started: Counts, late: Counts, level: float, expected: int) -> int | None:
    """
    Give the seconds within which so many of a hundred start, as the record goes.

    Who waits still counts as one that had not started until then (Kaplan and Meier);
    in a bin starts are taken to be spread evenly.
    """
    there = sum(started.values()) + sum(late.values())
    wanted = min(1.0, level * (there + WEIGHT) / there)
    left = 1.0
    for at in sorted({*started, *late}):
        before = left
        left *= 1 - started.get(at, 0) / there
        if 1 - left >= wanted - 1e-9:
            part = min(1.0, (wanted - 1 + before) / (before - left))
            low, high = EDGES[at - 1] if at else 0, EDGES[at]
            return ceil(expected * (low + part * (high - low)) / _WHOLE)
        there -= started.get(at, 0) + late.get(at, 0)
        if not there:
            break
    return None


def gpus_of(gang: Gang) -> int:
    """
    Give the GPUs of all pods that a gang may have.
    """
    return sum(num_gpus(leaf.requests) * leaf.replicas for leaf in pod_sets(gang.tree))


def lines_of(waiting: Iterable[Gang]) -> dict[str, tuple[str, int, int]]:
    """
    Give of each gang that waits its queue, its GPUs, and those up to it in its queue.

    The more important come first, then the older.
    """
    sums: dict[str, int] = {}
    found = {}
    for gang in sorted(waiting, key=lambda x: (-x.priority, -x.age, x.key)):
        gpus = gpus_of(gang)
        sums[gang.queue] = sums.get(gang.queue, 0) + gpus
        found[gang.key] = gang.queue, gpus, sums[gang.queue]
    return found
