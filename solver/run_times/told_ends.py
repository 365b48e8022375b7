"""
Told ends: what the record says of gangs that run, and what came of it.

A gang is asked about when it is first seen, and again whenever it has run for as long
as the next class of gangs.  Once it has ended, it is known what came true, and levels
follow that.  Nothing is known of it before.
"""

from heapq import heappop, heappush

from models.gangs import RunKind
from models.memory.run_times import ASKED, NOTHING_SEEN, RunTimes, ran_class
from solver.run_times.time_left import RunTimeForecast


class ToldEnds:
    """
    Hears which gangs begin and end, asks the record of them, and gives it.
    """

    def __init__(self, record: RunTimes = NOTHING_SEEN) -> None:
        self.record = record
        self._forecast = RunTimeForecast(record)
        self._kinds: dict[str, tuple[RunKind, float]] = {}
        self._told: dict[str, dict[int, tuple[int, int, int]]] = {}
        self._due: list[tuple[float, str, float]] = []

    def begins(self, key: str, kind: RunKind, since: float, now: float) -> None:
        """
        Take that a gang runs, since when; where that is new, it is asked about anew.
        """
        if self._kinds.get(key) == (kind, since):
            return
        self._kinds[key] = kind, since
        self._told.pop(key, None)
        self._ask(key, now)

    def passes(self, now: float) -> None:
        """
        Ask of all those that have run for as long as the next class, by a moment.
        """
        while self._due and self._due[0][0] <= now:
            _, key, since = heappop(self._due)
            if key in self._kinds and self._kinds[key][1] == since:
                self._ask(key, now)

    def ends(self, key: str, now: float, made_to_leave: float | None = None) -> None:
        """
        Take that a gang runs no more; one that was made to leave counts for nothing.
        """
        if key not in self._kinds:
            return
        kind, since = self._kinds.pop(key)
        told = self._told.pop(key, {})
        if made_to_leave is not None and made_to_leave > since:
            return
        ran = max(1, round(now - since))
        record = self.record
        for before, (half, most, nearly) in told.items():
            left = ran - before
            record = record.judged(before, (left <= half, left <= most, left <= nearly))
        self._takes(record.having(kind, ran))

    def _takes(self, record: RunTimes) -> None:
        self.record = record
        self._forecast = RunTimeForecast(record)

    def _ask(self, key: str, now: float) -> None:
        kind, since = self._kinds[key]
        ran = max(0, round(now - since))
        told = self._forecast.told(kind, ran)
        if told is not None:
            self._told.setdefault(key, {})[ran] = told
        later = ran_class(ran) + 1
        if later < len(ASKED):
            heappush(self._due, (since + ASKED[later], key, since))
