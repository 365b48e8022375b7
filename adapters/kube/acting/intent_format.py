"""
How an intent is written into objects of a bounded size, and read from them.

One object holds all of it while it fits, as it did before there were others; so the
version before this one reads what it needs of the first object, and leaves the rest
alone.  What a reader does not know it passes by; what is missing has a default.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, TypeVar

from adapters.loop.memory.promises import Promise, pairs_in
from models.errors import printable

T = TypeVar("T")
VERSION = 2
"""
1 had one object, and said no version.
"""
LIMIT = 900 * 1024
"""
The bytes of one object; a server takes 1 MiB.
"""
INTENT, MEMORY, MORE = "intent", "memory", "more"
_QUICKLY = 1
_MOST_IN_ONE = 60_000  # no entry takes less than 15 bytes
_GZIP = 31
_LARGEST = 512 * 2**20
_FULL = 0.9
Part = Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """
    The binds of a round that may not have ended, and what is remembered of gangs.
    """

    round: str = ""
    binds: tuple[Promise, ...] = ()
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bounded:
    """
    Parts of an intent, each within its bound, with how many entries it has.

    ``left_out`` are in none, since each is too large by itself.
    """

    parts: tuple[tuple[Part, int], ...] = ()
    left_out: int = 0

    def most(self, number: int) -> "Bounded":
        """
        Give so many parts at most.
        """
        lost = sum(entries for _, entries in self.parts[number:])
        return Bounded(self.parts[:number], self.left_out + lost)


def whole(intent: Intent, limit: int) -> Part | None:
    """
    Write all of an intent as one part; nothing where it is too large for that.
    """
    if len(intent.binds) + len(intent.memory.get("gangs", ())) > _MOST_IN_ONE:
        return None
    part = {INTENT: _binds(intent.round, intent.binds), MEMORY: _packed(intent.memory)}
    return part if size(part) <= limit else None


def size(part: Part) -> int:
    """
    Count the bytes of a part.
    """
    return sum(len(key) + len(value) for key, value in part.items())


def under_way(intent: Intent, limit: int) -> Bounded:
    """
    Write what must be known at once: binds, promises, since when nothing has changed.

    The first part holds as much as it can.
    """
    binds = _split(
        intent.binds, lambda some: {INTENT: _binds(intent.round, some)}, limit
    )
    promises = _split(
        list(intent.memory.get("promises", ())),
        lambda some: {MEMORY: _packed({"promises": some})},
        limit,
    )
    lost = binds.left_out + promises.left_out
    part, entries = binds.parts[0] if binds.parts else ({}, 0)
    still = {k: v for k, v in intent.memory.items() if k not in {"promises", "gangs"}}
    if still:
        more = {**part, MEMORY: _packed(still)}
        if size(more) <= limit:
            part = more
        else:
            lost += 1
    return Bounded(((part, entries), *binds.parts[1:], *promises.parts), lost)


def remembered(gangs: Mapping[str, Any], limit: int) -> Bounded:
    """
    Write what is remembered of gangs, in their order.
    """
    items = list(gangs.items())
    return _split(items, lambda some: {MEMORY: _packed({"gangs": dict(some)})}, limit)


def digest(part: Part) -> str:
    """
    Give the same few letters for equal parts.
    """
    found = hashlib.blake2b(digest_size=12)
    for key, value in sorted(part.items()):
        found.update(f"{key}:{len(value)}:".encode() + value)
    return found.hexdigest()


def listed(entries: Sequence[tuple[int, str]]) -> bytes:
    """
    Write which further objects belong to the first one: their numbers and digests.
    """
    return _packed({"objects": [list(entry) for entry in entries]})


def encoded(part: Part) -> dict[str, str]:
    """
    Write a part as an object holds it.
    """
    return {key: base64.b64encode(value).decode() for key, value in part.items()}


def decoded(data: object) -> Part:
    """
    Give what an object holds; of what is not as we write it, nothing.
    """
    part: dict[str, bytes] = {}
    for key, value in data.items() if isinstance(data, Mapping) else ():
        try:
            part[str(key)] = base64.b64decode(value, validate=True)
        except (ValueError, TypeError):
            part[str(key)] = b""
    return part


def entries_of(part: Part, faults: list[str]) -> list[tuple[int, str]]:
    """
    Read which further objects belong to the first one.
    """
    said = _tried(part, MORE, faults).get("objects", ())
    return [
        (entry[0], entry[1])
        for entry in (said if isinstance(said, list) else ())
        if isinstance(entry, list) and [type(word) for word in entry[:2]] == [int, str]
    ]


def read(parts: Sequence[Part], faults: list[str]) -> Intent:
    """
    Read an intent from its parts; what cannot be read is noted and left out.
    """
    name, binds = "", []
    memory: dict[str, Any] = {}
    gangs: dict[str, Any] = {}
    promises: list[Any] = []
    for part in parts:
        said = _tried(part, INTENT, faults)
        name = name or str(said.get("round", ""))
        binds += _read_binds(said.get("binds", {}), faults)
        held = _tried(part, MEMORY, faults)
        if isinstance(more := held.pop("gangs", {}), dict):
            gangs |= more
        if isinstance(some := held.pop("promises", []), list):
            promises += some
        memory |= held
    memory.pop("version", None)
    for word, found in (("gangs", gangs), ("promises", promises)):
        if found:
            memory[word] = found
    return Intent(round=name, binds=tuple(binds), memory=memory)


def _read_binds(said: object, faults: list[str]) -> list[Promise]:
    found: list[Promise] = []
    lost = 0
    for gang, rows in said.items() if isinstance(said, dict) else ():
        for row in rows if isinstance(rows, list) else ():
            match row:
                case [str(pod), str() | None as uid, str(node), *more]:
                    devices = pairs_in(more[0] if more else None, int)
                    bind = Promise(gang=gang, pod=pod, uid=uid, node=node)
                    found.append(replace(bind, devices=devices))
                case _:
                    lost += 1
    if lost or not isinstance(said, dict):
        faults.append(f"{lost or 'all'} binds are not as we write them")
    return found


def _tried(part: Part, key: str, faults: list[str]) -> dict[str, Any]:
    """
    Read one key of a part; nothing where it is not there, or cannot be read.
    """
    if key not in part:
        return {}
    try:
        return _unpacked(part[key])
    except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
        faults.append(f"{key}: {type(error).__name__}: {printable(str(error))}")
        return {}


def _binds(name: str, binds: Sequence[Promise]) -> bytes:
    rows: dict[str, list[list[object]]] = {}
    for bind in binds:
        row: list[object] = [bind.pod, bind.uid, bind.node]
        row += [[*map(list, bind.devices)]] if bind.devices else []
        rows.setdefault(bind.gang, []).append(row)
    return _packed({"round": name, "binds": rows})


def _split(
    items: Sequence[T], write: Callable[[Sequence[T]], Part], limit: int
) -> Bounded:
    """
    Write items into as few parts as their size asks for; one alone may be too large.
    """
    if not items:
        return Bounded()
    part = write(items)
    if (written := size(part)) <= limit:
        return Bounded(((part, len(items)),))
    if len(items) == 1:
        return Bounded(left_out=1)
    number = max(2, ceil(written / (_FULL * limit)))
    step = ceil(len(items) / min(number, len(items)))
    several = [
        _split(items[at : at + step], write, limit) for at in range(0, len(items), step)
    ]
    parts = tuple(part for each in several for part in each.parts)
    return Bounded(parts, sum(each.left_out for each in several))


def _packed(value: Mapping[str, Any]) -> bytes:
    text = json.dumps({"version": VERSION, **value}, separators=(",", ":")).encode()
    press = zlib.compressobj(_QUICKLY, zlib.DEFLATED, _GZIP)
    return press.compress(text) + press.flush()


def _unpacked(data: bytes) -> dict[str, Any]:
    """
    Read what was packed; what would become far larger than we write is not.
    """
    release = zlib.decompressobj(_GZIP)
    text = release.decompress(data, _LARGEST)
    if release.unconsumed_tail or not release.eof:
        raise ValueError("it is cut off, or larger than any that we write")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not a mapping")  # noqa: TRY004 - one error for all
    return found
