"""
Large files, judged in portions: what is wrong is found before it fills the memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from adapters.files.checking.problems import Fault, Path, schema_faults
from adapters.files.yaml_tree import DEEPEST

MOST_FAULTS = 1000
MOST_IN_RECORD = 200_000
PORTION = 1000


@dataclass(frozen=True, slots=True)
class Bulk:
    """
    Where a kind of file holds its long lists, what their records are, and how many.

    What is ``foreign`` is judged elsewhere, and may be long.
    """

    root: type[BaseModel]
    place: Path
    records: Mapping[str, tuple[type[BaseModel], int]]
    foreign: frozenset[str] = frozenset()

    def faults(self, document: Mapping[str, object]) -> list[Fault]:
        """
        Find what is too long or too deep to be judged at all.
        """
        holder = self._holder(document)
        faults: list[Fault] = []
        for word, (_, most) in self.records.items():
            records = holder.get(word)
            if isinstance(records, list) and len(records) > most:
                what = f"{len(records):,} records, at most {most:,} are read"
                faults.append(((*self.place, word), what, ""))
        if faults:
            return faults
        rest = dict(document) | dict.fromkeys(self.place)
        if not self.place:
            rest = {word: rest[word] for word in rest.keys() - self.records.keys()}
        return [*self._record_faults(holder), *_too_much(rest, ())]

    def read(self, document: dict[str, Any], faults: list[Fault]) -> dict[str, Any]:
        """
        Judge long lists of records bit by bit; give the document with what was read.

        Faults are added to the list, and reading stops when there are very many.
        """
        holder = self._holder(document)
        done = dict(holder)
        for word, (kind, _) in self.records.items():
            records = holder.get(word)
            if isinstance(records, list) and len(records) > PORTION:
                done[word] = self._portions(document, word, kind, faults)
                if len(faults) > MOST_FAULTS:
                    return document
        if not self.place:
            return done
        return {**document, str(self.place[0]): done} if holder else document

    def _holder(self, document: Mapping[str, object]) -> Mapping[str, object]:
        if not self.place:
            return document
        holder = document.get(str(self.place[0]))
        return holder if isinstance(holder, dict) else {}

    def _record_faults(self, holder: Mapping[str, object]) -> Iterator[Fault]:
        for word, records in holder.items():
            if isinstance(records, list):
                most = None if word in self.foreign else MOST_IN_RECORD
                for index, record in enumerate(records):
                    yield from _too_much(record, (*self.place, word, index), most)
            elif self.place:
                yield from _too_much(records, (*self.place, word))

    def _portions(
        self,
        document: dict[str, Any],
        word: str,
        kind: type[BaseModel],
        faults: list[Fault],
    ) -> list[BaseModel]:
        place = (*self.place, word)
        records: Any = self._holder(document)[word]
        read: list[BaseModel] = []
        for start in range(0, len(records), PORTION):
            try:
                portion = records[start : start + PORTION]
                read += _reader(kind).validate_python(portion)
            except ValidationError as error:
                faults += schema_faults(error, document, self.root, place, start)
                if len(faults) > MOST_FAULTS:
                    break
        return read


def and_more(faults: list[Fault]) -> list[Fault]:
    """
    Add to very many faults that there may be more.
    """
    more = f"more than {MOST_FAULTS:,} problems; the rest of it was not judged"
    return [*faults, ((), more, "")]


def _too_much(
    value: object, place: Path, most: int | None = MOST_IN_RECORD
) -> list[Fault]:
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
        if most is not None and number > most:
            what = f"more than {most:,} values in one record"
            return [(place, what, "")]
        level = [item for item in inner if type(item) is dict or type(item) is list]
    return [(place, f"nested deeper than {DEEPEST} levels", "")]


@cache
def _reader(kind: type[BaseModel]) -> TypeAdapter[list[BaseModel]]:
    return TypeAdapter(list[kind])  # type: ignore[valid-type]
