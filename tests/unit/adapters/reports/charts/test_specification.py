"""
Drawings: every kind of chart, on wide and on narrow paper.
"""

import re
from contextlib import nullcontext

import pytest

from adapters.reports.charts import specification as draw
from adapters.reports.charts.charts import (
    Areas,
    Axis,
    Bars,
    ChartPart,
    ChartPiece,
    Lines,
    Pairs,
    Points,
    Span,
    Spans,
    Strip,
)
from adapters.reports.charts.palette import (
    CARD,
    EVERY,
    GRID,
    SERIES,
    colour,
    dashes,
    ranks,
    shape,
)
from adapters.reports.charts.scales import NARROW, WIDE
from adapters.reports.charts.specification import specification
from adapters.reports.charts.svg import drawn

HOSTILE = "</svg><script>alert('x')</script>\"'\\ ümlaut 日本 😀 ]]>"
TIME = Axis(title="hours", low=0, high=3)
SHARE = Axis(title="%", low=0, high=100)
LOG = Axis(
    title="wait", ticks=[(1, "≤ 1 s"), (60, HOSTILE)], low=1, high=60, is_log=True
)
CHARTS = {
    "bars": Bars(
        rows=[HOSTILE, "b"],
        parts=[ChartPart("one", "s0"), ChartPart("two", "s1")],
        pieces=[ChartPiece(HOSTILE, "one", 3), ChartPiece("b", "two", 4)],
        axis=Axis(title="cases", low=0, high=4),
    ),
    "spans": Spans(
        rows=[HOSTILE],
        ranks=[1, 0],
        spans=[Span(HOSTILE, 0, 1, 5, 60), Span(HOSTILE, 1, 2, 9, 50)],
        axis=LOG,
    ),
    "pairs": Pairs(
        rows=[HOSTILE], points=[(HOSTILE, 0, 2), (HOSTILE, 1, 9)], axis=SHARE
    ),
    "areas": Areas(
        moments=[0, 1, 3],
        parts=[ChartPart("used", "used"), ChartPart(HOSTILE, "unwanted")],
        shares=[[20, 90, 90], [80, 10, 10]],
        time=TIME,
        axis=SHARE,
    ),
    "lines": Lines(
        moments=[0, 1, 3],
        series=[(0, [1, None, 3]), (1, [2, 2, 2])],
        time=TIME,
        axis=SHARE,
    ),
    "points": Points(points=[(1, 1, 0), (60, 9, 1)], across=LOG, up=LOG),
    "strip": Strip(
        rows=[HOSTILE, "n2"],
        runs=[(0, 1, 0, "h4"), (1, 3, 0, "h0"), (0, 3, 1, "h2")],
        time=TIME,
    ),
}
KNOWN = {each.light for each in EVERY} | {"none", "transparent"}


@pytest.mark.parametrize("paper", [WIDE, NARROW], ids=lambda paper: paper.name)
@pytest.mark.parametrize("kind", CHARTS)
def test_chart_is_drawn_in_colours_of_the_palette_only(kind, paper):
    svg = drawn(specification(CHARTS[kind], paper), "x")

    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
    assert set() == colours - KNOWN
    assert colours & {each.light for each in EVERY if each is not GRID}


@pytest.mark.parametrize("kind", CHARTS)
def test_chart_has_the_width_of_its_paper(kind):
    svg = drawn(specification(CHARTS[kind], WIDE), "x")

    _, _, width, height = re.search(r'viewBox="([^"]+)"', svg)[1].split()
    assert float(WIDE.width) == pytest.approx(float(width), abs=2)
    assert 40 < float(height) < 400


@pytest.mark.parametrize("kind", CHARTS)
def test_names_in_a_chart_stay_text(kind):
    svg = drawn(specification(CHARTS[kind], WIDE), "x")

    assert "<script" not in svg
    assert 1 == svg.count("</svg>")


@pytest.mark.parametrize("kind", CHARTS)
def test_chart_obeys_the_schema_of_vega_lite(kind, monkeypatch):
    quick = specification(CHARTS[kind], WIDE)
    # Altair checks every part against the schema unless it is told not to.
    monkeypatch.setattr(draw, "debug_mode", lambda _: nullcontext())

    assert quick == specification(CHARTS[kind], WIDE)


def test_same_chart_gives_the_same_bytes_whatever_was_drawn_before():
    first = [drawn(specification(chart, WIDE), "x") for chart in CHARTS.values()]
    later = [
        drawn(specification(chart, WIDE), "x") for chart in reversed(CHARTS.values())
    ]

    assert first == later[::-1]


def test_ids_of_a_drawing_begin_with_its_name():
    svg = drawn(specification(CHARTS["areas"], WIDE), "use-0-wide")

    ids = re.findall(r' id="([^"]+)"', svg)
    used = re.findall(r'clip-path="url\(#([^)]+)\)"', svg)
    assert {"use-0-wide-1", "use-0-wide-2"} == set(ids)
    assert set(used) <= set(ids)
    assert used


def test_equal_neighbours_become_one_path():
    runs = [(at, at + 1, at % 40, "h4") for at in range(400)]
    chart = Strip(
        rows=[f"n{at}" for at in range(40)],
        runs=runs,
        time=Axis(title="hours", low=0, high=400),
    )

    svg = drawn(specification(chart, WIDE), "x")

    assert 1 == svg.count(f'fill="{EVERY[-1].light}"')
    assert len(re.findall(r"<(?:path|line|text|rect|circle)\b", svg)) < 100
    assert 400 == svg.count("Z")


def test_narrow_paper_shows_every_second_of_many_ticks():
    ticks = [(10.0**at, f"tick{at}") for at in range(8)]
    axis = Axis(title="pods", ticks=ticks, low=1, high=10**7, is_log=True)
    chart = Points(points=[(1, 1, 0)], across=axis, up=SHARE)

    wide, narrow = (
        drawn(specification(chart, paper), "x").count(">tick")
        for paper in (WIDE, NARROW)
    )

    assert 8 == wide
    assert 4 == narrow


def _contrast(one, other):
    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_points_can_be_told_from_the_card(scheme):
    for each in SERIES:
        assert _contrast(getattr(each, scheme), getattr(CARD, scheme)) >= 3, each


def test_every_role_has_colours_of_its_own():
    for scheme in ("light", "dark"):
        assert len(EVERY) == len({getattr(each, scheme) for each in EVERY})


def test_strategy_keeps_its_colour_in_every_report():
    assert {"greedy": 1, "fifo": 3, "solver": 0} == ranks(["greedy", "fifo", "solver"])
    assert {"mine": 7, "solver": 0} == ranks(["mine", "solver"])


def test_many_strategies_differ_in_colour_or_shape_and_dashes():
    places = ranks([f"s{at}" for at in range(20)]).values()

    assert 20 == len({(colour(at).role, shape(at), *dashes(at)) for at in places})
