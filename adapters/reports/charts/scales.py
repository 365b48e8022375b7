"""
The scales of drawings: axes, rows, colours, and the paper they are on.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from adapters.reports.charts.charts import Axis, ChartPart
from adapters.reports.charts.number_text import drawable
from adapters.reports.charts.palette import (
    EVERY,
    colour,
    dashes,
    shape,
)

_BY_ROLE = {each.role: each.light for each in EVERY}


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


def scale_of(axis: Axis, **more: Any) -> alt.Scale:  # noqa: ANN401 - options of Altair
    """
    Give the range of an axis.
    """
    if axis.low is not None and axis.high is not None:
        more["domain"] = [axis.low, axis.high]
        more["nice"] = False
    if axis.is_log:
        more["type"] = "log"
    return alt.Scale(**more)


def ruler_of(axis: Axis, paper: Paper, **more: Any) -> alt.Axis:  # noqa: ANN401 - as above
    """
    Make an axis; of many ticks a narrow one shows every second.
    """
    ticks = list(axis.ticks)
    if ticks:
        # Of ticks that are given a logarithmic axis would show as many as counted.
        more |= {"tickCount": alt.Undefined, "labelOverlap": False}
    if paper.is_narrow and len(ticks) > 5:
        ticks = ticks[::2]
    return alt.Axis(title=axis.title, **named_ticks(ticks), **more)


def named_ticks(ticks: Sequence[tuple[float, str]]) -> dict[str, Any]:
    """
    Put ticks where they are wanted, in the words they are wanted in.
    """
    if not ticks:
        return {}
    values = [value for value, _ in ticks]
    words = json.dumps([drawable(text) for _, text in ticks])
    place = f"indexof({json.dumps(values)}, datum.value)"
    return {"values": values, "labelExpr": f"{words}[{place}]"}


def x_of(axis: Axis, paper: Paper, field: str = "x:Q") -> alt.X:
    """
    Make a lying axis.
    """
    return alt.X(
        field,
        scale=scale_of(axis),
        axis=ruler_of(axis, paper, labelOverlap="greedy", tickCount=6),
        stack=None,
    )


def y_of(axis: Axis, paper: Paper, field: str = "y:Q") -> alt.Y:
    """
    Make an upright axis, its title lying on top, where it can be read.
    """
    ruler = ruler_of(
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
    return alt.Y(field, scale=scale_of(axis), axis=ruler, stack=None)


def rows_of(names: Sequence[str], paper: Paper) -> alt.Y:
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


def data_of(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """
    Give a chart its rows.
    """
    return alt.InlineData(values=list(rows))


def series_of(ranks: Iterable[int]) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
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


def parts_of(parts: Sequence[ChartPart]) -> alt.Color:
    """
    Colour the parts of a whole by their roles.
    """
    return alt.Color(
        "part:N",
        scale=alt.Scale(
            domain=[part.name for part in parts],
            range=[_BY_ROLE[part.role] for part in parts],
        ),
        legend=None,
    )
