"""
Time left: in how many seconds a gang ends, at the latest and likely.

The latest is what files and objects say (``maxRuntime``).  What is likely is read from
the record: of gangs like it that ran for longer than it has, the part that had ended
after so much more.  Gangs are alike by queue, owner and size; where too few of those
are left, by less.  Which part is told as 80 per cent follows what came true, so that
what drifts is told right again before long; ``latest`` never rests on it.  Nothing may
depend on it for being legal.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from models.gangs import Gang, RunKind, running_pods
from models.memory.run_times import (
    EDGES,
    WHOLE,
    Counts,
    RunTimes,
    run_kind,
    summed_counts,
)

_ENOUGH = 19
"""
The fewest gangs that tell within which time 95 of 100 have ended.
"""
_LIKE: Sequence[Callable[[RunKind], object]] = (
    lambda kind: kind,
    lambda kind: (kind.queue, kind.gpus),
    lambda kind: kind.gpus,
    lambda _: None,
)
"""
What must be the same for gangs to be alike, the most first.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """
    In how many seconds a gang ends; none where nobody can say.

    ``latest`` is when it has ended for sure.  By ``half`` it has with 50 %, by ``most``
    with 80 %, by ``nearly`` with 95 %; none of them is later than ``latest``.
    ``like`` is by how many gangs that is told.
    """

    latest: int | None = None
    half: int | None = None
    most: int | None = None
    nearly: int | None = None
    like: int = 0

    def within(self, percent: int) -> int | None:
        """
        Give by when a gang has ended with 50, 80 or 95 per cent.
        """
        return {50: self.half, 80: self.most, 95: self.nearly}[percent]


class Ended:
    """
    After how long so many gangs had ended.
    """

    def __init__(self, counts: Counts) -> None:
        ordered = [counts.get(at, 0) for at in range(len(EDGES))]
        self._sums = list(accumulate(ordered, initial=0))

    def longer(self, ran: int) -> int:
        """
        Count those that ran for longer.
        """
        return self._sums[-1] - self._sums[bisect_right(EDGES, ran)]

    def left(self, ran: int, level: int) -> int | None:
        """
        Give the seconds after which such a part of those had ended; none if none did.

        In a bin ends are taken to be spread evenly, from the time on that has passed.
        """
        gone = self._sums[bisect_right(EDGES, ran)]
        number = self._sums[-1] - gone
        if not number:
            return None
        rank = min((number + 1) * level, number * WHOLE) + gone * WHOLE
        at = bisect_left(self._sums, -(-rank // WHOLE)) - 1
        low, high = max(ran, EDGES[at - 1] if at else 0), EDGES[at]
        part = rank - self._sums[at] * WHOLE
        within = (self._sums[at + 1] - self._sums[at]) * WHOLE
        return low - ran - (-(high - low) * part // within)


class RunTimeForecast:
    """
    What a record says of gangs that wait or run.
    """

    def __init__(self, record: RunTimes) -> None:
        self._record = record
        self._known: dict[tuple[int, object], Ended] = {}

    def of(self, gang: Gang) -> TimeLeft:
        """
        Say when a gang ends that runs; of one that waits, for how long it will run.
        """
        return self.after(gang, ran_for(gang))

    def after(self, gang: Gang, ran: int) -> TimeLeft:
        """
        Say in how many seconds a gang ends that has run for so long.
        """
        latest = None if gang.max_runtime is None else max(0, gang.max_runtime - ran)
        half, most, nearly = self.told(run_kind(gang), ran) or (latest,) * 3
        seen = self.like(run_kind(gang), ran)
        return TimeLeft(
            latest=latest,
            half=_sooner(half, latest),
            most=_sooner(most, latest),
            nearly=_sooner(nearly, latest),
            like=0 if seen is None else seen.longer(ran),
        )

    def told(self, kind: RunKind, ran: int) -> tuple[int, int, int] | None:
        """
        Say by the record alone in how many seconds such a gang ends; none if few tell.

        The parts that are told as 50, 80 and 95 per cent are those that came true.
        """
        seen = self.like(kind, ran)
        if seen is None:
            return None
        half, most, nearly = (
            seen.left(ran, level) or 0 for level in sorted(self._record.levels_of(ran))
        )
        return half, most, nearly

    def like(self, kind: RunKind, ran: int) -> Ended | None:
        """
        Give the record of gangs that are the most like a kind; none where it is short.
        """
        if not self._record:
            return None
        for level in range(len(_LIKE)):
            seen = self._seen(level, kind)
            if seen.longer(ran) >= _ENOUGH:
                return seen
        return None

    def _seen(self, level: int, kind: RunKind) -> Ended:
        word = _LIKE[level]
        key = (level, word(kind))
        if key not in self._known:
            ended = self._record.ended
            like = (ended[each] for each in ended if word(each) == key[1])
            self._known[key] = Ended(summed_counts(like))
        return self._known[key]


def _sooner(time: int | None, latest: int | None) -> int | None:
    """
    Give what is likely, no later than what is sure; none where neither is known.
    """
    return min((x for x in (time, latest) if x is not None), default=None)


def ran_for(gang: Gang) -> int:
    """
    Give for how long a gang has run: as long as the first of its pods that run.
    """
    return max((pod.seconds for _, _, pod in running_pods(gang)), default=0)
