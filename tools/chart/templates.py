"""
Templates: the objects of the base, with the table's values in their places.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from adapters.kube.acting.permissions import to_observe
from adapters.kube.acting.role import roles
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from tools.chart.marks import Marks
from tools.chart.source import (
    BASE,
    OVERLAYS,
    ROOT,
    Object,
    documents,
    files,
    labels,
    remark,
)
from tools.chart.values import CONTAINER, RECORDS, Value, at, placed

SPACE = "phalanx-system"
MONITORING = OVERLAYS / "monitoring"
PRODUCTION = OVERLAYS / "production"
_NAMED = ("metadata", "roleRef", "subjects", "configMap")
"""
What names an object, and so gets the shard's suffix; the Lease has the shard's name.
"""
_NAMES = ("serviceAccountName", "claimName")
_LABELLED = ("ServiceMonitor", "PrometheusRule")


def templates() -> dict[str, str]:
    """
    Make every template, by its path in the chart.
    """
    made = {}
    for path in files(BASE):
        condition = ".Values.namespace.create" if path.stem == "namespace" else ""
        made[f"templates/{path.name}"] = _template(path, condition)
    made["templates/role.yaml"] = _roles(made["templates/role.yaml"])
    for path in files(MONITORING):
        name = f"templates/monitoring-{path.name}"
        made[name] = _template(path, ".Values.monitoring.enabled")
    for path in files(PRODUCTION):
        made[f"templates/{path.name}"] = _template(path, ".Values.records.keep")
    return made


def _roles(acting: str) -> str:
    """
    Let who only observes have the roles of that, which cannot write.
    """
    asked = to_observe(resources_of(dialects()), "default")
    written = (_written(raw, Marks()) for raw in roles(asked, "phalanx", SPACE))
    observing = "# Written by `phalanx config role --observe`.\n" + "---\n".join(
        written
    )
    first, other, last = "{{- if .Values.run.observe }}", "{{- else }}", "{{- end }}"
    return f"{first}\n{observing}{other}\n{acting}{last}\n"


def _template(path: Path, condition: str) -> str:
    marks = Marks()
    written = "---\n".join(_written(raw, marks) for raw in documents(path))
    origin = f"# Made by `make chart` of {path.relative_to(ROOT)}.\n"
    text = origin + remark(path) + written
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n" if condition else text


def _written(raw: Object, marks: Marks) -> str:
    meta = raw["metadata"]
    meta["labels"] = {**meta.get("labels", {}), **labels()}
    if raw["kind"] in _LABELLED:
        meta["labels"][marks.fields(".Values.monitoring.labels")] = None
    if raw["kind"] == "Deployment":
        _fill(raw, marks)
    if raw["kind"] == "PersistentVolumeClaim":
        _fill_claim(raw["spec"], marks)
    walked = _walked(raw, marks)
    text = yaml.safe_dump(walked, width=1000, allow_unicode=True, sort_keys=False)
    return marks.put(text.replace("{{", '{{ "{{" }}'))


def _fill(raw: Object, marks: Marks) -> None:
    """
    Put the table's values into the Deployment.
    """
    for value in placed():
        parent, _, key = value.at.rpartition("/")
        _place(at(raw, parent), key, value, marks)
    container = at(raw, CONTAINER)
    container["image"] = marks.scalar('include "phalanx.image" .')
    words = " ".join(f'"{word}"' for word in container["args"])
    container["args"] = marks.block(f"concat (list {words}) .Values.args | toYaml")
    sums = marks.scalar('include "phalanx.settings" . | sha256sum')
    at(raw, "spec/template/metadata")["annotations"] = {"checksum/settings": sums}

    volume = at(raw, RECORDS)
    usual = {"emptyDir": volume.pop("emptyDir")}
    (claim,) = (each for path in files(PRODUCTION) for each in documents(path))
    name = marks.put(_replaced(claim["metadata"]["name"], marks, "claimName", ""))
    kept = {"persistentVolumeClaim": {"claimName": name}}
    volume[marks.choice(".Values.records.keep", _flow(kept), _flow(usual))] = None


def _fill_claim(spec: Object, marks: Marks) -> None:
    """
    Put what is said of the records into the claim of their volume.
    """
    spec["accessModes"] = marks.block("toYaml .Values.records.accessModes")
    spec["resources"]["requests"]["storage"] = marks.scalar(".Values.records.size")
    of = ".Values.records.storageClassName"
    spec[marks.field("storageClassName", of, block=False)] = None


def _flow(raw: Object) -> str:
    """
    Write a field in one line.
    """
    ((name, value),) = raw.items()
    inner = yaml.safe_dump(value, width=1000, default_flow_style=True).strip()
    return f"{name}: {inner}"


def _place(parent: Object, key: str, value: Value, marks: Marks) -> None:
    name = f".Values.{value.name}"
    if value.optional:
        parent[marks.field(key, name, block=value.is_block)] = None
    elif value.is_block:
        parent[key] = marks.block(f"toYaml {name}")
    else:
        parent[key] = marks.scalar(name)


def _walked(raw: Any, marks: Marks, key: str = "", above: str = "") -> Any:  # noqa: ANN401
    """
    Put namespace, shard and names of objects where the base says its own.
    """
    if isinstance(raw, dict):
        return {word: _walked(part, marks, word, key) for word, part in raw.items()}
    if isinstance(raw, list):
        return [_walked(part, marks, key, above) for part in raw]
    return _replaced(raw, marks, key, above) if isinstance(raw, str) else raw


def _replaced(word: str, marks: Marks, key: str, above: str) -> str:
    if word == SPACE:
        return marks.scalar('include "phalanx.namespace" . | quote')
    if key == "app.kubernetes.io/instance":
        return marks.scalar(".Values.shard | quote")
    if key == "kubernetes.io/metadata.name":
        return marks.scalar(".Values.monitoring.namespace | quote")
    named = key == "name" and above in _NAMED
    if (named and word != "phalanx-default") or key in _NAMES:
        return word + marks.scalar('include "phalanx.suffix" .')
    shard = "phalanx-" + marks.scalar(".Values.shard")
    return re.sub(r"\bphalanx-default\b", shard, word)
