"""
Readings: what a chart shows at a moment, for who points at it or looks closer.

A page without scripts does not need them: its tables say what it shows.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.reports.charts.charts import Areas, Axis, Chart, Lines, Spans, Strip
from adapters.reports.charts.palette import EVERY
from adapters.reports.page.page import Figure, Page
from adapters.reports.page.plain_values import DIGITS, kept

_COLOURS = {each.role: each.light for each in EVERY}
Boxes = Mapping[tuple[str, int], Sequence[list[float] | None]]
"""
Where the plot of a figure's panel is, on wide and on narrow paper.
"""


def readings_of(page: Page, boxes: Boxes) -> str:
    """
    Pack what can be read of all charts, as text that a page can hold; or nothing.
    """
    found = {
        block.name: panels
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Figure) and (panels := list(_panels(block, boxes)))
    }
    if not found:
        return ""
    text = json.dumps(found, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _panels(figure: Figure, boxes: Boxes) -> Iterator[dict[str, Any]]:
    """
    Give each panel of a figure, or none where one of them cannot be read.
    """
    found = [_reading(figure, panel.chart) for panel in figure.panels]
    places = [boxes[figure.name, at] for at in range(len(found))]
    if not all(found) or not all(all(place) for place in places):
        return
    for panel, reading, place in zip(figure.panels, found, places, strict=True):
        if reading is not None:
            yield {"title": panel.title, "boxes": place, **reading}


def _reading(figure: Figure, chart: Chart) -> dict[str, Any] | None:
    match chart:
        case Areas():
            return _areas(chart.detail or chart)
        case Lines():
            return _lines(chart.detail or chart, figure)
        case Strip() if chart.levels:
            return _strip(chart, figure)
        case Spans() if all(span.text for span in chart.spans):
            return _spans(chart, figure)
        case _:
            return None


def _time(time: Axis) -> dict[str, Any]:
    return {"low": time.low, "high": time.high, "unit": time.title.split(", ")[-1]}


def _areas(chart: Areas) -> dict[str, Any]:
    return {
        "kind": "areas",
        **_time(chart.time),
        "moments": _short(chart.moments),
        "names": [part.name for part in chart.parts],
        "colours": [_COLOURS[part.role] for part in chart.parts],
        "values": [_short(values, 4) for values in chart.shares],
        "up": [chart.axis.low, chart.axis.high, chart.axis.title],
    }


def _lines(chart: Lines, figure: Figure) -> dict[str, Any]:
    return {
        "kind": "lines",
        **_time(chart.time),
        "moments": _short(chart.moments),
        "names": [key.label for key in figure.keys],
        "colours": [_COLOURS[key.role] for key in figure.keys],
        "dashes": [key.dash for key in figure.keys],
        "values": [_short(values, 4) for _, values in chart.series],
        "up": [chart.axis.low, chart.axis.high, chart.axis.title],
    }


def _strip(chart: Strip, figure: Figure) -> dict[str, Any]:
    return {
        "kind": "strip",
        **_time(chart.time),
        "steps": len(chart.levels[0]),
        "rows": list(chart.rows),
        "levels": list(chart.levels),
        "names": [key.label for key in figure.keys],
        "colours": [_COLOURS[key.role] for key in figure.keys],
    }


def _spans(chart: Spans, figure: Figure) -> dict[str, Any]:
    order = dict(zip(chart.ranks, (key.label for key in figure.keys), strict=False))
    return {
        "kind": "rows",
        "rows": list(chart.rows),
        "texts": [
            [f"{order[s.rank]}: {s.text}" for s in chart.spans if s.at == row]
            for row in chart.rows
        ],
    }


def _short(values: Sequence[float | None], digits: int = DIGITS) -> list[float | None]:
    return [kept(value, digits) for value in values]
