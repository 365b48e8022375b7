"""
Readings: what charts say at a moment is what they draw, and fits in a page.
"""

import base64
import json
import zlib

import pytest

pytest.importorskip("altair", reason="needs the extra report")

from adapters.reports.charts.charts import Strip
from adapters.reports.page import html
from adapters.reports.page.html import as_html
from adapters.reports.page.page import Figure
from adapters.reports.page.readings import readings_of
from adapters.reports.replay.replay_page import replay_page
from adapters.reports.replay.results import load
from tests.helpers.replays import write_replay

BOX = [[30.0, 5.0, 900.0, 200.0, 940.0], [30.0, 5.0, 340.0, 150.0, 380.0]]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """
    Make a page of twenty days, more than is drawn hour by hour.
    """
    folder = tmp_path_factory.mktemp("replay") / "out"
    return replay_page(load(str(write_replay(folder, days=20, num_jobs=400))))


def figures(page):
    blocks = (block for section in page.sections for block in section.blocks)
    return {block.name: block for block in blocks if isinstance(block, Figure)}


def boxes(page, box=BOX):
    return {
        (name, at): box
        for name, figure in figures(page).items()
        for at in range(len(figure.panels))
    }


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_every_chart_of_a_replay_can_be_read(page):
    found = unpacked(readings_of(page, boxes(page)))

    assert set(figures(page)) == set(found)
    for name, figure in figures(page).items():
        assert len(figure.panels) == len(found[name])


def test_readings_have_more_moments_than_are_drawn_and_the_same_mean(page):
    chart = figures(page)["use"].panels[0].chart
    found = unpacked(readings_of(page, boxes(page)))["use"][0]
    drawn, read = chart.shares[0][:-1], found["values"][0][:-1]

    assert len(found["moments"]) > 2 * len(chart.moments) - 2
    assert pytest.approx(sum(drawn) / len(drawn), abs=1) == sum(read) / len(read)
    assert (found["low"], found["high"]) == (chart.time.low, chart.time.high)


def test_levels_of_nodes_are_those_that_are_drawn(page):
    panels = figures(page)["nodes"].panels
    chart = next(p.chart for p in panels if len(p.chart.levels[0]) == 112)
    width = (chart.time.high - chart.time.low) / 112
    cells = {
        (row, at): role
        for low, high, row, role in chart.runs
        for at in range(round(low / width), round(high / width))
    }

    assert isinstance(chart, Strip)
    assert cells == {
        (row, at): f"h{digit}"
        for row, digits in enumerate(chart.levels)
        for at, digit in enumerate(digits)
    }


def test_a_figure_whose_plot_is_nowhere_is_not_read(page):
    places = boxes(page)
    places["use", 0] = [None, None]

    found = unpacked(readings_of(page, places))
    assert set(figures(page)) - {"use"} == set(found)
    assert "" == readings_of(page, boxes(page, [None, None]))


def test_a_page_that_is_too_large_lets_results_go_before_readings(page, monkeypatch):
    drawings = {
        (figure.name, at): html._drawings(figure, at)
        for figure in figures(page).values()
        for at in range(len(figure.panels))
    }
    monkeypatch.setattr(html, "_drawings", lambda what, at: drawings[what.name, at])
    whole = as_html(page)
    marks = ('id="results"', 'id="readings"')
    held = {}
    for size in (len(whole), len(whole) - 1, 1000):
        monkeypatch.setattr(html, "LARGEST", size)
        text = as_html(page)
        held[size] = tuple(mark in text for mark in marks)

    assert [(True, True), (False, True), (False, False)] == list(held.values())


def test_the_same_page_gives_the_same_readings(page):
    assert readings_of(page, boxes(page)) == readings_of(page, boxes(page))
