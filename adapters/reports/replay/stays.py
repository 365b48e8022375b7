"""
Which job was on which node from when to when, and the windows that are looked at.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adapters.reports.charts.number_text import (
    DAY,
    natural,
    span,
)
from adapters.reports.replay.results import Cluster, Folder
from adapters.reports.replay.tables import PlayedJob, TableError, read_series
from models.errors import WrongUseError

_PLACE = re.compile(r"^([^/]+)(?:/(\d{1,4}))?\*(\d{1,6}(?:\.\d{1,6})?)$")


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
    gpus: float


class PlaceOfJob(NamedTuple):
    """
    Where a job ran: a node, GPUs there, and the device of which it had that part.
    """

    node: str
    gpus: float
    device: int | None


def stays_of(jobs: Iterable[PlayedJob]) -> list[Stay]:
    """
    Take apart where the last attempt of each job ran, and when.
    """
    found = []
    for job in jobs:
        if job.start is None:
            continue
        end = job.end if job.end is not None else float("inf")
        for word in job.nodes.split():
            place = place_in(word)
            if place is not None and end > job.start:
                found.append(Stay(place.node, job.start, end, place.gpus))
    return found


def place_in(word: str) -> PlaceOfJob | None:
    """
    Read where a job ran: a node and its GPUs there, or its part of a device.
    """
    found = _PLACE.match(word)
    if not found:
        return None
    gpus = float(found[3]) if "." in found[3] else int(found[3])
    return PlaceOfJob(found[1], gpus, int(found[2]) if found[2] else None)


def nodes_of(
    runs: Sequence[Sequence[Stay]], cluster: Cluster
) -> tuple[list[str], dict[str, float]]:
    """
    Name the nodes in their order, and the GPUs each of them has; each run has all.

    Where jobs name fewer than the cluster has, or the results do not say which has how
    many, a node has as many GPUs as the smallest class that holds the most it ever ran
    at once, and those that no job names share what is left.
    """
    names = sorted({stay.node for stays in runs for stay in stays}, key=natural)
    told = cluster.by_name or (cluster.classes if len(cluster.classes) == 1 else ())
    sizes = [each.gpus for each in told for _ in range(min(each.nodes, 10**5))]
    if len(names) == len(sizes):
        return names, dict(zip(sorted(names), sizes, strict=True))
    known = sorted({each.gpus for each in cluster.classes})
    peaks = [_peaks(stays) for stays in runs]
    room = {}
    for name in names:
        peak = float(max(each.get(name, 0) for each in peaks))
        room[name] = next((size for size in known if size >= peak), peak) or 1.0
    unused = min(cluster.nodes, 10**5) - len(names)
    left = cluster.gpus - sum(room.values())
    for at in range(unused):
        room[f"unused {at + 1}"] = max(1.0, left / unused)
    return list(room), room


def _peaks(stays: Sequence[Stay]) -> dict[str, float]:
    """
    Give the most GPUs that ran at once on each node; who leaves makes room first.
    """
    begins = [(stay.low, 1, stay.node, stay.gpus) for stay in stays]
    ends = [(stay.high, 0, stay.node, -stay.gpus) for stay in stays]
    now: dict[str, float] = {}
    most: dict[str, float] = {}
    for _, _, node, gpus in sorted(begins + ends):
        now[node] = round(now.get(node, 0) + gpus, 4)
        most[node] = max(most.get(node, 0), now[node])
    return most


def windows_of(
    folder: Folder, stays: Sequence[Stay], wanted: Sequence[tuple[float, float]]
) -> list[StripWindow]:
    """
    Take what was asked for; else the whole, the day most waits, the day that differs.
    """
    ends = [stay.high for stay in stays if stay.high != float("inf")]
    last = max([stay.low for stay in stays] + ends) or 1.0
    for low, high in wanted:
        if low >= last:
            raise WrongUseError(
                f"the window from {_said(low, high)} begins after the replay, which "
                f"ends after {span(last)}"
            )
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
