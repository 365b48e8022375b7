"""
Ended gangs: for how long those ran that were there and run no more.

It decides nothing: planning reads the record as a field of the snapshot.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from models.gangs import Gang, running_pods
from models.memory.aged_gangs import by_name, places_of, still
from models.memory.kept import Held
from models.memory.run_times import (
    ASKED,
    EDGES,
    LEAST_LEVEL,
    MOST_KINDS,
    MOST_LEVEL,
    RunTimes,
    kind_of,
    run_kind,
)
from models.snapshot import Snapshot
from solver import ToldEnds, ran_for

_Count = Annotated[int, Field(strict=True, ge=1)]
_Bin = Annotated[int, Field(strict=True, ge=0, lt=len(EDGES))]
_Size = Annotated[int, Field(strict=True, ge=0)]
_Row = tuple[str, str, _Size, list[tuple[_Bin, _Count]]]
_Level = Annotated[int, Field(strict=True, ge=LEAST_LEVEL, le=MOST_LEVEL)]
_Class = Annotated[int, Field(strict=True, ge=0, lt=len(ASKED))]
_LEVELS = TypeAdapter(list[tuple[_Class, tuple[_Level, _Level, _Level]]])
_ROWS = TypeAdapter(Annotated[list[_Row], Field(max_length=MOST_KINDS)])


class EndedGangs:
    """
    Which gangs run since when, and the record of those that have ended.
    """

    def __init__(self) -> None:
        self._gangs: Held[Gang] = Held()
        self._told = ToldEnds()

    @property
    def record(self) -> RunTimes:
        """
        Give the record of those that have ended.
        """
        return self._told.record

    def note(
        self, snapshot: Snapshot, now: float, made_to_leave: Mapping[str, float]
    ) -> RunTimes:
        """
        Look at what runs now, and give the record with what has ended since.

        Parameters
        ----------
        snapshot
            What is there.
        now
            When that is.
        made_to_leave
            When gangs were evicted: those that ended by it say nothing.
        """
        gone, came = self._gangs.changed(still(snapshot.gangs))
        keys = {gang.key for gang in (*gone, *came)}
        gangs, there = by_name(snapshot.gangs), places_of(snapshot.gangs)
        for key in sorted(keys):
            gang = gangs[key] if key in there else None
            if gang is not None and any(running_pods(gang)):
                self._told.begins(key, run_kind(gang), now - ran_for(gang), now)
            else:
                self._told.ends(key, now, made_to_leave.get(key))
        self._told.passes(now)
        return self.record

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        record = self.record
        ended = [
            [*kind, [[at, number] for at, number in sorted(counts.items())]]
            for kind, counts in sorted(record.ended.items())
        ]
        levels = [[at, [*levels]] for at, levels in sorted(record.levels.items())]
        said = {"ended": ended, "ended_levels": levels}
        return {name: rows for name, rows in said.items() if rows}

    def restore(self, document: Mapping[str, Any]) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing was seen.
        """
        self._told = ToldEnds()
        try:
            rows = _ROWS.validate_python(document.get("ended", []))
            said = _LEVELS.validate_python(document.get("ended_levels", []))
        except ValidationError:
            return False
        ended = {kind_of(*kind): dict(counts) for *kind, counts in rows if counts}
        self._told = ToldEnds(RunTimes(ended, dict(said)))
        return True
