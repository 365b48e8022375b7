"""
The meter: what the GPUs of a cluster did, bucket by bucket.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

USES = (
    *("used", "incomplete", "fragmented", "quota"),
    *("held", "freed", "unwanted", "off"),
)
"""
What a GPU may be doing, one of them at any time.
"""
LENT = "lent"
"""
Those of the used ones that are on nodes held for others.
"""
LONG = 2000
"""
After how many buckets in which nothing changes they are taken as one.
"""
Row = dict[str, int | float | str]


@dataclass(slots=True)
class Meter:
    """
    The present use of all GPUs, added up over time.

    ``level`` is what they do now; ``sums`` what they did since the bucket began, and
    ``totals`` what they did up to the horizon.
    """

    bucket: int
    level: dict[str, int]
    now: int = 0
    begins: int = 0
    horizon: int = 0
    totals: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sums: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    queues: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    queue_sums: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    queue_at: dict[str, int] = field(default_factory=dict)

    def until(self, moment: int) -> Iterator[int]:
        """
        Let time pass; stops at the end of each bucket, which is then to be taken.

        Nothing changes until the moment, so that many whole buckets are one long one.
        """
        while moment >= self.begins + self.bucket:
            count = (moment - self.begins) // self.bucket
            long = self.now == self.begins and count > LONG
            end = self.begins + self.bucket * (count if long else 1)
            self._pass(end)
            yield self.begins
            self._begin(end)
        self._pass(moment)

    def _pass(self, moment: int) -> None:
        seconds = moment - self.now
        if not seconds:
            return
        counted = max(0, min(moment, self.horizon) - self.now)
        for use, gpus in self.level.items():
            if gpus:
                self.sums[use] += gpus * seconds
                self.totals[use] += gpus * counted
        self.now = moment

    def _begin(self, moment: int) -> None:
        self.begins = moment
        self.sums.clear()
        self.queue_sums.clear()

    def shift(self, before: str, after: str, gpus: int) -> None:
        """
        Let GPUs do something else from now on.
        """
        self.level[before] -= gpus
        self.level[after] += gpus

    def use(self, queue: str, gpus: int) -> None:
        """
        Book GPUs on a queue from now on.
        """
        self._settle(queue)
        self.queues[queue] += gpus

    def _settle(self, queue: str) -> None:
        since = max(self.begins, self.queue_at.get(queue, 0))
        self.queue_sums[queue] += self.queues[queue] * (self.now - since)
        self.queue_at[queue] = self.now

    def split(self, idle: dict[str, int]) -> None:
        """
        Say anew what idle GPUs wait for.
        """
        self.level.update(idle)

    def parts(self) -> dict[str, float | None]:
        """
        Give the part of all GPU time up to the horizon that went to each use.
        """
        whole = sum(self.totals[use] for use in USES)
        return {
            use: round(self.totals[use] / whole, 6) if whole else None
            for use in (*USES, LENT)
        }

    def means(self) -> dict[str, float]:
        """
        Give the mean GPUs of each use over the bucket so far.
        """
        seconds = max(1, self.now - self.begins)
        return {use: self.sums.get(use, 0) / seconds for use in (*USES, LENT)}

    def queue_means(self) -> dict[str, float]:
        """
        Give the mean GPUs of each queue over the bucket so far.
        """
        seconds = max(1, self.now - self.begins)
        for queue in [*self.queues]:
            self._settle(queue)
        return {queue: self.queue_sums[queue] / seconds for queue in self.queues}
