"""
The cluster over time: what its GPUs do, who waits, and how even its queues fare.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from adapters.reports.charts.charts import Areas, Axis, ChartPart, Lines
from adapters.reports.charts.number_text import (
    NOTHING,
    natural,
    number,
    share,
    time_axis,
)
from adapters.reports.charts.palette import ranks
from adapters.reports.charts.series import line_keys, which_seed
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
from adapters.reports.replay.tables import (
    PARTS,
    QueueSeries,
    Series,
    TableError,
    lengths,
    read_queues,
    read_series,
)

Table = TypeVar("Table")

MOST_MOMENTS = 240
"""
More moments than a screen shows apart are averaged before they are drawn.
"""
MOST_DETAIL = 4_000
"""
The moments that a closer look has, five and a half months of hours.
"""
MOST_QUEUES = 100
_TO_THE_END = (
    "The table of all measures counts to the last submission only; what drains after "
    "it is counted here."
)
_WORDS = {
    "used": ("used", "used"),
    "lent": ("used: lent by those it is held for", "lent"),
    "incomplete": ("held by incomplete gangs", "incomplete"),
    "fragmented": ("idle: fragmented", "fragmented"),
    "quota": ("idle: blocked by quota", "quota"),
    "held": ("idle: held for a head", "held"),
    "freed": ("idle: between rounds", "freed"),
    "unwanted": ("idle: unwanted", "unwanted"),
    "off": ("nodes that take no pods", "away"),
}


# --- the cluster over time ---------------------------------------------------------


def use(folder: Folder) -> list[Block]:
    """
    Draw what the GPUs do over time, idle ones by the cause, and who waits.
    """
    read, missing = _read(folder, "series.csv", read_series)
    if not read:
        return [Text(missing)]
    blocks: list[Block] = [_areas(folder, read), _queue_lines(folder, read)]
    return [*blocks, Text(missing)] if missing else blocks


def _read(
    folder: Folder, file: str, reader: Callable[[Path], Table]
) -> tuple[dict[str, Table], list[str]]:
    """
    Read one table of each strategy's run, and say of which there is none.
    """
    read: dict[str, Table] = {}
    missing = []
    for name in folder.results.strategies:
        run = folder.run(name)
        if run is None:
            continue
        try:
            read[name] = reader(folder.file(run, file))
        except TableError as error:
            missing.append(f"{run.folder}/{file} {error}: {name} is not drawn.")
    return read, missing


def _areas(folder: Folder, read: dict[str, Series]) -> Figure:
    first = min(series.moments[0] for series in read.values())
    last = max(_end(series) for series in read.values())
    time, unit = time_axis(first, last, "time since the first submission")
    seen = [
        part
        for part in PARTS
        if any(value > 0 for series in read.values() for value in series.parts[part])
    ]
    panels = []
    for name, series in read.items():
        fine, chart = (
            _shares(series, seen, time, unit, most)
            for most in (MOST_DETAIL, MOST_MOMENTS)
        )
        panels.append(Panel(name, replace(chart, detail=fine)))
    return Figure(
        name="use",
        caption="What the GPUs do over time",
        reading="All GPUs of the cluster, hour by hour or in longer steps; idle ones "
        "by the cause. Fragmented: wanted, but no waiting gang fits into the pieces. "
        "Blocked by quota: wanted only by queues at their limit. Held: a waiting gang "
        "would fit, but nodes are held for one that waits longer. Between rounds: it "
        "would fit, and starts with the next round. Lent: used by others on nodes that "
        "are held. Unwanted: "
        f"nobody waits. {which_seed(folder)}",
        keys=[Key(*_WORDS[part]) for part in seen],
        panels=panels,
        numbers=_use_table(read, seen),
    )


def _shares(
    series: Series, seen: Sequence[str], time: Axis, unit: float, most: int
) -> Areas:
    """
    Split all GPUs by what they do, in so many moments at most.
    """
    step, moments = coarse(series.moments, most)
    whole = [sum(values) for values in zip(*series.parts.values(), strict=True)]
    total = averaged(whole, step)
    shares = [
        [
            100 * value / every if every else 0.0
            for value, every in zip(
                averaged(series.parts[part], step), total, strict=True
            )
        ]
        for part in seen
    ]
    return Areas(
        moments=[moment / unit for moment in (*moments, _end(series))],
        parts=[ChartPart(*_WORDS[part]) for part in seen],
        shares=[[*values, values[-1]] for values in shares],
        time=time,
        axis=Axis(title="% of all GPUs", low=0, high=100),
    )


def _use_table(read: dict[str, Series], seen: Sequence[str]) -> Grid:
    rows = []
    for name, series in read.items():
        seconds = lengths(series.moments)
        sums = {part: sum(map(mul, series.parts[part], seconds), 0.0) for part in PARTS}
        whole = sum(sums.values()) or 1.0
        cells = (Cell(share(sums[part] / whole), sums[part]) for part in seen)
        rows.append([Cell(name), *cells])
    return Grid(
        caption="What the GPUs did from the first to the last bucket, of all GPU time",
        columns=[
            Column("Strategy"),
            *(Column(_WORDS[part][0].capitalize(), right=True) for part in seen),
        ],
        rows=rows,
        notes=[_TO_THE_END],
    )


def _queue_lines(folder: Folder, read: dict[str, Series]) -> Figure:
    """
    Draw the GPUs that waiting gangs ask for; all series have the same buckets.
    """
    place = ranks(folder.results.strategies)
    longest = max(read.values(), key=lambda series: len(series.moments))
    time, unit = time_axis(
        longest.moments[0], _end(longest), "time since the first submission"
    )
    most = max(max(series.waiting_gpus) for series in read.values())
    axis = Axis(title="GPUs asked for", low=0, high=max(most, 1) * 1.02)

    def drawn(most: int) -> Lines:
        step, moments = coarse(longest.moments, most)
        lines = []
        for name, series in read.items():
            values: list[float | None] = list(averaged(series.waiting_gpus, step))
            values += [None] * (len(moments) - len(values))
            lines.append((place[name], [*values[: len(moments)], values[-1]]))
        ends = (*moments, _end(longest))
        return Lines(
            moments=[moment / unit for moment in ends],
            series=lines,
            time=time,
            axis=axis,
        )

    return Figure(
        name="queue",
        caption="What waits over time",
        reading="GPUs that waiting gangs ask for; lower is better. "
        f"{which_seed(folder)}",
        keys=line_keys(list(read)),
        panels=[Panel("", replace(drawn(MOST_MOMENTS), detail=drawn(MOST_DETAIL)))],
        numbers=_waiting_table(read),
    )


def _waiting_table(read: dict[str, Series]) -> Grid:
    heads = ("GPUs, mean", "GPUs, most", "Gangs, mean", "Gangs, most")
    return Grid(
        caption="What waits at the end of a bucket",
        columns=[Column("Strategy"), *(Column(head, right=True) for head in heads)],
        rows=[
            [
                Cell(name),
                number(fmean(series.waiting_gpus)),
                number(max(series.waiting_gpus)),
                number(fmean(series.waiting)),
                number(max(series.waiting)),
            ]
            for name, series in read.items()
        ],
    )


def coarse(
    moments: Sequence[float], most: int = MOST_MOMENTS
) -> tuple[int, list[float]]:
    """
    Say how many buckets are joined into one, and where the joined ones begin.
    """
    step = -(-len(moments) // most)
    return step, list(moments[::step])


def averaged(values: Sequence[float], step: int) -> list[float]:
    """
    Average every so many values.
    """
    return [fmean(values[at : at + step]) for at in range(0, len(values), step)]


def _end(series: Series) -> float:
    return series.moments[-1] + lengths(series.moments)[-1]


# --- fairness over time ------------------------------------------------------------


def fairness(folder: Folder) -> list[Block]:
    """
    Draw how evenly the queues get what they are due, over time and queue by queue.
    """
    read, missing = _read(folder, "queues.csv", read_queues)
    if not read:
        return [Text(missing)]
    if all(_num_queues(each) < 2 for each in read.values()):
        return [Text(["There is one queue, so nothing is shared between queues."])]
    blocks: list[Block] = [_jain_lines(folder, read), _queue_table(read)]
    return [*blocks, Text(missing)] if missing else blocks


def _num_queues(queues: QueueSeries) -> int:
    return len({row[0] for rows in queues.by_moment.values() for row in rows})


def jain(rows: Sequence[tuple[str, float, float, float]]) -> float | None:
    """
    Give Jain's index of used over share, over queues that have a share or wait.
    """
    ratios = [used / share for _, used, share, _ in rows if share > 0]
    ratios += [0.0 for _, _, share, waiting in rows if share <= 0 < waiting]
    squares = sum(ratio * ratio for ratio in ratios)
    if not squares:
        return None
    return sum(ratios) ** 2 / (len(ratios) * squares)


def _jain_lines(folder: Folder, read: dict[str, QueueSeries]) -> Figure:
    place = ranks(folder.results.strategies)
    every = sorted({moment for each in read.values() for moment in each.by_moment})
    width = lengths(every)[-1]
    time, unit = time_axis(
        every[0], every[-1] + width, "time since the first submission"
    )
    found = {
        name: [jain(queues.by_moment.get(moment, ())) for moment in every]
        for name, queues in read.items()
    }

    def drawn(most: int) -> Lines:
        step, moments = coarse(every, most)
        lines = []
        for name, values in found.items():
            starts = range(0, len(every), step)
            joined = [_mean(values[at : at + step]) for at in starts]
            lines.append((place[name], [*joined, joined[-1]]))
        return Lines(
            moments=[moment / unit for moment in (*moments, every[-1] + width)],
            series=lines,
            time=time,
            axis=Axis(title="Jain's index", low=0, high=1),
        )

    return Figure(
        name="fairness",
        caption="Fairness between queues over time",
        reading="Jain's index of what each queue uses over its fair share: 1 means "
        "that every queue has the same part of its share, 1/n that one of n has all. "
        "Only queues with a share, or with waiting gangs, count. "
        f"{which_seed(folder)}",
        keys=line_keys(list(read)),
        panels=[Panel("", replace(drawn(MOST_MOMENTS), detail=drawn(MOST_DETAIL)))],
        numbers=_jain_table(found),
    )


def _jain_table(found: dict[str, list[float | None]]) -> Grid:
    rows = []
    for name, values in found.items():
        known = sorted(value for value in values if value is not None)
        if known:
            low = known[len(known) // 20]
            rows.append(
                [Cell(name), number(fmean(known)), number(low), number(known[0])]
            )
    heads = ("Mean", "5th percentile", "Lowest")
    return Grid(
        caption="Jain's index over all buckets",
        columns=[Column("Strategy"), *(Column(head, right=True) for head in heads)],
        rows=rows,
        notes=[_TO_THE_END],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _queue_table(read: dict[str, QueueSeries]) -> Grid:
    """
    Give each queue what it used, on average, beside its share; largest shares first.
    """
    sums: dict[str, dict[str, list[float]]] = {}
    for name, queues in read.items():
        seconds = lengths(sorted(queues.by_moment))
        for moment, length in zip(sorted(queues.by_moment), seconds, strict=True):
            for queue, *values in queues.by_moment[moment]:
                each = sums.setdefault(queue, {}).setdefault(name, [0.0, 0.0, 0.0, 0.0])
                for at, value in enumerate((*values, 1.0)):
                    each[at] += value * length
    names = list(read)
    order = sorted(
        sums,
        key=lambda queue: (
            -max(each[1] / each[3] for each in sums[queue].values()),
            natural(queue),
        ),
    )
    lines = []
    for queue in order[:MOST_QUEUES]:
        cells = [Cell(queue)]
        for at in (1, 0, 2):
            for name in names:
                mine = sums[queue].get(name)
                mean = mine[at] / mine[3] if mine else None
                cells.append(
                    Cell(NOTHING) if mean is None else Cell(f"{mean:,.1f}", mean)
                )
        lines.append(cells)
    heads = ("fair share", "used", "waiting gangs")
    return Grid(
        caption="Queues: GPUs of their fair share, GPUs used, gangs waiting (means)",
        columns=[
            Column("Queue"),
            *(Column(f"{name}: {h}", right=True) for h in heads for name in names),
        ],
        rows=lines,
    )
