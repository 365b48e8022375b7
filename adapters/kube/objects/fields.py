"""
Raw objects: fields read with their types judged, faults that name the field.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from models.errors import PhalanxError

T = TypeVar("T")
Json = Mapping[str, Any]
_NOTHING: Json = {}
_LONGEST_TIME = 64
_LONGEST_JSON = 65_536


class FieldError(PhalanxError, ValueError):
    """
    A field of an object does not hold what it must.
    """

    def __init__(self, field: str, what: str) -> None:
        self.field = field
        self.what = what
        super().__init__(f"{field}: {what}")

    def anew(self) -> "FieldError":
        """
        Give the same one to be kept, or to be raised again.

        It holds no frame of where it was raised, nor all that was read there.
        """
        return FieldError(self.field, self.what)


def mapping(raw: Json, key: str, place: str = "") -> Json:
    """
    Give a field that holds fields; nothing where it is not said.
    """
    value = raw.get(key)
    if value is None:
        return _NOTHING
    if isinstance(value, Mapping):
        return value
    raise FieldError(joined(place, key), f"{shown(value)} is not a mapping of fields")


def items(raw: Json, key: str, place: str = "") -> Sequence[Any]:
    """
    Give a field that holds a list; an empty one where it is not said.
    """
    value = raw.get(key)
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise FieldError(joined(place, key), f"{shown(value)} is not a list")


def words(raw: Json, key: str, place: str = "") -> Sequence[str]:
    """
    Give a field that holds a list of texts.
    """
    value = items(raw, key, place)
    for item in value:
        if not isinstance(item, str):
            raise FieldError(joined(place, key), f"{shown(item)} is not text")
    return value


def records(raw: Json, key: str, place: str = "") -> Sequence[Json]:
    """
    Give a field that holds a list of mappings.
    """
    value = items(raw, key, place)
    for item in value:
        if not isinstance(item, Mapping):
            what = f"{shown(item)} is not a mapping of fields"
            raise FieldError(joined(place, key), what)
    return value


def text(raw: Json, key: str, place: str = "") -> str:
    """
    Give a field that holds text; an empty one where it is not said.
    """
    value = raw.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise FieldError(joined(place, key), f"{shown(value)} is not text")


def whole(raw: Json, key: str, place: str = "") -> int | None:
    """
    Give a field that holds a whole number; none where it is not said.
    """
    value = raw.get(key)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FieldError(joined(place, key), f"{shown(value)} is not a whole number")


def texts(raw: Json, key: str, place: str = "") -> dict[str, str]:
    """
    Give a field that maps text to text, such as labels.
    """
    found = mapping(raw, key, place)
    for name, value in found.items():
        if not isinstance(value, str):
            what = f"{shown(value)} is not text"
            raise FieldError(joined(joined(place, key), name), what)
    return dict(found)


def seconds(raw: Json, key: str, place: str = "") -> float | None:
    """
    Give a field that holds a time, as seconds since the epoch.
    """
    value = text(raw, key, place)
    if not value:
        return None
    try:
        return _epoch(value)
    except ValueError as error:
        what = f"{shown(value)} is not a time such as 2026-01-31T09:00:00Z"
        raise FieldError(joined(place, key), what) from error


def moment_of(value: object) -> float | None:
    """
    Read a time as seconds since the epoch; none where it is no time.
    """
    try:
        return _epoch(value) if isinstance(value, str) else None
    except ValueError:
        return None


@lru_cache(maxsize=65536)
def _epoch(value: str) -> float:
    if len(value) > _LONGEST_TIME:
        raise ValueError(value)
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(value)
    return moment.timestamp()


def tried(read: Callable[[], T], instead: T, faults: list[str]) -> T:
    """
    Read something; where it cannot be read, note the fault and go on without it.
    """
    try:
        return read()
    except FieldError as error:
        faults.append(str(error))
        return instead


def parsed_json(said: str) -> object:
    """
    Read JSON of others; nothing where it is none, or too long to be any of theirs.
    """
    try:
        return json.loads(said) if 0 < len(said) <= _LONGEST_JSON else None
    except (ValueError, RecursionError):
        return None


def few(found: Sequence[T], place: str, most: int) -> Sequence[T]:
    """
    Give a list of what everybody's round evaluates, unless one object has too many.
    """
    if len(found) > most:
        raise FieldError(place, f"it has {len(found):,} entries, more than {most:,}")
    return found


def joined(place: str, key: str) -> str:
    """
    Write the place of a field below another.
    """
    return f"{place}.{key}" if place else key


def shown(value: object) -> str:
    """
    Show a wrong value; of a long one its beginning.
    """
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    quoted = repr(value)
    return quoted if len(quoted) <= 60 else f"{quoted[:57]}…"


def version_in(raw: Mapping[str, object] | None) -> str:
    """
    Give the resource version that an object was read at; empty where it says none.
    """
    try:
        return text(mapping(raw or {}, "metadata"), "resourceVersion")
    except FieldError:
        return ""
