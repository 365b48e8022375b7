"""
What every node does in a window of time: one line per node, darker where fuller.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adapters.reports.charts.charts import Strip
from adapters.reports.charts.number_text import (
    DAY,
    HOUR,
    share,
    span,
    time_axis,
)
from adapters.reports.page.page import (
    Block,
    Cell,
    Column,
    Figure,
    Grid,
    Key,
    Panel,
    Text,
)
from adapters.reports.replay.results import Folder
from adapters.reports.replay.stays import (
    Stay,
    StripWindow,
    nodes_of,
    stays_of,
    windows_of,
)
from adapters.reports.replay.tables import TableError, read_jobs
from models.errors import printable
from models.why.reasons import counted

MOST_ROWS = 64
NUM_BUCKETS = 112
MOST_RUNS = 40_000
"""
How many pieces of colour all strips of a page have, about 1.8 MB of it; where there
would be more, nodes share rows.
"""
MOST_STEPS = 2_400
"""
The steps of the whole replay that a closer look has; hours, where it has no more.
"""
_LEVELS = ((0.005, "h0"), (0.35, "h1"), (0.7, "h2"), (0.985, "h3"))
_KEYS = (
    Key("idle", "h0"),
    Key("up to 35 %", "h1"),
    Key("up to 70 %", "h2"),
    Key("up to 98 %", "h3"),
    Key("full", "h4"),
)


def strips(folder: Folder, wanted: Sequence[tuple[float, float]]) -> list[Block]:
    """
    Draw the nodes in each window, strategy by strategy.
    """
    stays: dict[str, list[Stay]] = {}
    missing = []
    for name in folder.results.strategies:
        run = folder.run(name)
        if run is None:
            continue
        try:
            stays[name] = stays_of(read_jobs(folder.path / run.folder))
        except TableError as error:
            missing.append(f"{run.folder}/jobs {error}: {name} is not drawn.")
    every = [stay for each in stays.values() for stay in each]
    if not every:
        return [
            Text(missing or ["No job ever ran, so every node was idle throughout."])
        ]
    nodes, room = nodes_of(list(stays.values()), folder.results.cluster)
    windows = windows_of(folder, every, wanted)
    figure = _figure(stays, nodes, room, windows, _not_drawn(folder, stays))
    return [figure, Text(missing)] if missing else [figure]


def _figure(
    stays: dict[str, list[Stay]],
    nodes: list[str],
    room: dict[str, float],
    windows: Sequence[StripWindow],
    not_drawn: Sequence[str],
) -> Figure:
    per_row = -(-len(nodes) // MOST_ROWS)
    views = _views(stays, nodes, room, windows, per_row)
    while per_row < len(nodes) and sum(len(s.chart.runs) for s in views) > MOST_RUNS:
        per_row *= 2
        views = _views(stays, nodes, room, windows, per_row)
    panels = [Panel(each.name, each.chart, each.window.name) for each in views]
    joined = (
        f" {counted(len(nodes), 'node')} are drawn in rows of {per_row:,}."
        if per_row > 1
        else ""
    )
    return Figure(
        name="nodes",
        caption="Every node over time",
        reading="One line for each node; the stronger the colour, the more of its "
        "GPUs are used. Of a job that ran more than once the last attempt is drawn."
        f"{joined}",
        keys=_KEYS,
        panels=panels,
        choice="Window:",
        numbers=_window_table(views, not_drawn),
    )


def _not_drawn(folder: Folder, names: Iterable[str]) -> list[str]:
    """
    Say how many attempts are missing, since only the last ones of jobs are known.
    """
    missing = []
    for name in names:
        run = folder.run(name)
        lost = [run and run.get(f"lost.{kind}") for kind in ("evictions", "failures")]
        if number := int(sum(each or 0 for each in lost)):
            missing.append(f"{number:,} of {name}")
    said = (
        "Attempts that failed or were evicted are neither drawn nor counted here, "
        f"{' and '.join(missing)}; what the GPUs did over time counts them."
    )
    return [said] if missing else []


def _window_table(views: Sequence["_StripView"], not_drawn: Sequence[str]) -> Grid:
    return Grid(
        caption="Nodes in each window",
        columns=[
            Column("Window"),
            Column("Strategy"),
            Column("GPUs used, as drawn", right=True),
            Column("Idle cells", right=True),
            Column("Full cells", right=True),
        ],
        rows=[
            [
                Cell(each.window.name),
                Cell(each.name),
                *(
                    Cell(share(part), part)
                    for part in (
                        each.used,
                        float((each.full < 0.005).mean()),
                        float((each.full >= 0.985).mean()),
                    )
                ),
            ]
            for each in views
        ],
        notes=["A cell is one row of the drawing in one step of time.", *not_drawn],
    )


@dataclass(frozen=True, slots=True)
class _StripView:
    """
    One strategy in one window: what it uses of all GPUs, how full each cell is.
    """

    window: StripWindow
    name: str
    used: float
    full: NDArray[np.float64]
    chart: Strip


def _views(
    stays: dict[str, list[Stay]],
    nodes: list[str],
    room: dict[str, float],
    windows: Sequence[StripWindow],
    per_row: int,
) -> list[_StripView]:
    names = _names(nodes, per_row)
    found = []
    for window in windows:
        for name, each in stays.items():
            used, full = _fullness(each, nodes, room, window, per_row)
            fine = full
            if window.high - window.low > 3 * DAY:
                steps = min(MOST_STEPS, -(-int(window.high - window.low) // HOUR))
                _, fine = _fullness(each, nodes, room, window, per_row, steps)
            chart = replace(_strip(full, names, window), levels=_levels(fine))
            found.append(_StripView(window, name, used, full, chart))
    return found


def _names(nodes: Sequence[str], per_row: int) -> list[str]:
    if per_row == 1:
        return [printable(name) for name in nodes]
    groups = [nodes[at : at + per_row] for at in range(0, len(nodes), per_row)]
    return [printable(f"{group[0]} – {group[-1]}") for group in groups]


def _fullness(
    stays: Sequence[Stay],
    nodes: Sequence[str],
    room: dict[str, float],
    window: StripWindow,
    per_row: int,
    steps: int = NUM_BUCKETS,
) -> tuple[float, NDArray[np.float64]]:
    """
    Give the part of all GPUs that is used, and of each row's in each step of a window.

    Whole steps are added up as differences, the broken ones at both ends by themselves.
    """
    place = {name: at // per_row for at, name in enumerate(nodes)}
    num_rows = -(-len(nodes) // per_row)
    width = (window.high - window.low) / steps
    edges = np.zeros((num_rows, steps + 1))
    parts = np.zeros((num_rows, steps + 1))
    for stay in stays:
        low, high = max(stay.low, window.low), min(stay.high, window.high)
        if high <= low:
            continue
        row = place[stay.node]
        first = min(int((low - window.low) / width), steps)
        last = min(int((high - window.low) / width), steps)
        if first == last:
            parts[row, first] += stay.gpus * (high - low)
            continue
        parts[row, first] += stay.gpus * (window.low + (first + 1) * width - low)
        parts[row, last] += stay.gpus * (high - window.low - last * width)
        edges[row, first + 1] += stay.gpus * width
        edges[row, last] -= stay.gpus * width
    have = np.zeros(num_rows)
    for name, at in place.items():
        have[at] += room[name]
    # Nodes without a GPU are as idle as can be.
    have = np.maximum(have, 1e-9)
    used = (np.cumsum(edges, axis=1) + parts)[:, :steps]
    whole = float(used.sum()) / (float(have.sum()) * width * steps)
    return min(whole, 1.0), np.clip(used / (have[:, None] * width), 0.0, 1.0)


def _levels(full: NDArray[np.float64]) -> list[str]:
    """
    Write how full each cell is as a digit, the same that is its colour.
    """
    limits = [limit for limit, _ in _LEVELS]
    return ["".join(map(str, np.searchsorted(limits, row))) for row in full]


def _strip(
    full: NDArray[np.float64], names: Sequence[str], window: StripWindow
) -> Strip:
    """
    Join neighbours of one level into runs.
    """
    since = f"{span(window.low)} after the first" if window.low else "the first"
    time, unit = time_axis(
        0.0, window.high - window.low, f"time since {since} submission"
    )
    width = (window.high - window.low) / NUM_BUCKETS
    runs = []
    for row in range(full.shape[0]):
        start, role = 0, _role(float(full[row, 0]))
        for at in range(1, NUM_BUCKETS + 1):
            now = _role(float(full[row, at])) if at < NUM_BUCKETS else ""
            if now != role:
                low, high = (edge * width for edge in (start, at))
                runs.append((low / unit, high / unit, row, role))
                start, role = at, now
    return Strip(rows=names, runs=runs, time=time)


def _role(part: float) -> str:
    return next((role for limit, role in _LEVELS if part <= limit), "h4")
