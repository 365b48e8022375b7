"""
Two charts of a real report: a made-up trace is played, and its page is cut from.
"""

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from adapters.reports.charts.palette import EVERY, FAINT
from tools.pictures.drawing import Drawing, Scheme, width_of

ROOT = Path(__file__).parents[2]
CLUSTER, JOBS, SEED = "10x8", 220, 4
SHAPES = (
    *((1, 1), (1, 2), (1, 4), (1, 8), (2, 8)),
    *((4, 8), (3, 3), (2, 5), (8, 8), (2, 6)),
)
"""
Pods of a job, and the GPUs of each.
"""
WIDTH = 968
FIGURES = (
    ("use", "What the GPUs do over time, solver", 259),
    ("queue", "What waits over time", 299),
)
_LEGEND = re.compile(r"<li><svg[^>]*>(.*?)</svg> ([^<]+)</li>", re.DOTALL)
_ROLE = re.compile(r'class="(fill|stroke)-(\w+)"')


def draw(scheme: Scheme) -> str:
    """
    Draw both charts, one above the other.
    """
    top = 14
    height = top + sum(high + 62 for *_, high in FIGURES)
    drawing = Drawing(
        WIDTH, height, scheme, "Two charts of a report: use of the GPUs, what waits."
    )
    page = written()
    for key, label, high in FIGURES:
        figure = page.partition(f'<figure id="{key}"')[2].partition("</figure>")[0]
        drawing.text((14, top + 18), label.replace(", solver", ": solver"), bold=True)
        x = 14.0
        for mark, name in _LEGEND.findall(figure):
            drawing.raw(
                f'<g transform="translate({x:g},{top + 28})">'
                f"{_coloured(mark, drawing)}</g>"
            )
            drawing.text((x + 28, top + 38), name, size=12, colour=FAINT)
            x += 28 + width_of(name, 12) + 8
        chart = figure.partition(f'aria-label="{label}"')[2]
        inner = re.search(r"<svg[^>]*>(.*?)</svg>", chart, re.DOTALL)
        if inner is None:
            raise ValueError(f"the page has no chart {label!r}")
        drawing.raw(
            f'<g transform="translate(14,{top + 50})" font-size="11">'
            f"{_coloured(inner[1], drawing)}</g>"
        )
        top += high + 62
    return drawing.finished()


def _coloured(svg: str, drawing: Drawing) -> str:
    """
    Give every colour of a drawing as it is in a scheme.
    """
    roles = {each.role: each for each in EVERY}
    svg = _ROLE.sub(lambda it: f'{it[1]}="{roles[it[2]].light}"', svg)
    known = {each.light: drawing.of(each) for each in EVERY}
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda it: known.get(it[0], it[0]), svg)
    return svg.replace(' data-k=""', "")


def trace() -> Iterator[str]:
    """
    Make up a trace of jobs.
    """
    chance = random.Random(SEED)  # noqa: S311 - a picture, not a secret
    yield "job,submit,duration,gpus,pods,queue"
    time = 0
    for number in range(JOBS):
        time += int(chance.expovariate(1 / 900))
        pods, gpus = chance.choice(SHAPES)
        long = int(min(chance.lognormvariate(8.2, 1.0), 40_000))
        yield f"j{number},{time},{long},{gpus},{pods},{chance.choice(['red', 'blue'])}"


@cache
def written() -> str:
    """
    Play the trace and write its report.
    """
    with tempfile.TemporaryDirectory(prefix="phalanx-picture-") as name:
        folder = Path(name)
        (folder / "jobs.csv").write_text("\n".join(trace()) + "\n", encoding="utf-8")
        replay = ["replay", "jobs.csv", "--cluster", CLUSTER, "--workers", "1"]
        replay += ["--strategy", "solver", "--strategy", "greedy", "-O", "out"]
        for words in (replay, ["report", "out", "--html", "page.html"]):
            command = [sys.executable, "-m", "adapters.cli.main", *words]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return (folder / "page.html").read_text(encoding="utf-8")
