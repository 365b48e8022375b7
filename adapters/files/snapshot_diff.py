"""
Two snapshots side by side: what is only in one, and which fields differ.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.files.checking.problems import spelled
from adapters.files.writing.snapshot_writer import snapshot_document
from models.snapshot import Snapshot

_NOUNS = {
    "nodes": "node",
    "topologies": "topology",
    "queues": "queue",
    "gangs": "gang",
    "budgets": "budget",
    "runTimes": "run times",
    "runTimeLevels": "run time levels",
}
_NAMES = ("queue", "owner", "gpus", "after")
"""
What tells records without a name apart.
"""
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """
    One difference: of a thing, and of a field of it unless it is in one snapshot only.
    """

    noun: str
    name: str
    field: str = ""
    before: object = None
    after: object = None

    def __str__(self) -> str:
        thing = f"{self.noun} {self.name}".strip()
        if self.field:
            return (
                f"~ {thing}: {self.field}: {_shown(self.before)} → {_shown(self.after)}"
            )
        return f"{'+' if self.before is None else '-'} {thing}"

    def document(self) -> dict[str, object]:
        """
        Write it as plain values.
        """
        return {
            "kind": self.noun,
            "name": self.name,
            "field": self.field or None,
            "before": self.before,
            "after": self.after,
        }


def changes(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    """
    List what differs, by kind and name.
    """
    clocks = {
        "unchangedFor": (before.unchanged_for, after.unchanged_for),
        "held": (before.held, after.held),
        "alsoWaiting": (_also_waiting(before), _also_waiting(after)),
    }
    for word, said in clocks.items():
        if said[0] != said[1]:
            yield Change("snapshot", "", word, *said)
    old, new = snapshot_document(before)["given"], snapshot_document(after)["given"]
    for word, noun in _NOUNS.items():
        ours, theirs = _by_name(old.get(word, ())), _by_name(new.get(word, ()))
        for name in sorted({*ours, *theirs}):
            one, other = ours.get(name), theirs.get(name)
            if one is None or other is None:
                yield Change(noun, name, "", one and name, other and name)
                continue
            for place, was, now in _fields(one, other, ()):
                yield Change(noun, name, spelled(place), was, now)


def _by_name(records: Any) -> dict[str, Mapping[str, Any]]:  # noqa: ANN401 - plain values
    return {_name(record): record for record in records}


def _name(record: Mapping[str, Any]) -> str:
    if "name" not in record:
        return " ".join(str(record[word]) for word in _NAMES if word in record)
    space = record.get("namespace")
    return f"{space}/{record['name']}" if space else record["name"]


def _fields(
    one: object, other: object, place: Place
) -> Iterator[tuple[Place, object, object]]:
    """
    Walk the innermost fields in which two records differ.
    """
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from _fields(one.get(key), other.get(key), (*place, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (was, now) in enumerate(zip(one, other, strict=True)):
            yield from _fields(was, now, (*place, index))
    else:
        yield place, one, other


def _shown(value: object) -> str:
    if value is None:
        return "unsaid"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _also_waiting(snapshot: Snapshot) -> str:
    return ", ".join(f"{n} of {gpus} GPUs" for gpus, n in snapshot.also_waiting)
