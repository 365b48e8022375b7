"""
Ended gangs: for how long those ran that were there and run no more.

It decides nothing: planning reads the record as a field of the snapshot.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from models.gangs import Gang, PodPhase, RunKind, pod_sets
from models.memory.aged_gangs import by_name, places_of, still
from models.memory.kept import Held
from models.memory.run_times import (
    EDGES,
    MOST_KINDS,
    NOTHING_SEEN,
    RunTimes,
    kind_of,
    run_kind,
)
from models.snapshot import Snapshot
from solver import ran_for

_Count = Annotated[int, Field(strict=True, ge=1)]
_Bin = Annotated[int, Field(strict=True, ge=0, lt=len(EDGES))]
_Size = Annotated[int, Field(strict=True, ge=0)]
_Row = tuple[str, str, _Size, list[tuple[_Bin, _Count]]]
_ROWS = TypeAdapter(Annotated[list[_Row], Field(max_length=MOST_KINDS)])


class EndedGangs:
    """
    Which gangs run since when, and the record of those that have ended.
    """

    def __init__(self) -> None:
        self.record: RunTimes = NOTHING_SEEN
        self._gangs: Held[Gang] = Held()
        self._running: dict[str, tuple[RunKind, float]] = {}

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
            if gang is not None and runs(gang):
                self._running[key] = (run_kind(gang), now - ran_for(gang))
            elif key in self._running:
                kind, since = self._running.pop(key)
                if made_to_leave.get(key, since) <= since:
                    self.record = self.record.having(kind, max(1, round(now - since)))
        return self.record

    def document(self) -> list[list[Any]]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        return [
            [*kind, [[at, number] for at, number in sorted(counts.items())]]
            for kind, counts in sorted(self.record.ended.items())
        ]

    def restore(self, document: object) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing was seen.
        """
        self.record = NOTHING_SEEN
        if document is None:
            return True
        try:
            rows = _ROWS.validate_python(document)
        except ValidationError:
            return False
        self.record = RunTimes(
            {kind_of(*kind): dict(counts) for *kind, counts in rows if counts}
        )
        return True


def runs(gang: Gang) -> bool:
    """
    Tell whether some pod of a gang runs.
    """
    return any(
        pod.phase is PodPhase.RUNNING
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )
