"""
What a page shows, as plain values: its tables, and what its charts draw over time.

Much of it is computed from tables beside ``results.json``, and stands nowhere else.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from adapters.reports.charts.charts import Areas, Lines
from adapters.reports.page.page import Figure, Grid, Page, Panel

DIGITS = 6
"""
How many digits of a number are kept.
"""


def shown(page: Page) -> dict[str, Any]:
    """
    Give all numbers of a page that stand in tables, and those drawn over time.
    """
    blocks = [block for section in page.sections for block in section.blocks]
    figures = [block for block in blocks if isinstance(block, Figure)]
    grids = [block for block in blocks if isinstance(block, Grid)]
    grids += [figure.numbers for figure in figures if figure.numbers is not None]
    return {
        "tables": [_table(grid) for grid in grids],
        "overTime": [
            drawn
            for figure in figures
            for panel in figure.panels
            for drawn in _over_time(figure, panel)
        ],
    }


def _table(grid: Grid) -> dict[str, Any]:
    """
    Write numbers as numbers, in the unit they were measured in; the rest as texts.
    """
    return {
        "caption": grid.caption,
        "columns": [column.name for column in grid.columns],
        "rows": [
            [cell.text if cell.key is None else kept(cell.key) for cell in row]
            for row in grid.rows
        ],
    }


def _over_time(figure: Figure, panel: Panel) -> Iterator[dict[str, Any]]:
    """
    Write areas by their parts, and lines by the words of the legend.
    """
    chart = panel.chart
    named: Iterator[tuple[str, Sequence[float | None]]]
    match chart:
        case Areas():
            named = zip((part.name for part in chart.parts), chart.shares, strict=True)
        case Lines():
            series = (values for _, values in chart.series)
            named = zip((key.label for key in figure.keys), series, strict=True)
        case _:
            return
    yield {
        "figure": figure.caption,
        "panel": panel.title,
        "time": chart.time.title,
        "unit": chart.axis.title,
        "moments": [kept(moment) for moment in chart.moments],
        "values": {name: [kept(value) for value in values] for name, values in named},
    }


def kept(value: float | None, digits: int = DIGITS) -> float | None:
    """
    Leave out digits that nobody sees, and what JSON cannot hold.
    """
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
