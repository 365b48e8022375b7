"""
What a page shows, as plain values that travel with it.
"""

import json

import pytest

from adapters.reports.charts.charts import Areas, Axis, ChartPart, Lines
from adapters.reports.page.page import (
    Cell,
    Column,
    Figure,
    Grid,
    Key,
    Page,
    Panel,
    Section,
)
from adapters.reports.page.plain_values import shown

TIME, SHARE = Axis(title="time, days"), Axis(title="% of all GPUs")


def page_with(*blocks):
    return Page(
        kind="replay",
        title="",
        lead=(),
        verdict="",
        certainty="",
        tiles=(),
        sections=[Section(name="a", heading="A", blocks=blocks)],
        document={},
    )


def grid(*cells):
    return Grid(caption="Waits", columns=[Column("x")] * len(cells), rows=[cells])


def figure(chart, keys=(), numbers=None):
    return Figure(
        name="use",
        caption="Use",
        reading="",
        panels=[Panel("solver", chart)],
        keys=keys,
        numbers=numbers,
    )


def test_number_stays_a_number_and_text_stays_text():
    tables = shown(page_with(grid(Cell("solver"), Cell("1m00s", 60.0))))["tables"]

    assert [
        {"caption": "Waits", "columns": ["x", "x"], "rows": [["solver", 60.0]]}
    ] == tables


def test_table_below_a_chart_is_shown_too():
    chart = Lines(moments=[], series=[], time=TIME, axis=SHARE)

    page = page_with(figure(chart, numbers=grid(Cell("a"))))

    assert [[["a"]]] == [table["rows"] for table in shown(page)["tables"]]


def test_areas_are_named_by_their_parts():
    chart = Areas(
        moments=[0, 1],
        parts=[ChartPart("used", "used"), ChartPart("idle", "unwanted")],
        shares=[[2 / 3, 1], [1 / 3, 0]],
        time=TIME,
        axis=SHARE,
    )

    assert [
        {
            "figure": "Use",
            "panel": "solver",
            "time": "time, days",
            "unit": "% of all GPUs",
            "moments": [0, 1],
            "values": {"used": [0.666667, 1], "idle": [0.333333, 0]},
        }
    ] == shown(page_with(figure(chart)))["overTime"]


def test_lines_are_named_by_the_legend():
    chart = Lines(moments=[0], series=[(1, [3]), (0, [None])], time=TIME, axis=SHARE)
    keys = [Key("greedy", "s1"), Key("solver", "s0")]

    drawn = shown(page_with(figure(chart, keys)))["overTime"]

    assert {"greedy": [3], "solver": [None]} == drawn[0]["values"]


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_json_cannot_hold_is_nothing(value):
    found = shown(page_with(grid(Cell("much", value))))

    assert [[None]] == found["tables"][0]["rows"]
    json.dumps(found, allow_nan=False)
