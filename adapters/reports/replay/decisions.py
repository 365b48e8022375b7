"""
How long decisions took, by the number of gangs that were shown.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from adapters.reports.charts.charts import Span, Spans
from adapters.reports.charts.number_text import (
    number,
    power_axis,
    seconds,
    short_time,
)
from adapters.reports.charts.palette import ranks
from adapters.reports.charts.series import point_keys
from adapters.reports.page.page import Block, Cell, Column, Figure, Grid, Panel, Text
from adapters.reports.replay.results import BySize, Folder, TimedRun


def decisions(folder: Folder) -> list[Block]:
    """
    Draw how long decisions took, by the number of gangs that were shown.
    """
    first = _first_runs(folder)
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
    spans = Spans(
        rows=[_gangs(size) for size in dict.fromkeys(_sizes(rows))],
        ranks=[place[name] for name in first],
        spans=[line for name, each in rows for line in _line(each, place[name], floor)],
        axis=axis,
    )
    figure = Figure(
        name="decisions",
        caption="Decision time by the number of gangs shown",
        reading="Rounds that were planned, by how many waiting gangs the plan was "
        "shown: from the median (the point) to the 99th percentile (long tick). "
        "Wall time of the machine that ran this; it differs from run to run.",
        keys=point_keys(list(first)),
        panels=[Panel("", spans)],
        numbers=_times_by_gangs(rows),
    )
    return [figure, _whole_times(first)]


def _line(each: BySize, rank: int, floor: float) -> Iterator[Span]:
    """
    Give the line of a number of gangs, where its times are known.
    """
    if each.median is None or each.p99 is None:
        return
    middle, far = max(each.median, floor), max(each.p99, floor)
    words = f"median {short_time(each.median)}, 99 % {short_time(each.p99)}"
    yield Span(_gangs(each.shown), rank, middle, middle, far, words)


def _first_runs(folder: Folder) -> dict[str, TimedRun]:
    """
    Give the timed run of the smallest seed of each strategy.
    """
    runs = sorted(folder.timings.runs, key=lambda run: run.seed, reverse=True)
    first = {run.strategy: run for run in runs}
    return {name: first[name] for name in folder.results.strategies if name in first}


def _times_by_gangs(rows: Sequence[tuple[str, Any]]) -> Grid:
    return Grid(
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
    )


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
