"""
Start memory: of gangs that wait, what was expected of their start and what came of it.

It decides nothing: the snapshot carries the record for those who ask when.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Annotated, Any
from zlib import crc32

from pydantic import Field, TypeAdapter, ValidationError

from models.gangs import Gang, running_pods
from models.memory.aged_gangs import by_name, places_of, still
from models.memory.kept import Held
from models.memory.run_times import EDGES, Counts
from models.memory.start_record import (
    DAY,
    LEAST_LEVEL,
    MOST_LEVEL,
    NO_STARTS,
    WEIGHT,
    StartClass,
    StartRecord,
    class_of,
    gpus_of,
    lateness,
)

GAP = 1800
"""
Seconds between two moments at which gangs are noted.
"""
EACH = 3
"""
Gangs noted at each, drawn from all that wait, as whoever asks would meet them.
"""
HOUR = 3600
MOST_NOTED = 600
"""
Notes of gangs that wait still; beyond that the oldest are let go.
"""
MOST_QUEUES = 1000
_Count = Annotated[int, Field(strict=True, ge=1)]
_Bin = Annotated[int, Field(strict=True, ge=0, lt=len(EDGES))]
_Place = Annotated[int, Field(strict=True, ge=0, le=3)]
_Started = tuple[_Place, _Place, list[tuple[_Bin, _Count]]]
_Seconds = Annotated[int, Field(strict=True, ge=1)]
_Said = Annotated[list[_Seconds], Field(max_length=3)]
_Moment = Annotated[float, Field(allow_inf_nan=False)]
_Note = tuple[str, _Moment, _Seconds, _Place, _Place, _Said]
_Level = Annotated[float, Field(ge=LEAST_LEVEL, le=MOST_LEVEL)]
_Levels = tuple[_Place, _Place, tuple[_Level, _Level, _Level]]
_Hour = tuple[str, Annotated[int, Field(strict=True, ge=0)], _Count]


@dataclass(frozen=True, slots=True)
class _KeptStarts:
    """
    What is kept over a restart, as it is written.
    """

    since: _Moment
    started: list[_Started]
    late: list[_Started]
    levels: list[_Levels]
    noted: list[_Note]
    hours: list[_Hour]


_KEPT_STARTS = TypeAdapter(_KeptStarts)


@dataclass(frozen=True, slots=True)
class Noted:
    """
    What was expected of a gang, when, and which are like it.
    """

    at: float
    expected: int
    kind: StartClass
    said: tuple[int, ...] = ()


class StartMemory:
    """
    Hears who waits, who starts and who is gone, and gives the record.
    """

    def __init__(self) -> None:
        self.counted: StartRecord = NO_STARTS
        self._since: float | None = None
        self._last = 0.0
        self._waiting: dict[str, tuple[str, int]] = {}
        self._noted: dict[str, list[Noted]] = {}
        self._late: dict[StartClass, dict[int, int]] = {}
        self._hours: dict[tuple[str, int], int] = {}
        self._gangs: Held[Gang] = Held()

    def note(self, gangs: Sequence[Gang], now: float) -> None:
        """
        Look at who is there now: who came, has started, or is gone.
        """
        gone, came = self._gangs.changed(still(gangs))
        keys = {gang.key for gang in (*gone, *came)}
        named, there = by_name(gangs), places_of(gangs)
        for key in sorted(keys):
            if key not in there:
                self.leaves(key)
            elif any(running_pods(gang := named[key])):
                self.starts(key, now)
            elif key not in self._waiting:
                self.comes(key, gang.queue, gpus_of(gang))

    def comes(self, key: str, queue: str, gpus: int) -> None:
        """
        Take that a gang waits.
        """
        self._waiting[key] = queue, gpus

    def waits(self, line: Mapping[str, tuple[str, int, int]], now: float) -> list[str]:
        """
        Take who waits and could be planned; give the gangs that are noted now.

        Parameters
        ----------
        line
            Of each its queue, its GPUs, and those up to it in its queue.
        now
            When that is.
        """
        if self._since is None or self._since > now:  # a clock may be set back
            self._since = now
        for key, (queue, gpus, _) in line.items():
            self.comes(key, queue, gpus)
        if self._last <= now < self._last + GAP:
            return []
        self._judge_late(now)
        self._last = now
        slot = int(now // GAP)
        drawn = nsmallest(
            EACH, line, key=lambda key: (crc32(f"{slot} {key}".encode()), key)
        )
        record = self.record(now)
        for key in drawn:
            queue, gpus, before = line[key]
            expected = record.expected(queue, before)
            if expected is not None:
                likely = record.likely(gpus, expected)
                said = (likely.half, likely.most, likely.nearly) if likely else ()
                note = Noted(now, expected, class_of(gpus, expected), said)
                self._noted.setdefault(key, []).append(note)
        self._let_go(now)
        return drawn

    def starts(self, key: str, now: float) -> None:
        """
        Take that a gang has started, if it was one of those that waited.
        """
        known = self._waiting.pop(key, None)
        notes = self._noted.pop(key, ())
        if known is None:
            return  # nobody saw when: it was while we were away
        queue, gpus = known
        hour = queue, int(now // HOUR)
        if gpus:
            self._hours[hour] = self._hours.get(hour, 0) + gpus
        for note in notes:
            waited = max(1, round(now - note.at))
            self.counted = self.counted.having(note.kind, note.expected, waited)
            self._judge(note, now, started=True)

    def _judge(self, note: Noted, now: float, *, started: bool) -> None:
        """
        Take for each level whether what was told came true, once that is known.
        """
        for at, by in enumerate(note.said):
            was_late = self._last - note.at > by
            is_late = now - note.at > by
            if not was_late and (is_late or started):
                self.counted = self.counted.judged(note.kind, at, kept=not is_late)

    def _judge_late(self, now: float) -> None:
        for notes in self._noted.values():
            for note in notes:
                self._judge(note, now, started=False)

    def leaves(self, key: str) -> None:
        """
        Take that a gang is gone without a start: what it was told came to nothing.
        """
        self._waiting.pop(key, None)
        self._noted.pop(key, None)

    def record(self, now: float) -> StartRecord:
        """
        Give what is known at a moment.
        """
        last = int(now // HOUR)
        first = last - DAY // HOUR
        hours = self._hours.items()
        self._hours = {key: n for key, n in hours if first < key[1] <= last}
        gpus: dict[str, int] = {}
        for (queue, _), number in self._hours.items():
            gpus[queue] = gpus.get(queue, 0) + number
        late = {kind: dict(counts) for kind, counts in self._late.items()}
        for notes in self._noted.values():
            for note in notes:
                _count(late, note, now)
        known = 0.0 if self._since is None else max(0.0, now - self._since)
        passed = (DAY // HOUR - 1) * HOUR + now % HOUR
        seconds = int(min(known, passed))
        return replace(self.counted, late=late, gpus=gpus, seconds=seconds)

    def _let_go(self, now: float) -> None:
        """
        Keep as many notes and queues as there is room for, the newest.

        Of notes that are let go it stays known that nobody had started by now.
        """
        while sum(map(len, self._noted.values())) > MOST_NOTED:
            oldest = min(self._noted, key=lambda key: self._noted[key][0].at)
            for note in self._noted.pop(oldest):
                _count(self._late, note, now)
        for key in sorted(self._hours, key=lambda key: key[1])[: -24 * MOST_QUEUES]:
            del self._hours[key]

    def document(self) -> dict[str, Any] | None:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        if self._since is None:
            return None
        return {
            "since": round(self._since, 1),
            "started": _rows(self.counted.started),
            "late": _rows(self._late),
            "levels": [
                [*kind, [round(level, 4) for level in levels]]
                for kind, levels in sorted(self.counted.levels.items())
            ],
            "noted": [
                [key, round(note.at, 1), note.expected, *note.kind, [*note.said]]
                for key, notes in sorted(self._noted.items())
                for note in notes
            ],
            "hours": [[*key, number] for key, number in sorted(self._hours.items())],
        }

    def restore(self, document: object) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing was seen.
        """
        self.counted, self._since, self._last = NO_STARTS, None, 0.0
        self._waiting, self._noted, self._late, self._hours = {}, {}, {}, {}
        if document is None:
            return True
        try:
            kept = _KEPT_STARTS.validate_python(document)
        except ValidationError:
            return False
        self._since = kept.since
        started: dict[StartClass, Counts] = {
            (size, off): dict(rows) for size, off, rows in kept.started if rows
        }
        levels = {(size, off): said for size, off, said in kept.levels}
        self.counted = StartRecord(started=started, levels=levels)
        self._late = {(size, off): dict(rows) for size, off, rows in kept.late}
        for key, at, expected, size, off, said in kept.noted:
            note = Noted(at, expected, (size, off), tuple(said))
            self._noted.setdefault(key, []).append(note)
        self._hours = {(queue, hour): number for queue, hour, number in kept.hours}
        return True


def _count(late: dict[StartClass, dict[int, int]], note: Noted, now: float) -> None:
    """
    Count how late a gang is that waits still.
    """
    counts = late.setdefault(note.kind, {})
    at = lateness(note.expected, max(1, round(now - note.at)))
    counts[at] = counts.get(at, 0) + WEIGHT


def _rows(counts: Mapping[StartClass, Counts]) -> list[list[Any]]:
    """
    Give counts as plain values.
    """
    return [
        [*kind, [[at, number] for at, number in sorted(row.items())]]
        for kind, row in sorted(counts.items())
    ]
