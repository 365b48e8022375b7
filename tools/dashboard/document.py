"""
The dashboard as Grafana imports it.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from tools.chart.source import OVERLAYS
from tools.dashboard.panels import ROWS, Panel

PATH = OVERLAYS / "monitoring" / "dashboard.json"
COLUMNS = 24
SCHEMA = 39
"""
The version of Grafana's dashboard model: that of Grafana 10.4, which later ones read.
"""
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_CHOSEN = 'job="$job"'
_SELECTOR = re.compile(r"\{([^}]*)\}")


def text() -> str:
    """
    Write the dashboard.
    """
    return json.dumps(dashboard(), indent=2, ensure_ascii=False) + "\n"


def dashboard() -> dict[str, Any]:
    """
    Make the dashboard, its panels laid out from left to right.
    """
    return {
        "title": "Phalanx",
        "uid": "phalanx",
        "description": "The gang scheduler: what runs, what waits and why.",
        "tags": ["phalanx", "scheduling"],
        "editable": True,
        "graphTooltip": 1,
        "schemaVersion": SCHEMA,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": _variables()},
        "panels": list(_panels()),
    }


def _variables() -> list[dict[str, Any]]:
    asked = "label_values(phalanx_build_info, job)"
    return [
        {
            "name": "source",
            "label": "Prometheus",
            "type": "datasource",
            "query": "prometheus",
        },
        {
            "name": "job",
            "label": "Scheduler",
            "type": "query",
            "datasource": _SOURCE,
            "query": {"query": asked, "refId": "job"},
            "refresh": 2,
            "sort": 1,
        },
    ]


def _panels() -> Iterator[dict[str, Any]]:
    numbers, top = count(1), 0
    for row in ROWS:
        yield {
            "id": next(numbers),
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1},
        }
        top, left = top + 1, 0
        for panel in row.panels:
            width = panel.width or row.width
            if left + width > COLUMNS:
                top, left = top + row.height, 0
            place = {"x": left, "y": top, "w": width, "h": row.height}
            yield {"id": next(numbers), "gridPos": place, **_panel(panel)}
            left += width
        top += row.height


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": chosen(query.expr),
                "legendFormat": query.legend,
                "instant": panel.kind == "stat",
                "range": panel.kind != "stat",
            }
            for index, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _field(panel), "overrides": []},
        "options": _stat(panel) if panel.kind == "stat" else _lines(),
    }


def chosen(expr: str) -> str:
    """
    Ask for the metrics of the scheduler that was chosen, and no other's.
    """
    return _SELECTOR.sub(
        lambda found: f"{{{', '.join(filter(None, (found[1], _CHOSEN)))}}}", expr
    )


def _field(panel: Panel) -> dict[str, Any]:
    said: dict[str, Any] = {"unit": panel.unit, "min": 0}
    if panel.kind == "timeseries":
        said["custom"] = {
            "drawStyle": "line",
            "lineWidth": 1,
            "fillOpacity": 30 if panel.stacked else 10,
            "showPoints": "never",
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        }
    if panel.steps:
        said["thresholds"] = {
            "mode": "absolute",
            "steps": [
                {"color": colour, "value": value if index else None}
                for index, (value, colour) in enumerate(panel.steps)
            ],
        }
    if panel.words:
        options = {value: {"text": word} for value, word in panel.words.items()}
        said["mappings"] = [{"type": "value", "options": options}]
    return said


def _stat(panel: Panel) -> dict[str, Any]:
    return {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "background" if panel.steps else "value",
        "graphMode": "none",
        "textMode": "name" if panel.names else "auto",
    }


def _lines() -> dict[str, Any]:
    return {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
