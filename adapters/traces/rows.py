"""
Rows: lines of a file, compressed or not, as a stream that is never held as a whole.
"""

import csv
import gzip
import hashlib
import io
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from adapters.traces.row_faults import Tally, rejected
from models.errors import printable
from models.names import nearest

Row = Mapping[str, str]
MACHINES = {
    "openb": ("sn", "cpu_milli", "memory_mib", "gpu", "model"),
    "spot": ("gpu_model", "gpu_capacity_num", "cpu_num", "node_name"),
    "philly": ("machineId", "number of GPUs"),
}
"""
What tells lists of machines apart, and from jobs.
"""
NOTE, PART = "# note: ", "# part: "
"""
How lines begin that stand above the head of a table: what is said about the whole.
"""
MARKS = "phalanx"
"""
The same in Parquet: a list of such lines under this key of the file's metadata.
"""
_MOST_MARKS = 30
_LONGEST_MARK = 500
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
LONGEST_LINE = 2**20
_BLOCK = 2**20
_LONGEST_CELL = 131_072
"""
The characters of a cell in quotes; the reader's own limit is that of the whole process.
"""
MOST_LINES = 100
"""
A cell goes on over so many lines at most.
"""


class TraceFile:
    """
    A file on disk, by its shown name, with what its first bytes say.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.name = printable(path)
        try:
            with self.path.open("rb") as file:
                head = file.read(4)
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or str(error)
            raise rejected(self.name, f"cannot be read: {what}") from error
        self._size = max(1, self.path.stat().st_size)
        self._raw: BinaryIO | None = None
        self.gzipped = head.startswith(_GZIP)
        self.parquet = head == _PARQUET

    def open(self) -> BinaryIO | gzip.GzipFile:
        """
        Open the file for reading, unpacked.
        """
        raw = self._raw = self.path.open("rb")
        if not self.gzipped:
            return raw
        return _Unpacked(raw)

    def part(self) -> float:
        """
        Say which part of the file was read so far, from 0 to 1.
        """
        raw = self._raw
        return 0.0 if raw is None or raw.closed else min(1.0, raw.tell() / self._size)

    def digest(self) -> str:
        """
        Hash the file as it is on disk.
        """
        found = hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return f"sha256:{found.hexdigest()}"


class _Unpacked(gzip.GzipFile):
    """
    A stream that closes the file below it, too.
    """

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(fileobj=raw)
        self._below = raw

    def close(self) -> None:
        """
        Close both.
        """
        super().close()
        self._below.close()


def lines_of(file: TraceFile, tally: Tally) -> Generator[tuple[int, str], None, None]:
    """
    Walk the lines of a text with their numbers; what is not text is counted.
    """
    ends: set[bytes] = set()
    try:
        with file.open() as stream:
            number = 0
            while raw := stream.readline(LONGEST_LINE):
                number += 1
                if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
                    what = f"line {number} is longer than {LONGEST_LINE:,} bytes"
                    raise rejected(file.name, what)
                end = b"\r\n" if raw.endswith(b"\r\n") else b"\n"
                if end not in ends and ends:
                    tally.repair("line-ends", number)
                elif len(ends) > 1 and end == b"\r\n":
                    tally.repaired["line-ends"] += 1
                ends.add(end)
                body = raw.rstrip(b"\r\n")
                try:
                    yield number, body.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    tally.rows += 1
                    tally.leave_out("not-text", number)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise rejected(file.name, f"cannot be unpacked: {error}") from error


def rows_of(file: TraceFile, tally: Tally) -> Iterator[tuple[int, Row]]:
    """
    Walk the rows of a table with a head, as text by column.
    """
    if file.parquet:
        yield from _parquet_rows(file, tally)
        return
    with closing(lines_of(file, tally)) as lines:
        head = _head(file, lines)
        for number, line, cells in _records(lines, len(head)):
            tally.rows += 1
            if len(cells) < len(head):
                tally.leave_out("too-few-cells", number, line)
                continue
            yield number, dict(zip(head, cells, strict=False))


def _records(
    lines: Iterator[tuple[int, str]], columns: int
) -> Iterator[tuple[int, str, list[str]]]:
    """
    Walk rows with their cells, of which one in quotes may go on over some lines.

    A line on which quotes are opened that nothing closes is a row of its own.
    """
    ahead: deque[tuple[int, str]] = deque()
    for number, line in _with_those(ahead, lines):
        text, more = line, list[tuple[int, str]]()
        while _is_open(text) and len(more) < MOST_LINES:
            following = next(_with_those(ahead, lines), None)
            if following is None:
                break
            more.append(following)
            text = f"{text}\n{following[1]}"
        cells = _cells(text)
        if more and (_is_open(text) or len(cells) < columns):
            ahead.extendleft(reversed(more))
            cells = _cells(line)
        if line:
            yield number, line, cells


def _is_open(text: str) -> bool:
    """
    Tell whether a text ends inside of quotes.
    """
    if text.count('"') % 2 == 0:
        return False
    csv.field_size_limit(_LONGEST_CELL)
    try:
        deque(csv.reader(io.StringIO(text), strict=True), maxlen=0)
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _with_those(
    ahead: deque[tuple[int, str]], lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """
    Walk lines, after those that were read ahead.
    """
    while (one := ahead.popleft() if ahead else next(lines, None)) is not None:
        yield one


def head_of(file: TraceFile) -> Sequence[str]:
    """
    Read the names of the columns.
    """
    if file.parquet:
        return [str(name) for name in _parquet(file).schema_arrow.names]
    with closing(lines_of(file, Tally(file.name))) as lines:
        return _head(file, lines)


def marks_of(file: TraceFile, kind: str) -> tuple[str, ...]:
    """
    Read what a table says of itself, of one kind, ready to be shown.
    """
    said = _said(file)
    found = (text.removeprefix(kind).strip() for text in said if text.startswith(kind))
    return tuple(printable(text[:_LONGEST_MARK]) for text in found)[:_MOST_MARKS]


def _said(file: TraceFile) -> Iterator[str]:
    if file.parquet:
        packed = (_parquet(file).schema_arrow.metadata or {}).get(MARKS.encode(), b"")
        yield from packed.decode("utf-8", "replace").splitlines()
        return
    with closing(lines_of(file, Tally(file.name))) as lines:
        for _, line in lines:
            if not line.startswith((NOTE, PART)):
                return
            yield line


def _head(file: TraceFile, lines: Iterator[tuple[int, str]]) -> list[str]:
    for _, line in lines:
        if line.strip() and not line.startswith((NOTE, PART)):
            if "\0" in line:
                raise rejected(file.name, "is binary, not text")
            return [name.strip() for name in _cells(line)]
    raise rejected(file.name, "is empty")


def _cells(line: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    csv.field_size_limit(_LONGEST_CELL)
    with suppress(csv.Error):  # a cell is longer than the reader takes
        return next(csv.reader(io.StringIO(line)), [])
    return []


def _parquet(file: TraceFile):  # type: ignore[no-untyped-def] # noqa: ANN202
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError as error:
        hint = "install the extra: pip install 'phalanx[traces]'"
        raise rejected(file.name, "is Parquet, which needs pyarrow", hint) from error
    try:
        return parquet.ParquetFile(file.path)
    except (ArrowException, OSError) as error:
        raise rejected(file.name, f"is not a whole Parquet file: {error}") from error


def _parquet_rows(file: TraceFile, tally: Tally) -> Iterator[tuple[int, Row]]:
    number = 0
    for batch in _parquet(file).iter_batches():
        for record in batch.to_pylist():
            number += 1
            tally.rows += 1
            yield number, {k: "" if v is None else str(v) for k, v in record.items()}


def is_table_of_machines(head: Sequence[str]) -> bool:
    """
    Tell whether a table lists machines.
    """
    return any(set(columns) <= set(head) for columns in MACHINES.values())


def need_columns(name: str, head: Sequence[str], needed: Sequence[str]) -> None:
    """
    Refuse a table that lacks columns, with what may have been meant.
    """
    missing = [column for column in needed if column not in head]
    if not missing:
        return
    near = {column: nearest(column, head) for column in missing}
    hints = [
        f"{column} (is {near[column]!r} meant?)" if near[column] else column
        for column in missing
    ]
    what = f"has no column {', '.join(hints)}"
    raise rejected(name, what, f"its columns are {', '.join(head[:20])}")
