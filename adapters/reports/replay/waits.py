"""
How long gangs wait, by their size.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adapters.reports.charts.charts import Span, Spans
from adapters.reports.charts.number_text import (
    number,
    span,
    wait_axis,
)
from adapters.reports.charts.palette import ranks
from adapters.reports.charts.series import point_keys, which_seed
from adapters.reports.page.page import Block, Cell, Column, Figure, Grid, Panel, Text
from adapters.reports.replay.results import Folder, PlayedRun

_READING = (
    "Each line runs from the median wait (the point) over the 90th percentile (short "
    "tick) to the 99th (long tick). The axis counts by powers; further left is better."
)
_SIZE_ORDER = ("0", "<1", "1", "2-7", "8-15", "16-63", "64+")


def waits(folder: Folder) -> list[Block]:
    """
    Draw how long gangs of each size wait, with each strategy.
    """
    names = folder.results.strategies
    place = ranks(names)
    found = {name: _by_size(folder.run(name)) for name in names}
    sizes = _in_order(size for each in found.values() for size in each)
    drawn = [size for size in sizes if size in _SIZE_ORDER]
    known = [
        value
        for each in found.values()
        for size in drawn
        for value in _quantiles(each.get(size))
        if value is not None
    ]
    if not known:
        return [Text(["The results say nothing about waits by size."])]
    axis, floor = wait_axis(known, "wait from submission to first start")
    spans = [
        line
        for name, each in found.items()
        for size in drawn
        for line in _spans(each.get(size), size, place[name], floor)
    ]
    drawing = Spans(
        rows=[_gpus(size) for size in drawn],
        ranks=[place[name] for name in names],
        spans=spans,
        axis=axis,
    )
    figure = Figure(
        name="waits",
        caption="Waits by the size of the gang",
        reading=f"{_READING} {which_seed(folder)}",
        keys=point_keys(names),
        panels=[Panel("", drawing)],
        numbers=_wait_table(found, sizes),
    )
    return [figure]


def _in_order(sizes: Iterable[str]) -> list[str]:
    """
    List each size once, by number of GPUs; what is no size of ours comes last.
    """
    last = len(_SIZE_ORDER)
    order = {size: at for at, size in enumerate(_SIZE_ORDER)}
    return sorted(dict.fromkeys(sizes), key=lambda size: order.get(size, last))


def _spans(
    row: dict[str, Any] | None, size: str, rank: int, floor: float
) -> Iterator[Span]:
    """
    Give the line of a size, where its quantiles are known.
    """
    low, middle, high = _quantiles(row)
    if low is None or middle is None or high is None:
        return
    near, mid, far = (max(value, floor) for value in (low, middle, high))
    words = zip(("median", "90 %", "99 %"), (low, middle, high), strict=True)
    text = ", ".join(f"{word} {span(value)}" for word, value in words)
    yield Span(_gpus(size), rank, near, mid, far, text)


def _by_size(run: PlayedRun | None) -> dict[str, dict[str, Any]]:
    rows = run.find("wait.bySize") if run is not None else None
    if not isinstance(rows, list):
        return {}
    return {
        str(row["size"]): row for row in rows if isinstance(row, dict) and "size" in row
    }


def _quantiles(row: dict[str, Any] | None) -> tuple[float | None, ...]:
    return tuple(_float(row, name) for name in ("median", "p90", "p99"))


def _float(row: dict[str, Any] | None, name: str) -> float | None:
    found = row.get(name) if row else None
    return float(found) if isinstance(found, int | float) else None


def _gpus(size: str) -> str:
    if size == "<1":
        return "a part of a GPU"
    words = size.replace("-", "–")
    return f"{words} GPU" if size == "1" else f"{words} GPUs"


def _wait_table(
    found: dict[str, dict[str, dict[str, Any]]], sizes: Sequence[str]
) -> Grid:
    rows = []
    for size in sizes:
        for name, each in found.items():
            row = each.get(size)
            jobs = _float(row, "jobs")
            if not jobs:
                continue
            values = [
                _float(row, key) for key in ("mean", "median", "p90", "p99", "max")
            ]
            rows.append(
                [
                    Cell(_gpus(size)),
                    Cell(name),
                    number(jobs),
                    *(Cell(span(value), value) for value in values),
                ]
            )
    heads = ("Jobs", "Mean", "Median", "90th pct.", "99th pct.", "Longest")
    return Grid(
        caption="Waits by the size of the gang",
        columns=[
            Column("Size"),
            Column("Strategy"),
            *(Column(head, right=True) for head in heads),
        ],
        rows=rows,
    )
