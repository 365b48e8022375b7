"""
Draw charts with Altair, in the light colours of the palette.
"""

from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from adapters.reports.charts.charts import (
    Areas,
    Bars,
    Chart,
    ChartPart,
    Lines,
    Pairs,
    Points,
    Spans,
    Strip,
)
from adapters.reports.charts.number_text import drawable
from adapters.reports.charts.palette import (
    CARD,
    FAINT,
    GRID,
    INK,
    LINE,
)
from adapters.reports.charts.scales import (
    Paper,
    data_of,
    named_ticks,
    parts_of,
    rows_of,
    series_of,
    x_of,
    y_of,
)

FONT = "Liberation Sans"
"""
The font drawings are measured in; Arial and Helvetica are as wide.
"""

Layers = alt.Chart | alt.LayerChart


def specification(chart: Chart, paper: Paper) -> dict[str, Any]:
    """
    Describe a chart as Vega-Lite, of the paper's width with all its labels.
    """
    # Our charts are checked against Vega-Lite's schema in tests; here it takes longer
    # than the drawing.
    with debug_mode(False):  # noqa: FBT003 - Altair's own
        layers, height = _drawn(chart, paper)
        sized = layers.properties(
            width=paper.width,
            height=height,
            background="transparent",
            padding=4,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
        spec: dict[str, Any] = sized.configure(**_config()).to_dict()
    return spec


def _drawn(chart: Chart, paper: Paper) -> tuple[Layers, int]:  # noqa: PLR0911 - kinds
    """
    Give the layers of a chart, and its height.
    """
    match chart:
        case Bars():
            return _bars(chart, paper)
        case Spans():
            return _spans(chart, paper)
        case Pairs():
            return _pairs(chart, paper)
        case Areas():
            return _areas(chart, paper)
        case Lines():
            return _lines(chart, paper)
        case Points():
            return _points(chart, paper)
        case Strip():
            return _strip(chart, paper)


def _config() -> dict[str, Any]:
    ink, faint = INK.light, FAINT.light
    axis = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": ink,
        "titleColor": faint,
        "gridColor": GRID.light,
        "domainColor": LINE.light,
        "tickColor": LINE.light,
        "titlePadding": 8,
        "labelPadding": 5,
    }
    return {
        "font": FONT,
        "aria": False,
        "axis": axis,
        "view": alt.ViewConfig(stroke=None),
    }


# --- one function for each chart -------------------------------------------------


def _bars(chart: Bars, paper: Paper) -> tuple[Layers, int]:
    """
    Stack the parts here, in their order: Vega would order them by name.
    """
    rows: list[dict[str, Any]] = []
    for row in chart.rows:
        start = 0.0
        for part in chart.parts:
            value = sum(
                piece.value
                for piece in chart.pieces
                if piece.at == row and piece.part == part.name
            )
            if value:
                end = start + value
                rows.append(
                    {"row": drawable(row), "part": part.name, "x": start, "x2": end}
                )
                start = end
    base = alt.Chart(data_of(rows)).encode(
        y=rows_of(chart.rows, paper), x=x_of(chart.axis, paper), x2="x2:Q"
    )
    bars = base.mark_bar(stroke=CARD.light, strokeWidth=1).encode(
        color=parts_of(chart.parts)
    )
    return bars, max(1, len(chart.rows)) * 28


