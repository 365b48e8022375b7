"""
What every node does in a window of time: one line per node, darker where fuller.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adapters.reports.charts.charts import Strip
from adapters.reports.charts.number_text import (
    DAY,
    HOUR,
    natural,
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
from adapters.reports.replay.results import Cluster, Folder
from adapters.reports.replay.tables import PlayedJob, TableError, read_jobs, read_series
from models.errors import printable
from models.reasons import counted

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
_PLACE = re.compile(r"^(.+)\*(\d{1,6})$")
_LEVELS = ((0.005, "h0"), (0.35, "h1"), (0.7, "h2"), (0.985, "h3"))
_KEYS = (
    Key("idle", "h0"),
    Key("up to 35 %", "h1"),
    Key("up to 70 %", "h2"),
    Key("up to 98 %", "h3"),
    Key("full", "h4"),
)


@dataclass(frozen=True, slots=True)
class StripWindow:
    """
    A part of the replay that is looked at.
    """

    name: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Stay:
    """
    A job on a node: from, to, GPUs.
    """

    node: str
    low: float
    high: float
    gpus: int


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
            stays[name] = _stays(read_jobs(folder.path / run.folder))
        except TableError as error:
            missing.append(f"{run.folder}/jobs {error}: {name} is not drawn.")
    every = [stay for each in stays.values() for stay in each]
    if not every:
        return [
            Text(missing or ["No job ever ran, so every node was idle throughout."])
        ]
    nodes, room = _nodes(every, folder.results.cluster)
    windows = _windows(folder, every, wanted)
    figure = _figure(stays, nodes, room, windows)
    return [figure, Text(missing)] if missing else [figure]


def _stays(jobs: Iterable[PlayedJob]) -> list[Stay]:
    """
    Take apart where the last attempt of each job ran, and when.
    """
    found = []
    for job in jobs:
        if job.start is None:
            continue
        end = job.end if job.end is not None else float("inf")
        for word in job.nodes.split():
            place = _PLACE.match(word)
            if place is not None and end > job.start:
                found.append(Stay(place[1], job.start, end, int(place[2])))
    return found


def _nodes(
    stays: Sequence[Stay], cluster: Cluster
) -> tuple[list[str], dict[str, float]]:
    """
    Name the nodes in their order, and the GPUs each of them has.

    Nodes are numbered class by class; where jobs name fewer than the cluster has, a
    node has as many GPUs as the smallest class that holds the most it ever ran at once,
    and those that no job names share what is left.
    """
    names = sorted({stay.node for stay in stays}, key=natural)
    sizes = [
        each.gpus for each in cluster.classes for _ in range(min(each.nodes, 10**5))
    ]
    if len(names) == len(sizes):
        return names, dict(zip(names, sizes, strict=True))
    known = sorted({each.gpus for each in cluster.classes})
    peaks = _peaks(stays)
    room = {}
    for name in names:
        peak = float(peaks.get(name, 1))
        room[name] = next((size for size in known if size >= peak), peak) or 1.0
    unused = min(cluster.nodes, 10**5) - len(names)
    left = cluster.gpus - sum(room.values())
    for at in range(unused):
        room[f"unused {at + 1}"] = max(1.0, left / unused)
    return list(room), room


def _peaks(stays: Sequence[Stay]) -> dict[str, int]:
    """
    Give the most GPUs that ran at once on each node; who leaves makes room first.
    """
    begins = [(stay.low, 1, stay.node, stay.gpus) for stay in stays]
    ends = [(stay.high, 0, stay.node, -stay.gpus) for stay in stays]
    now: dict[str, int] = {}
    most: dict[str, int] = {}
    for _, _, node, gpus in sorted(begins + ends):
        now[node] = now.get(node, 0) + gpus
        most[node] = max(most.get(node, 0), now[node])
    return most


# --- windows -----------------------------------------------------------------------


def _windows(
    folder: Folder, stays: Sequence[Stay], wanted: Sequence[tuple[float, float]]
) -> list[StripWindow]:
    """
    Take what was asked for; else the whole, the day most waits, the day that differs.
    """
    ends = [stay.high for stay in stays if stay.high != float("inf")]
    last = max([stay.low for stay in stays] + ends) or 1.0
    found = [StripWindow(_said(low, high), low, high) for low, high in wanted]
    whole = StripWindow("The whole replay", 0.0, last)
    if last < 3 * DAY:
        return [*found, whole]
    crowded, different = _days(folder)
    if crowded is not None:
        name = f"Day {crowded + 1}, when most GPUs were waited for"
        found.append(StripWindow(name, crowded * DAY, (crowded + 1) * DAY))
    if different not in (None, crowded):
        name = f"Day {different + 1}, when their use differs most"
        found.append(StripWindow(name, different * DAY, (different + 1) * DAY))
    return [*found, whole]


def _said(low: float, high: float) -> str:
    return f"{span(low)} to {span(high)}"


def _days(folder: Folder) -> tuple[int | None, int | None]:
    """
    Find the day on which most GPUs are waited for, and that on which use differs most.
    """
    waiting: dict[int, float] = {}
    used: list[dict[int, float]] = []
    for name in folder.results.strategies:
        run = folder.run(name)
        if run is None:
            continue
        try:
            series = read_series(folder.file(run, "series.csv"))
        except TableError:
            continue
        each: dict[int, float] = {}
        for at, moment in enumerate(series.moments):
            day = int(moment // DAY)
            waiting[day] = waiting.get(day, 0.0) + series.waiting_gpus[at]
            each[day] = each.get(day, 0.0) + series.parts["used"][at]
        used.append(each)
    crowded = max(sorted(waiting), key=waiting.__getitem__, default=None)
    if crowded is None or len(used) < 2:
        return crowded, None
    spread = {
        day: max(u.get(day, 0.0) for u in used) - min(u.get(day, 0.0) for u in used)
        for day in waiting
    }
    return crowded, max(sorted(spread), key=spread.__getitem__)


# --- drawing -----------------------------------------------------------------------


def _figure(
    stays: dict[str, list[Stay]],
    nodes: list[str],
    room: dict[str, float],
    windows: Sequence[StripWindow],
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
        numbers=_window_table(views),
    )


def _window_table(views: Sequence["_StripView"]) -> Grid:
    return Grid(
        caption="Nodes in each window",
        columns=[
            Column("Window"),
            Column("Strategy"),
            Column("GPUs used", right=True),
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
        notes=["A cell is one row of the drawing in one step of time."],
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
