"""
Large files, judged in portions: what is wrong is found before it fills the memory.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from adapters.files.problems import Fault, Path, schema_faults
from adapters.files.sizes import MOST_GANGS, MOST_NODES, MOST_QUEUES
from adapters.files.yaml_tree import DEEPEST
from models.scenario import (
    BudgetSpec,
    GangSpec,
    NodeSpec,
    QueueSpec,
    ScenarioFile,
    Spec,
    TopologySpec,
)

MOST_FAULTS = 1000
MOST_IN_RECORD = 200_000
PORTION = 1000
_RECORDS: Mapping[str, tuple[type[Spec], int]] = {
    "nodes": (NodeSpec, MOST_NODES),
    "topologies": (TopologySpec, 1000),
    "queues": (QueueSpec, MOST_QUEUES),
    "gangs": (GangSpec, MOST_GANGS),
    "budgets": (BudgetSpec, MOST_GANGS),
}


def bulk_faults(document: Mapping[str, object]) -> list[Fault]:
    """
    Find what is too long or too deep to be judged at all.
    """
    given = document.get("given")
    parts = dict(document)
    faults: list[Fault] = []
    if isinstance(given, Mapping):
        parts.update(given=None)
        for word, (_, most) in _RECORDS.items():
            records = given.get(word)
            if isinstance(records, list) and len(records) > most:
                what = f"{len(records):,} records, at most {most:,} are read"
                faults.append((("given", word), what, ""))
        if not faults:
            faults = list(_record_faults(given))
    faults += _too_much(parts, ())
    return faults


def _record_faults(given: Mapping[str, object]) -> Iterator[Fault]:
    for word, records in given.items():
        if not isinstance(records, list):
            yield from _too_much(records, ("given", word))
            continue
        for index, record in enumerate(records):
            yield from _too_much(record, ("given", word, index))


def _too_much(value: object, place: Path) -> list[Fault]:
    """
    Count the values in one record, level by level.
    """
    level: list[Any] = [value]
    number = 0
    for _ in range(DEEPEST + 1):
        inner: list[Any] = []
        for here in level:
            if type(here) is dict:
                inner += here.values()
            elif type(here) is list:
                inner += here
        number += len(inner)
        if not inner:
            return []
        if number > MOST_IN_RECORD:
            what = f"more than {MOST_IN_RECORD:,} values in one record"
            return [(place, what, "")]
        level = [item for item in inner if type(item) is dict or type(item) is list]
    return [(place, f"nested deeper than {DEEPEST} levels", "")]


def judged_in_portions(document: dict[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """
    Judge long lists of records bit by bit; give the document with what was read.

    Faults are added to the list, and reading stops when there are very many.
    """
    given = document.get("given")
    if not isinstance(given, dict):
        return document
    done = dict(given)
    for word, (kind, _) in _RECORDS.items():
        records = given.get(word)
        if not isinstance(records, list) or len(records) <= PORTION:
            continue
        read: list[Spec] = []
        for start in range(0, len(records), PORTION):
            portion = records[start : start + PORTION]
            try:
                read += _reader(kind).validate_python(portion)
            except ValidationError as error:
                faults += schema_faults(
                    error, document, ScenarioFile, ("given", word), start
                )
                if len(faults) > MOST_FAULTS:
                    return document
        done[word] = read
    return {**document, "given": done}


@cache
def _reader(kind: type[Spec]) -> TypeAdapter[list[Spec]]:
    return TypeAdapter(list[kind])  # type: ignore[valid-type]
