"""
The record of rounds: one JSON object a line, in files that never grow without bound.

Whoever reads it gets the rounds in their order, oldest first; a line that was cut off
by a crash is passed over.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from models.errors import WrongUseError

_log = logging.getLogger(__name__)
_LOOKED_AT = 100
_OTHERS = frozenset({"Scenario", "Snapshot", "Plan", "List"})
_OF_A_ROUND = "name", "began", "outcome"
_OF_A_GANG = "name", "queue", "state"
_OF_A_STEP = "op", "pod", "gang", "node", "result"
KEPT_BYTES = 16 * 2**20
KEPT_FILES = 4
MOST_OPERATIONS = 2_000
"""
The most operations that one record lists.
"""
MOST_GANGS = 1_000
"""
The most gangs that one record lists.
"""


class NoRecordError(WrongUseError):
    """
    There is no record of rounds where one was looked for, or none in it.
    """

    def __init__(self, path: str, *, is_there: bool = False) -> None:
        self.path = path
        super().__init__(
            f"{path} holds no round, as none was recorded in it, or it is no record"
            if is_there
            else f"there is no record of rounds at {path}: it is where `phalanx run` "
            "leads, and --rounds names another one"
        )


class OtherRecordError(WrongUseError):
    """
    A record is there, and holds something else than what was looked for.
    """

    def __init__(self, path: str, wanted: str, there: str) -> None:
        super().__init__(
            f"{path} holds records of kind {there} and none of kind {wanted}; of "
            "what `phalanx run --observe` kept, `phalanx report FOLDER` makes a page"
        )


@dataclass(slots=True)
class RoundFile:
    """
    Writes records to a file; a full one makes room: ``rounds.jsonl.1`` is the last one.

    At most ``files`` files of ``size`` bytes are kept, and one record more.  Nothing is
    remembered of the file: another replica may have led, and written to it, since.
    """

    path: Path
    size: int = KEPT_BYTES
    files: int = KEPT_FILES

    def append(
        self,
        record: Mapping[str, Any],
        first: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """
        Write one record; where it begins a file, what is ``first`` there instead.

        A disk that does not take it is logged, and stops nothing.
        """
        data = _line(record)
        try:
            written = self._opened()
            if written and written + len(data) > self.size:
                self._rotate()
                data = data if first is None else _line(first())
            with self.path.open("ab") as stream:
                stream.write(data)
        except OSError as error:
            fields = {"file": str(self.path), "error": str(error)}
            _log.warning("round_not_recorded", extra={"fields": fields})

    def _opened(self) -> int:
        """
        Make the folder, end a line that a crash cut off; give the size of the file.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            return 0
        with self.path.open("r+b") as stream:
            end = stream.seek(0, 2)
            if end:
                stream.seek(end - 1)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
                    end += 1
        return end

    def _rotate(self) -> None:
        for number in range(self.files - 1, 0, -1):
            older = numbered(self.path, number - 1)
            if older.exists():
                older.replace(numbered(self.path, number))
        self.path.unlink(missing_ok=True)  # where only one file is kept


def _line(record: Mapping[str, Any]) -> bytes:
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return f"{line}\n".encode()


def numbered(path: Path, number: int) -> Path:
    """
    Name the file that was full some files ago; 0 is the one that is written.
    """
    return path.with_name(f"{path.name}.{number}") if number else path


def read_rounds(path: Path, kind: str = "Round") -> Iterator[dict[str, Any]]:
    """
    Walk the records of a file and of those before it, oldest first.

    Raises
    ------
    NoRecordError
        When there is no such file.
    OtherRecordError
        When it has records of other kinds only.
    """
    older: list[Path] = []
    while (before := numbered(path, len(older) + 1)).exists():
        older.append(before)
    if not older and not path.exists():
        raise NoRecordError(str(path))
    others: set[str] = set()
    is_empty = True
    for file in (*reversed(older), path):
        for record in _records(file):
            if record["kind"] == kind:
                is_empty = False
                yield record
            else:
                others.add(record["kind"])
    if is_empty and others:
        raise OtherRecordError(str(path), kind, " and ".join(sorted(others)))


def whole_rounds(path: Path) -> Iterator[dict[str, Any]]:
    """
    Walk the rounds of a record as ``read_rounds``, but for those that lack a part.
    """
    return filter(_is_whole, read_rounds(path))


def _is_whole(record: Mapping[str, Any]) -> bool:
    """
    Tell whether a round says what each of them says of itself, its gangs, its steps.
    """
    gangs = record.get("gangs", {})
    listed = gangs.get("items", []) if isinstance(gangs, dict) else None
    parts = (
        ([record], _OF_A_ROUND),
        (listed, _OF_A_GANG),
        (record.get("operations", []), _OF_A_STEP),
        (record.get("heldBinds", []), _OF_A_STEP),
    )
    return all(isinstance(rows, list) and _say(rows, said) for rows, said in parts)


def _say(rows: list[Any], said: Sequence[str]) -> bool:
    return all(
        isinstance(row, dict) and all(isinstance(row.get(key), str) for key in said)
        for row in rows
    )


def _records(file: Path) -> Iterator[dict[str, Any]]:
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        return  # it made room for a newer one just now
    with stream:
        for line in stream:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("kind"), str):
                yield record


def steps_of(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """
    Walk what a round did, after what came of binds that rounds before had held.
    """
    yield from record.get("heldBinds", ())
    yield from record.get("operations", ())


def bound_in(path: Path) -> set[str]:
    """
    Name the gangs that a record saw bound, and neither leave whole nor end.
    """
    pods: dict[str, str] = {}
    with suppress(NoRecordError, OtherRecordError):
        for record in whole_rounds(path):
            ended = set(record.get("gangs", {}).get("ended", ()))
            if ended:
                pods = {pod: gang for pod, gang in pods.items() if gang not in ended}
            for step in steps_of(record):
                if step["result"] == "done" and step["op"] == "Bind":
                    pods[step["pod"]] = step["gang"]
                elif step["result"] == "done" and step["op"] in {"Evict", "Move"}:
                    pods.pop(step["pod"], None)
    return set(pods.values())


def is_record(path: Path) -> bool:
    """
    Tell whether a file may be a record: it has no lines yet, or some line is one of it.
    """
    try:
        with path.open("rb") as stream:
            lines = [line for line in islice(stream, _LOOKED_AT) if line.strip()]
    except OSError:
        return True  # whoever reads it says what is wrong
    return not lines or any(map(_is_one, lines))


def _is_one(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("kind") not in _OTHERS


def kept_in(folder: str, shard: str) -> Path:
    """
    Name the record that a shard keeps in its folder.
    """
    return Path(folder) / shard / "rounds.jsonl"
