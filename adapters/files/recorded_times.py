"""
The record of run times in files: read by kind, and written as it is counted.
"""

from collections.abc import Iterable
from typing import Any

from models.documents.run_time_specs import RunTimeLevelsSpec, RunTimesSpec
from models.gangs import RunKind
from models.memory.run_times import (
    ASKED,
    EDGES,
    WHOLE,
    Counts,
    Levels,
    RunTimes,
    bin_of,
    kind_of,
    ran_class,
    summed_counts,
)

Record = dict[str, Any]


def record_of(
    specs: Iterable[RunTimesSpec], levels: Iterable[RunTimeLevelsSpec] = ()
) -> RunTimes:
    """
    Build the record of run times; what is said twice of a kind is added up.
    """
    ended: dict[RunKind, Counts] = {}
    for spec in specs:
        kind = kind_of(spec.queue, spec.owner, spec.gpus)
        said = ({bin_of(each.within): each.gangs} for each in spec.ended)
        counts = summed_counts([ended.get(kind, {}), *said])
        ended[kind] = {at: number for at, number in counts.items() if number}
    told: dict[int, Levels] = {
        ran_class(said.after): (
            round(said.half * WHOLE),
            round(said.most * WHOLE),
            round(said.nearly * WHOLE),
        )
        for said in levels
    }
    return RunTimes({kind: counts for kind, counts in ended.items() if counts}, told)


def run_times_document(record: RunTimes) -> list[Record]:
    """
    Write what a record counts, kind by kind.
    """
    return [
        {
            **kind_document(kind),
            "ended": [
                {"within": EDGES[at], "gangs": number}
                for at, number in sorted(counts.items())
            ],
        }
        for kind, counts in sorted(record.ended.items())
    ]


def run_time_levels_document(record: RunTimes) -> list[Record]:
    """
    Write which parts of a record are told as 50, 80 and 95 per cent.
    """
    return [
        {
            "after": ASKED[at],
            "half": half / WHOLE,
            "most": most / WHOLE,
            "nearly": nearly / WHOLE,
        }
        for at, (half, most, nearly) in sorted(record.levels.items())
    ]


def kind_document(kind: RunKind) -> Record:
    """
    Write whose run times are taken to be alike.
    """
    return {"queue": kind.queue, "owner": kind.owner, "gpus": kind.gpus}
