"""
Run times: for how long gangs ran that have ended, counted by queue, owner and size.

Gangs are counted in bins of time, each a fifth longer than the one before it, so that a
record of any length stays small, and integers alone say what is forecast.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
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


def bin_of(seconds: int) -> int:
    """
    Give the bin of a run time; what is longer than all is in the last.
    """
    return min(bisect_left(EDGES, seconds), len(EDGES) - 1)


@dataclass(frozen=True, slots=True)
class RunTimes:
    """
    How many gangs of each kind ended after how long; never changed.
    """

    ended: Mapping[RunKind, Counts] = field(default_factory=dict)

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
        return RunTimes({**ended, kind: counts})


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


@cache
def kind_of(queue: str, owner: str, gpus: int) -> RunKind:
    """
    Make a kind: sizes up to the same power of two are one.
    """
    return RunKind(queue, owner, 1 << (gpus - 1).bit_length() if gpus else 0)
