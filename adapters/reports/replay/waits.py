"""
How long gangs wait by their size, and how long decisions take by theirs.
"""

from collections.abc import Sequence
from typing import Any

from adapters.reports.charts.charts import Span, Spans
from adapters.reports.charts.number_text import (
    number,
    power_axis,
    seconds,
    short_time,
    span,
    wait_axis,
)
from adapters.reports.charts.palette import ranks
from adapters.reports.charts.series import point_keys, which_seed
from adapters.reports.page.page import Block, Cell, Column, Figure, Grid, Panel, Text
from adapters.reports.replay.results import Folder, PlayedRun

_SIZE_ORDER = ("0", "1", "2-7", "8-15", "16-63", "64+")


# --- waits by gang size ------------------------------------------------------------


def waits(folder: Folder) -> list[Block]:
    """
    Draw how long gangs of each size wait, with each strategy.
    """
    names = folder.results.strategies
    place = ranks(names)
    found = {name: _by_size(folder.run(name)) for name in names}
    sizes = list(dict.fromkeys(size for each in found.values() for size in each))
    sizes.sort(key=lambda size: _SIZE_ORDER.index(size) if size in _SIZE_ORDER else 99)
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
    spans = []
    for name, each in found.items():
        for size in drawn:
            low, middle, high = _quantiles(each.get(size))
            if low is None or middle is None or high is None:
                continue
            near, mid, far = (max(value, floor) for value in (low, middle, high))
            words = zip(("median", "90 %", "99 %"), (low, middle, high), strict=True)
            text = ", ".join(f"{word} {span(value)}" for word, value in words)
            spans.append(Span(_gpus(size), place[name], near, mid, far, text))
    rows = [_gpus(size) for size in drawn]
    return [
        Figure(
            name="waits",
            caption="Waits by the size of the gang",
            reading="Each line runs from the median wait (the point) over the 90th "
            "percentile (short tick) to the 99th (long tick). The axis counts by "
            f"powers; further left is better. {which_seed(folder)}",
            keys=point_keys(names),
            panels=[
                Panel(
                    "",
                    Spans(
                        rows=rows,
                        ranks=[place[name] for name in names],
                        spans=spans,
                        axis=axis,
                    ),
                )
            ],
            numbers=_wait_table(found, sizes),
        )
    ]


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


# --- decision time -----------------------------------------------------------------


def decisions(folder: Folder) -> list[Block]:
    """
    Draw how long decisions took, by the number of gangs that were shown.
    """
    runs = [
        run
        for name in folder.results.strategies
        for run in folder.timings.runs
        if run.strategy == name
    ]
    first = {
        run.strategy: run for run in sorted(runs, key=lambda r: r.seed, reverse=True)
    }
    first = {name: first[name] for name in folder.results.strategies if name in first}
    rows = [(name, each) for name, run in first.items() for each in run.by_size]
    known = [
        value
        for _, each in rows
        for value in (each.median, each.p99)
        if value is not None
    ]
    if not known:
        return [Text(["There is no timings.json: decision times are not known."])]
    place = ranks(folder.results.strategies)
    axis, floor = power_axis(known, "decision, seconds")
    labels = [_gangs(size) for size in dict.fromkeys(_sizes(rows))]
    spans = [
        Span(
            _gangs(each.shown),
            place[name],
            max(each.median, floor),
            max(each.median, floor),
            max(each.p99, floor),
            f"median {short_time(each.median)}, 99 % {short_time(each.p99)}",
        )
        for name, each in rows
        if each.median is not None and each.p99 is not None
    ]
    return [
        Figure(
            name="decisions",
            caption="Decision time by the number of gangs shown",
            reading="Rounds that were planned, by how many waiting gangs the plan was "
            "shown: from the median (the point) to the 99th percentile (long tick). "
            "Wall time of the machine that ran this; it differs from run to run.",
            keys=point_keys(list(first)),
            panels=[
                Panel(
                    "",
                    Spans(
                        rows=labels,
                        ranks=[place[name] for name in first],
                        spans=spans,
                        axis=axis,
                    ),
                )
            ],
            numbers=Grid(
                caption="Decision time by the number of gangs shown",
                columns=[
                    Column("Gangs shown"),
                    Column("Strategy"),
                    Column("Rounds", right=True),
                    Column("Median", right=True),
                    Column("99th pct.", right=True),
                ],
                rows=[
                    [
                        Cell(each.shown.replace("-", "–")),
                        Cell(name),
                        number(each.rounds),
                        seconds(each.median),
                        seconds(each.p99),
                    ]
                    for name, each in rows
                ],
            ),
        ),
        _whole_times(first),
    ]


def _sizes(rows: Sequence[tuple[str, Any]]) -> list[str]:
    """
    Put classes such as ``1-10`` and ``101+`` in the order of their first number.
    """
    sizes = {each.shown for _, each in rows}
    return sorted(sizes, key=lambda size: (_leading(size), size))


def _gangs(size: str) -> str:
    return f"{size.replace('-', '–')} gangs"


def _leading(size: str) -> int:
    digits = ""
    for sign in size:
        if not sign.isdecimal() or not sign.isascii():
            break
        digits += sign
    return int(digits or 0)


def _whole_times(first: dict[str, Any]) -> Grid:
    heads = {
        "median": "Median",
        "p99": "99th percentile",
        "max": "Longest",
        "decisions": "All decisions",
        "total": "Whole replay",
    }
    keys = [key for key in heads if any(key in run.seconds for run in first.values())]
    return Grid(
        caption="Decision time of all planned rounds",
        columns=[Column("Strategy"), *(Column(heads[key], right=True) for key in keys)],
        rows=[
            [Cell(name), *(seconds(run.seconds.get(key)) for key in keys)]
            for name, run in first.items()
        ],
        stacked=True,
    )
