"""
The nodes of the demo: before, after greedy, after the solver; from real plans.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from adapters.files import read_scenario
from adapters.reports.charts.palette import (
    FAINT,
    GOOD,
    INK,
    LINE,
    SERIES,
    UNWANTED,
    Colour,
)
from models.gangs import pod_sets
from models.plan import Plan
from models.snapshot import Snapshot
from solver.round import decide
from tools.pictures.drawing import Drawing, Scheme, width_of

DEMO = "scenarios/demo/fragmented.yaml"
GPU = "nvidia.com/gpu"
CELL, ROW, LABEL, PANEL, LEFT, TOP = 24, 25, 56, 276, 14, 64
RACK = 12
LEAF = Colour("leaf", "#4d7c0f", "#a9d65c")
Pod = tuple[str, str, int]
"""
A pod on a node: its gang, its name, its GPUs.
"""


def draw(scheme: Scheme) -> str:
    """
    Draw the three.
    """
    snapshot, plans = planned()
    drawing = Drawing(
        LEFT + 3 * PANEL - 14,
        TOP + 9 * ROW + RACK + 84,
        scheme,
        "Nine nodes of the demo: greedy starts 4 gangs on 24 GPUs, the solver 6 on 58.",
    )
    free = sum(n.allocatable[GPU] for n in snapshot.nodes) - sum(
        gpus for pods in running(snapshot).values() for _, _, gpus in pods
    )
    waiting = sum(1 for gang in snapshot.gangs if not _runs(gang.key, snapshot))
    heads = ["Before", "One gang after the other", "All gangs at once"]
    said = [f"{waiting} gangs wait, {free} GPUs are free"]
    for plan in plans:
        starts = {step.gang for step in plan.operations}
        used = sum(gpus for _, _, gpus in _bound(snapshot, plan))
        said.append(f"{len(starts)} gangs start on {used} of {free} GPUs")
    for index, (head, words) in enumerate(zip(heads, said, strict=True)):
        left = LEFT + index * PANEL
        drawing.text((left, 24), head, size=16, bold=True)
        colour = GOOD if index == 2 else FAINT
        drawing.text((left, 45), words, colour=colour, bold=index == 2)
        shown = plans[index - 1] if index else None
        _nodes(drawing, left, snapshot, shown)
        _waits(drawing, left, shown)
    return drawing.finished()


@cache
def planned() -> tuple[Snapshot, tuple[Plan, Plan]]:
    """
    Plan the demo by greedy and by the solver.
    """
    scenario = read_scenario(str(Path(__file__).parents[2] / DEMO))
    asked = scenario.snapshot, scenario.policy
    return scenario.snapshot, (
        decide(*asked, strategy="greedy"),
        decide(*asked, strategy="solver"),
    )


def running(snapshot: Snapshot) -> dict[str, list[Pod]]:
    """
    List what runs on each node.
    """
    found: dict[str, list[Pod]] = {}
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                if pod.node:
                    one = (gang.key, pod.name, leaf.requests[GPU])
                    found.setdefault(pod.node, []).append(one)
    return found


def _runs(key: str, snapshot: Snapshot) -> bool:
    return any(key == gang for pods in running(snapshot).values() for gang, *_ in pods)


def _bound(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[str, str, int]]:
    gpus = {
        f"{gang.namespace}/{pod.name}": leaf.requests[GPU]
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }
    for step in plan.operations:
        yield step.node, step.gang, gpus[step.pod]


def _colours(snapshot: Snapshot) -> dict[str, Colour]:
    """
    Give every gang that starts in either plan a colour, the largest first.
    """
    every = (*SERIES[:1], *SERIES[2:5], SERIES[1], SERIES[5], LEAF)
    size: Counter[str] = Counter()
    for plan in planned()[1]:
        for _, gang, gpus in _bound(snapshot, plan):
            size[gang] += gpus
    order = sorted(size, key=lambda gang: (-size[gang], gang))
    return dict(zip(order, every, strict=True))


def _nodes(drawing: Drawing, left: int, snapshot: Snapshot, plan: Plan | None) -> None:
    runs = running(snapshot)
    colours = _colours(snapshot)
    starts: dict[str, list[tuple[str, int]]] = {}
    for name, gang, gpus in _bound(snapshot, plan) if plan else ():
        starts.setdefault(name, []).append((gang, gpus))
    order = sorted(snapshot.nodes, key=lambda n: (n.labels["rack"], n.name))
    for index, node in enumerate(order):
        y = TOP + index * ROW + (RACK if node.labels["rack"] != "r1" else 0)
        drawing.text((left, y + 15), node.name, size=11, colour=FAINT)
        x = left + LABEL
        for number in range(node.allocatable[GPU]):
            place = (x + number * CELL + 1, y + 1, CELL - 2, ROW - 5)
            drawing.box(place, fill=None, stroke=LINE, round_by=3)
        for gang, _, gpus in runs.get(node.name, []):
            _pod(drawing, (x, y), gang, gpus, UNWANTED)
            x += gpus * CELL
        for gang, gpus in sorted(starts.get(node.name, []), key=lambda one: -one[1]):
            _pod(drawing, (x, y), gang, gpus, colours[gang])
            x += gpus * CELL


def _pod(
    drawing: Drawing, at: tuple[float, float], gang: str, gpus: int, colour: Colour
) -> None:
    x, y = at
    name = gang.partition("/")[2]
    room = gpus * CELL - 6
    words = name if width_of(name, 10) <= room else name.partition("-")[0]
    runs = colour is UNWANTED
    drawing.box(
        (x + 1, y + 1, gpus * CELL - 2, ROW - 5),
        fill=colour,
        stroke=colour,
        round_by=3,
    )
    ink = INK if runs else Colour("on", "#ffffff", "#11151a")
    middle = (x + gpus * CELL / 2, y + 14.5)
    drawing.text(middle, words, size=10, colour=ink, anchor="middle", bold=not runs)


def _waits(drawing: Drawing, left: int, plan: Plan | None) -> None:
    y = TOP + 9 * ROW + RACK + 16
    if plan is None:
        for index, (words, fill) in enumerate(
            (("runs, and stays", UNWANTED), ("free", None))
        ):
            place = (left + LABEL + 1, y - 10 + index * 19, 14, 12)
            drawing.box(place, fill=fill, stroke=fill or LINE, round_by=3)
            at = (left + LABEL + 21, y + index * 19)
            drawing.text(at, words, size=11.5, colour=FAINT)
        return
    names = [line.name.partition("/")[2] for line in plan.gangs if line.waiting]
    drawing.text((left + LABEL, y), f"{len(names)} wait:", size=11.5, bold=True)
    drawing.lines((left + LABEL, y + 17), names, size=11.5)
