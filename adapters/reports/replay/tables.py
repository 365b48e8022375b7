"""
The tables of a run, read as far as a report needs them.

A table that is missing or damaged costs its chart and no more: it is named instead.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from adapters.machine.csv_cells import csv_rows

PARTS = (
    *("used", "lent", "incomplete", "fragmented", "quota"),
    *("held", "freed", "unwanted", "off"),
)
"""
What GPUs do, as a chart shows it: those that are lent are used, and shown apart.
"""

LARGEST = 1e15
"""
Larger numbers are no seconds and no GPUs, and squares of theirs could not be added.
"""


class TableError(Exception):
    """
    A table cannot be used; the message says why, in words for a page.
    """


@dataclass(frozen=True, slots=True)
class Series:
    """
    The cluster over time: where each bucket begins, and the GPUs of each part in it.
    """

    moments: Sequence[float]
    parts: dict[str, list[float]]
    waiting: list[float]
    waiting_gpus: list[float]


@dataclass(slots=True)
class QueueSeries:
    """
    Each queue over time, by the moment: its name, used GPUs, fair share, waiting gangs.
    """

    by_moment: dict[float, list[tuple[str, float, float, float]]] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True)
class PlayedJob:
    """
    What a report needs to know of one job.
    """

    queue: str
    gpus: float
    start: float | None
    end: float | None
    wait: float | None
    nodes: str


@dataclass(frozen=True, slots=True)
class LongWait:
    """
    A job that had waited longer than any before it, and why, at one moment.
    """

    moment: float
    job: str
    gpus: float
    waited: float
    why: str


def lengths(moments: Sequence[float]) -> list[float]:
    """
    Say how long each bucket is that begins at a moment.

    Many in which nothing changed are one long one; the last is as long as the others.
    """
    found = [after - before for before, after in pairwise(moments)]
    return [*found, min(found, default=3_600.0)]


def read_series(path: Path) -> Series:
    """
    Read ``series.csv``.
    """
    names = ("t", *PARTS, "waiting", "waitingGpus")
    columns: list[list[float]] = [[] for _ in names]
    for row in _rows(path, names):
        for column, text in zip(columns, row, strict=True):
            column.append(number_in(text) or 0.0)
    if not columns[0]:
        raise TableError("has no rows")
    if any(b <= a for a, b in zip(columns[0], columns[0][1:], strict=False)):
        raise TableError("has moments that do not grow")
    parts = dict(zip(PARTS, columns[1 : 1 + len(PARTS)], strict=True))
    both = zip(parts["used"], parts["lent"], strict=True)
    parts["used"] = [used - lent for used, lent in both]
    return Series(columns[0], parts, columns[-2], columns[-1])


def read_queues(path: Path) -> QueueSeries:
    """
    Read ``queues.csv``.
    """
    found = QueueSeries()
    for t, queue, *numbers in _rows(path, ("t", "queue", "used", "share", "waiting")):
        used, share, waiting = (number_in(text) or 0.0 for text in numbers)
        moment = found.by_moment.setdefault(number_in(t) or 0.0, [])
        moment.append((queue, used, share, waiting))
    if not found.by_moment:
        raise TableError("has no rows")
    return found


def read_waits(path: Path) -> list[LongWait]:
    """
    Read ``waits.csv``, which a replay without long waits leaves empty.
    """
    names = ("t", "job", "gpus", "waited", "why")
    return [
        LongWait(
            moment=number_in(t) or 0.0,
            job=job,
            gpus=number_in(gpus) or 0.0,
            waited=number_in(waited) or 0.0,
            why=why,
        )
        for t, job, gpus, waited, why in _rows(path, names)
    ]


def read_jobs(folder: Path) -> Iterator[PlayedJob]:
    """
    Read ``jobs.csv`` or ``jobs.parquet``, job by job.
    """
    names = ("queue", "gpus", "start", "end", "wait", "nodes")
    for queue, gpus, start, end, wait, nodes in job_cells(folder, names):
        yield PlayedJob(
            queue=queue or "",
            gpus=number_in(gpus) or 0.0,
            start=number_in(start),
            end=number_in(end),
            wait=number_in(wait),
            nodes=nodes or "",
        )


def job_cells(folder: Path, names: Sequence[str]) -> Iterator[Sequence[Any]]:
    """
    Give the named columns of the table of jobs, in this order.
    """
    packed = folder / "jobs.parquet"
    if packed.is_file():
        return _packed_rows(packed, names)
    return _rows(folder / "jobs.csv", names)


def _rows(path: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """
    Give the named columns of a CSV file, in this order.
    """
    try:
        with path.open(encoding="utf-8", errors="backslashreplace", newline="") as file:
            reader = csv_rows(file)
            head = next(reader, [])
            missing = [name for name in names if name not in head]
            if missing:
                raise TableError(f"has no column {', '.join(missing)}")
            places = [head.index(name) for name in names]
            last = max(places)
            for row in reader:
                if len(row) > last:
                    yield [row[place] for place in places]
    except FileNotFoundError:
        raise TableError("is missing") from None
    except (OSError, csv.Error) as error:
        raise TableError(f"cannot be read: {error}") from None


def _packed_rows(path: Path, names: Sequence[str]) -> Iterator[Sequence[Any]]:
    try:
        # An extra; it has no types of its own.
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise TableError(
            "needs the extra `traces` to be read: pip install 'phalanx[traces]'"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            missing = [name for name in names if name not in file.schema_arrow.names]
            if missing:
                raise TableError(f"has no column {', '.join(missing)}")
            for batch in file.iter_batches(columns=list(names)):
                columns = [batch.column(name).to_pylist() for name in names]
                yield from zip(*columns, strict=True)
    except (OSError, ValueError, NotImplementedError) as error:
        raise TableError(f"cannot be read: {error}") from None


def number_in(text: Any) -> float | None:  # noqa: ANN401 - a cell
    """
    Read a number; what is none, or too large to be added, is nothing.
    """
    if text is None or text == "":
        return None
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if abs(value) <= LARGEST else None
