"""
Draw charts with Altair, in the light colours of the palette.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from adapters.reports.charts.charts import (
    Areas,
    Axis,
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
    EVERY,
    FAINT,
    GRID,
    INK,
    LINE,
    colour,
    dashes,
    shape,
)

FONT = "Liberation Sans"
"""
The font drawings are measured in; Arial and Helvetica are as wide.
"""
_BY_ROLE = {each.role: each.light for each in EVERY}

Layers = alt.Chart | alt.LayerChart


@dataclass(frozen=True, slots=True)
class Paper:
    """
    The room a drawing has, in units of its own.
    """

    name: str
    width: int

    @property
    def is_narrow(self) -> bool:
        """
        Tell whether labels must be few and short.
        """
        return self.width < 600


WIDE = Paper("wide", 940)
NARROW = Paper("narrow", 380)


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


# --- axes ----------------------------------------------------------------------


def _scale(axis: Axis, **more: Any) -> alt.Scale:  # noqa: ANN401 - options of Altair
    if axis.low is not None and axis.high is not None:
        more["domain"] = [axis.low, axis.high]
        more["nice"] = False
    if axis.is_log:
        more["type"] = "log"
    return alt.Scale(**more)


def _ruler(axis: Axis, paper: Paper, **more: Any) -> alt.Axis:  # noqa: ANN401 - as above
    """
    Make an axis; of many ticks a narrow one shows every second.
    """
    ticks = list(axis.ticks)
    if ticks:
        # Of ticks that are given a logarithmic axis would show as many as counted.
        more |= {"tickCount": alt.Undefined, "labelOverlap": False}
    if paper.is_narrow and len(ticks) > 5:
        ticks = ticks[::2]
    return alt.Axis(title=axis.title, **_named(ticks), **more)


def _named(ticks: Sequence[tuple[float, str]]) -> dict[str, Any]:
    """
    Put ticks where they are wanted, in the words they are wanted in.
    """
    if not ticks:
        return {}
    values = [value for value, _ in ticks]
    words = json.dumps([drawable(text) for _, text in ticks])
    place = f"indexof({json.dumps(values)}, datum.value)"
    return {"values": values, "labelExpr": f"{words}[{place}]"}


def _x(axis: Axis, paper: Paper, field: str = "x:Q") -> alt.X:
    return alt.X(
        field,
        scale=_scale(axis),
        axis=_ruler(axis, paper, labelOverlap="greedy", tickCount=6),
        stack=None,
    )


def _y(axis: Axis, paper: Paper, field: str = "y:Q") -> alt.Y:
    """
    Make an upright axis, its title lying on top, where it can be read.
    """
    ruler = _ruler(
        axis,
        paper,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleBaseline="bottom",
        titleY=-8,
        titleX=0,
        tickCount=5,
    )
    return alt.Y(field, scale=_scale(axis), axis=ruler, stack=None)


def _rows(names: Sequence[str], paper: Paper) -> alt.Y:
    """
    Name the rows of a chart, cut where they would leave no room.
    """
    order = [drawable(name) for name in names]
    return alt.Y(
        "row:N",
        sort=order,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(
            title=None,
            domain=False,
            ticks=False,
            labelPadding=9,
            labelLimit=120 if paper.is_narrow else 320,
        ),
    )


def _data(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=list(rows))


def _series(ranks: Iterable[int]) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """
    Give each series its colour, its shape and its dashes.
    """
    order = sorted(set(ranks))
    return (
        alt.Color(
            "rank:N",
            scale=alt.Scale(domain=order, range=[colour(at).light for at in order]),
            legend=None,
        ),
        alt.Shape(
            "rank:N",
            scale=alt.Scale(domain=order, range=[shape(at) for at in order]),
            legend=None,
        ),
        alt.StrokeDash(
            "rank:N",
            scale=alt.Scale(domain=order, range=[dashes(at) for at in order]),
            legend=None,
        ),
    )


def _parts(parts: Sequence[ChartPart]) -> alt.Color:
    return alt.Color(
        "part:N",
        scale=alt.Scale(
            domain=[part.name for part in parts],
            range=[_BY_ROLE[part.role] for part in parts],
        ),
        legend=None,
    )


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
    base = alt.Chart(_data(rows)).encode(
        y=_rows(chart.rows, paper), x=_x(chart.axis, paper), x2="x2:Q"
    )
    bars = base.mark_bar(stroke=CARD.light, strokeWidth=1).encode(
        color=_parts(chart.parts)
    )
    return bars, max(1, len(chart.rows)) * 28


def _spans(chart: Spans, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = _series(chart.ranks)
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
    base = alt.Chart(_data(rows)).encode(
        y=_rows(chart.rows, paper),
        yOffset=alt.YOffset(
            "rank:N",
            sort=list(chart.ranks),
            scale=alt.Scale(paddingInner=0.2, paddingOuter=0.4),
        ),
        color=tint,
    )
    across = _x(chart.axis, paper)
    line = base.mark_rule(strokeWidth=2).encode(x=across, x2="x2:Q")
    dot = base.mark_point(filled=True, size=64, opacity=1).encode(x=across, shape=form)
    middle = base.mark_tick(thickness=2, size=9).encode(
        x=_x(chart.axis, paper, "mid:Q")
    )
    end = base.mark_tick(thickness=2, size=15).encode(x=_x(chart.axis, paper, "x2:Q"))
    each = 16 * max(1, len(set(chart.ranks))) + 12
    return alt.LayerChart(layer=[line, middle, end, dot]), len(chart.rows) * each


def _pairs(chart: Pairs, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = _series(rank for _, rank, _ in chart.points)
    rows = [
        {"row": drawable(row), "rank": rank, "x": x} for row, rank, x in chart.points
    ]
    ends = []
    for row in chart.rows:
        found = [x for at, _, x in chart.points if at == row]
        if found:
            ends.append({"row": drawable(row), "x": min(found), "x2": max(found)})
    across = _x(chart.axis, paper)
    line = (
        alt.Chart(_data(ends))
        .mark_rule(strokeWidth=2, stroke=LINE.light)
        .encode(y=_rows(chart.rows, paper), x=across, x2="x2:Q")
    )
    dots = (
        alt.Chart(_data(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(y=_rows(chart.rows, paper), x=across, color=tint, shape=form)
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
        alt.Chart(_data(rows))
        .mark_area(interpolate="step-after", clip=True)
        .encode(
            x=_x(chart.time, paper),
            y=_y(chart.axis, paper),
            y2="y2:Q",
            color=_parts(chart.parts),
        )
    )
    return areas, 150 if paper.is_narrow else 190


def _lines(chart: Lines, paper: Paper) -> tuple[Layers, int]:
    tint, _, dash = _series(rank for rank, _ in chart.series)
    rows = [
        {"x": moment, "rank": rank, "y": value}
        for rank, values in chart.series
        for moment, value in zip(chart.moments, values, strict=True)
    ]
    lines = (
        alt.Chart(_data(rows))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(
            x=_x(chart.time, paper),
            y=_y(chart.axis, paper),
            color=tint,
            strokeDash=dash,
        )
    )
    return lines, 190 if paper.is_narrow else 230


def _points(chart: Points, paper: Paper) -> tuple[Layers, int]:
    tint, form, _ = _series(rank for _, _, rank in chart.points)
    rows = [{"x": x, "y": y, "rank": rank} for x, y, rank in chart.points]
    dots = (
        alt.Chart(_data(rows))
        .mark_point(filled=True, size=44, opacity=0.75)
        .encode(
            x=_x(chart.across, paper), y=_y(chart.up, paper), color=tint, shape=form
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
        **_named(ticks),
    )
    rects = (
        alt.Chart(_data(rows))
        .mark_rect(clip=True)
        .encode(
            x=_x(chart.time, paper),
            x2="x2:Q",
            y=alt.Y(
                "y:Q",
                axis=ruler,
                scale=alt.Scale(
                    domain=[0, len(chart.rows)], reverse=True, nice=False, zero=False
                ),
            ),
            y2="y2:Q",
            color=_parts([ChartPart(role, role) for role in roles]),
        )
    )
    return rects, max(1, len(chart.rows)) * thin
