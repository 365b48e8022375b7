"""
Every made file of the chart; the rest of it is written by hand.
"""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from adapters.service.run_settings import ConfigFile
from tools.chart.source import (
    BASE,
    DEPLOY,
    OVERLAYS,
    ROOT,
    document,
    patches,
    remark,
    replicas,
    settings,
)
from tools.chart.templates import templates
from tools.chart.values import RECORDS, VALUES, Value, parts_of_settings

CHART = DEPLOY / "chart"
MADE = "# Made by `make chart`; written by hand are the templates without this line.\n"
ABOUT_PARTS = {
    "policy": (
        "What is wanted of a round; docs/reference/files.md lists every field. A field "
        "that is `null` is dropped by Helm, so the default of Phalanx holds: no bound "
        "at all, but for maxMoves, which is 16 then."
    ),
    "run": "All other settings: docs/running.md lists them, with their defaults.",
}
_SHARD = {"shard", "nodePool"}
"""
Settings of a shard that are values of their own, since names depend on them.
"""
_GIVEN = ("namespace", "kubeconfig", "context", "leaderElect", "listen", "folder")
"""
Settings that the Deployment decides: its probes, its volumes, and that it has replicas.
"""


def chart() -> dict[str, str]:
    """
    Make the files, by their path in the chart.
    """
    made = {
        "Chart.yaml": _about(),
        "values.yaml": _values(),
        "values.schema.json": _schema(),
        "dashboard.json": (OVERLAYS / "monitoring" / "dashboard.json").read_text(
            "utf-8"
        ),
        **templates(),
    }
    for folder in sorted(OVERLAYS.iterdir()):
        made[f"examples/{folder.name}.yaml"] = _example(folder.name)
    return made


def overlay_values(name: str) -> dict[str, Any]:
    """
    Give the values that say what an overlay changes.
    """
    folder, said = OVERLAYS / name, dict[str, Any]()
    if (count := replicas(folder)) is not None:
        said["replicas"] = count
    for path, value in patches(folder):
        _say(said, path.strip("/"), value)
    for part, usual in parts_of_settings().items():
        differs = {k: v for k, v in settings(folder)[part].items() if usual.get(k) != v}
        said |= {k: v for k, v in differs.items() if k in _SHARD}
        if rest := {k: v for k, v in differs.items() if k not in _SHARD}:
            said[part] = rest
    if name == "monitoring":
        said["monitoring"] = {"enabled": True}
    return said


def _say(said: dict[str, Any], path: str, value: object) -> None:
    if path.endswith("/args/-"):
        said["args"] = [*said.get("args", []), value]
        return
    if path == RECORDS:
        said["records"] = {"keep": True}
        return
    (name,) = (each.name for each in VALUES if each.at == path)
    said[name] = value


def _about() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    about = {
        "apiVersion": "v2",
        "name": project["name"],
        "description": project["description"],
        "type": "application",
        "version": project["version"],
        "appVersion": project["version"],
        "kubeVersion": ">=1.27.0-0",
        "keywords": project["keywords"],
        "annotations": {"licenses": project["license"]},
    }
    return MADE + yaml.safe_dump(about, sort_keys=False, default_flow_style=None)


def _values() -> str:
    top: dict[str, list[Value]] = {}
    for value in VALUES:
        top.setdefault(value.name.partition(".")[0], []).append(value)
    parts = [_part(name, group) for name, group in top.items()]
    for part, usual in parts_of_settings().items():
        about = _remark(ABOUT_PARTS[part])
        if part == "policy":
            about += _evictions()
        parts.append(about + _dumped({part: usual}))
    return MADE + "\n" + "\n".join(parts)


def _part(name: str, group: list[Value]) -> str:
    if "." not in group[0].name:
        (value,) = group
        return _remark(value.about) + _dumped({name: value.usual()})
    inner = (
        _remark(value.about) + _dumped({value.name.partition(".")[2]: value.usual()})
        for value in group
    )
    lines = "".join(inner).splitlines(keepends=True)
    return f"{name}:\n" + "".join(f"  {line}" for line in lines)


def _evictions() -> str:
    """
    Give what the file of settings says of its bounds.
    """
    lines = (BASE / "settings.yaml").read_text("utf-8").splitlines(keepends=True)
    return "".join(line.lstrip() for line in lines if line.startswith("  #"))


def _remark(text: str) -> str:
    lines, line = [], "#"
    for word in text.split():
        if len(line) + len(word) > 87:
            lines.append(line)
            line = "#"
        line += f" {word}"
    return "\n".join([*lines, line]) + "\n"


def _dumped(raw: Mapping[str, Any]) -> str:
    return "".join(
        yaml.safe_dump(
            {name: value},
            sort_keys=False,
            # What is short stands in braces, as in the base.
            default_flow_style=None if isinstance(value, dict | list) else False,
            width=1000,
        )
        for name, value in raw.items()
    )


def _example(name: str) -> str:
    path = OVERLAYS / name / "kustomization.yaml"
    made = f"# Made by `make chart` of {path.relative_to(ROOT)}.\n"
    return made + remark(path) + _dumped(overlay_values(name))


def _schema() -> str:
    """
    Describe every value; the settings as the scheduler itself checks them.
    """
    known = _plain(ConfigFile.model_json_schema(by_alias=True))
    inner = known.pop("properties")
    run = known["$defs"]["RunSettings"]["properties"]
    for name in (*_SHARD, *_GIVEN):
        run.pop(name)
    pod = document(BASE / "deployment.yaml")["spec"]["template"]["spec"]
    run["shutdown"]["exclusiveMaximum"] = pod["terminationGracePeriodSeconds"]
    run["shutdown"].pop("maximum")
    fields: dict[str, Any] = {"global": {"type": "object"}}
    for value in VALUES:
        group, _, name = value.name.rpartition(".")
        if group:
            empty = {"type": "object", "additionalProperties": False, "properties": {}}
            fields.setdefault(group, empty)["properties"][name] = _typed(value)
        else:
            fields[name] = _typed(value)
    fields |= {part: inner[part] for part in ("policy", "run")}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Made by `make chart`.",
        "type": "object",
        "additionalProperties": False,
        "required": ["policy", "run"],
        "properties": fields,
        "$defs": known["$defs"],
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _typed(value: Value) -> dict[str, Any]:
    typed: dict[str, Any] = {"description": value.about, "type": value.kind}
    if value.pattern:
        typed["pattern"] = value.pattern
    if value.holds:
        is_list = value.kind == "array"
        typed["items" if is_list else "additionalProperties"] = value.holds
    if value.kind == "integer":
        typed["minimum"] = 0
    return typed


def _plain(raw: Any) -> Any:  # noqa: ANN401 - a schema
    """
    Leave out what only repeats: titles and defaults.
    """
    if isinstance(raw, list):
        return [_plain(part) for part in raw]
    if not isinstance(raw, dict):
        return raw
    return {
        word: {name: _plain(part) for name, part in inner.items()}
        if word in {"properties", "$defs"}
        else _plain(inner)
        for word, inner in raw.items()
        if word not in {"title", "default"}
    }