def _spans(chart: Spans, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = series_of(chart.ranks)
    rows = [
        {
            "row": drawable(s.at),
            "rank": s.rank,
            "x": s.low,
            "mid": s.middle,
            "x2": s.high,
        }
        for s in chart.spans
    ]
    base = alt.Chart(data_of(rows)).encode(
        y=rows_of(chart.rows, paper),
        yOffset=alt.YOffset(
            "rank:N",
            sort=list(chart.ranks),
            scale=alt.Scale(paddingInner=0.2, paddingOuter=0.4),
        ),
        color=tint,
    )
    across = x_of(chart.axis, paper)
    line = base.mark_rule(strokeWidth=2).encode(x=across, x2="x2:Q")
    dot = base.mark_point(filled=True, size=64, opacity=1).encode(x=across, shape=form)
    middle = base.mark_tick(thickness=2, size=9).encode(
        x=x_of(chart.axis, paper, "mid:Q")
    )
    end = base.mark_tick(thickness=2, size=15).encode(x=x_of(chart.axis, paper, "x2:Q"))
    each = 16 * max(1, len(set(chart.ranks))) + 12
    return alt.LayerChart(layer=[line, middle, end, dot]), len(chart.rows) * each


def _pairs(chart: Pairs, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = series_of(rank for _, rank, _ in chart.points)
    rows = [
        {"row": drawable(row), "rank": rank, "x": x} for row, rank, x in chart.points
    ]
    ends = []
    for row in chart.rows:
        found = [x for at, _, x in chart.points if at == row]
        if found:
            ends.append({"row": drawable(row), "x": min(found), "x2": max(found)})
    across = x_of(chart.axis, paper)
    line = (
        alt.Chart(data_of(ends))
        .mark_rule(strokeWidth=2, stroke=LINE.light)
        .encode(y=rows_of(chart.rows, paper), x=across, x2="x2:Q")
    )
    dots = (
        alt.Chart(data_of(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(y=rows_of(chart.rows, paper), x=across, color=tint, shape=form)
    )
    return alt.LayerChart(layer=[line, dots]), max(1, len(chart.rows)) * 26


def _areas(chart: Areas, paper: Paper) -> tuple[Layers, int]:
    rows = []
    for at, moment in enumerate(chart.moments):
        low = 0.0
        for part, shares in zip(chart.parts, chart.shares, strict=True):
            high = low + shares[at]
            rows.append({"x": moment, "part": part.name, "y": low, "y2": high})
            low = high
    areas = (
        alt.Chart(data_of(rows))
        .mark_area(interpolate="step-after", clip=True)
        .encode(
            x=x_of(chart.time, paper),
            y=y_of(chart.axis, paper),
            y2="y2:Q",
            color=parts_of(chart.parts),
        )
    )
    return areas, 150 if paper.is_narrow else 190


def _lines(chart: Lines, paper: Paper) -> tuple[Layers, int]:
    tint, _, dash = series_of(rank for rank, _ in chart.series)
    rows = [
        {"x": moment, "rank": rank, "y": value}
        for rank, values in chart.series
        for moment, value in zip(chart.moments, values, strict=True)
    ]
    lines = (
        alt.Chart(data_of(rows))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(
            x=x_of(chart.time, paper),
            y=y_of(chart.axis, paper),
            color=tint,
            strokeDash=dash,
        )
    )
    return lines, 190 if paper.is_narrow else 230


def _points(chart: Points, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = series_of(rank for _, _, rank in chart.points)
    rows = [{"x": x, "y": y, "rank": rank} for x, y, rank in chart.points]
    dots = (
        alt.Chart(data_of(rows))
        .mark_point(filled=True, size=44, opacity=0.75)
        .encode(
            x=x_of(chart.across, paper), y=y_of(chart.up, paper), color=tint, shape=form
        )
    )
    return dots, 240 if paper.is_narrow else 300


def _strip(chart: Strip, paper: Paper) -> tuple[Layers, int]:
    """
    Draw one colour after the other, so that each becomes one path.
    """
    thin = 7 if len(chart.rows) > 24 else 12
    every = 1 if thin == 12 else 2
    runs = sorted(chart.runs, key=lambda run: (run[3], run[2], run[0]))
    rows = [
        {"x": start, "x2": end, "y": row, "y2": row + 0.86, "part": role}
        for start, end, row, role in runs
    ]
    roles = sorted({run[3] for run in runs})
    ticks = [(row + 0.43, name) for row, name in enumerate(chart.rows)][::every]
    ruler = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        grid=False,
        labelLimit=90 if paper.is_narrow else 200,
        labelFontSize=10,
        **named_ticks(ticks),
    )
    rects = (
        alt.Chart(data_of(rows))
        .mark_rect(clip=True)
        .encode(
            x=x_of(chart.time, paper),
            x2="x2:Q",
            y=alt.Y(
                "y:Q",
                axis=ruler,
                scale=alt.Scale(
                    domain=[0, len(chart.rows)], reverse=True, nice=False, zero=False
                ),
            ),
            y2="y2:Q",
            color=parts_of([ChartPart(role, role) for role in roles]),
        )
    )
    return rects, max(1, len(chart.rows)) * thin
