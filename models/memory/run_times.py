"""
Run times: for how long gangs ran that have ended, counted by queue, owner and size.

Gangs are counted in bins of time, each a fifth longer than the one before it, so that a
record of any length stays small, and integers alone say what is forecast.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isqrt

from models.gangs import Gang, RunKind, pod_sets
from models.resources import num_gpus

_BINS = 110
_MOST_COUNTED = 1024
MOST_KINDS = 200
"""
The most kinds of gangs that a record tells apart.
"""
Counts = Mapping[int, int]
"""
How many gangs ended in each bin.
"""

EDGES = tuple(sorted({isqrt(isqrt(2**quarter)) for quarter in range(_BINS)}))
"""
The longest run time in each bin, in seconds.
"""

ASKED = (0, 600, 3600, 6 * 3600, 86400)
"""
For how long gangs have run, in seconds, when they are asked about: the first of each
class of those that have run for about as long.
"""
PERCENTS = (50, 80, 95)
WHOLE = 100_000
Levels = tuple[int, int, int]
"""
Which parts of the record are told as 50, 80 and 95 per cent, of a hundred thousand.
"""
FIRST_LEVELS: Levels = (50_000, 80_000, 95_000)
LEAST_LEVEL, MOST_LEVEL = 2_000, 99_000


def bin_of(seconds: int) -> int:
    """
    Give the bin of a run time; what is longer than all is in the last.
    """
    return min(bisect_left(EDGES, seconds), len(EDGES) - 1)


@dataclass(frozen=True, slots=True)
class RunTimes:
    """
    How many gangs of each kind ended after how long; never changed.

    ``levels`` follow what came true of what was told, by how long gangs had run then.
    """

    ended: Mapping[RunKind, Counts] = field(default_factory=dict)
    levels: Mapping[int, Levels] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.ended)

    def having(self, kind: RunKind, seconds: int) -> "RunTimes":
        """
        Give the record with one gang more that ended after so long.

        Of a kind of which many are counted each counts half from then on; where there
        are too many kinds, the one of which the fewest are counted is forgotten.
        """
        counts = dict(self.ended.get(kind, {}))
        at = bin_of(seconds)
        counts[at] = counts.get(at, 0) + 1
        if sum(counts.values()) > _MOST_COUNTED:
            counts = {each: (n + 1) // 2 for each, n in counts.items()}
        ended = dict(self.ended)
        if kind not in ended and len(ended) >= MOST_KINDS:
            del ended[min(ended, key=lambda one: (sum(ended[one].values()), one))]
        return replace(self, ended={**ended, kind: counts})

    def renamed(self, name: Callable[[RunKind], RunKind]) -> "RunTimes":
        """
        Give the record with other names of kinds.
        """
        ended = {name(kind): counts for kind, counts in self.ended.items()}
        return replace(self, ended=ended)

    def judged(self, ran: int, kept: tuple[bool, bool, bool]) -> "RunTimes":
        """
        Give the record after it was seen which levels were kept of a gang so old.

        Each step is a thousandth of what it was off by: gangs that are alike come many
        at once, and hundreds that have not ended yet must not move a level far.
        """
        at = ran_class(ran)
        half, most, nearly = (
            min(MOST_LEVEL, max(LEAST_LEVEL, level + percent - 100 * came_true))
            for level, percent, came_true in zip(
                self.levels_of(ran), PERCENTS, kept, strict=True
            )
        )
        return replace(self, levels={**self.levels, at: (half, most, nearly)})

    def levels_of(self, ran: int) -> Levels:
        """
        Give the parts of the record that are told of a gang that has run for so long.
        """
        return self.levels.get(ran_class(ran), FIRST_LEVELS)


def ran_class(ran: int) -> int:
    """
    Say with which others a gang is judged that has run for so long.
    """
    return bisect_right(ASKED, ran) - 1


def summed_counts(several: Iterable[Counts]) -> Counts:
    """
    Add up the counts of several kinds.
    """
    total: dict[int, int] = {}
    for counts in several:
        for at, number in counts.items():
            total[at] = total.get(at, 0) + number
    return total


def run_kind(gang: Gang) -> RunKind:
    """
    Say whose run times those of a gang are like.

    Its owner is its namespace, and its size that of the pods that it may have, unless
    it says otherwise.
    """
    if gang.runs_like is not None:
        return gang.runs_like
    gpus = sum(num_gpus(leaf.requests) * leaf.replicas for leaf in pod_sets(gang.tree))
    return kind_of(gang.queue, gang.namespace, gpus)


NOTHING_SEEN = RunTimes()


@lru_cache(maxsize=1 << 14)
def kind_of(queue: str, owner: str, gpus: int) -> RunKind:
    """
    Make a kind: sizes up to the same power of two are one.
    """
    return RunKind(queue, owner, 1 << (gpus - 1).bit_length() if gpus else 0)
