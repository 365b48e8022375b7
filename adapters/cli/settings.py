"""
Where an effective setting comes from: default, file, environment, flag.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer
from pydantic import BaseModel, ValidationError

from models.policy import Policy

PREFIX = "PHALANX_"
_WORDS: dict[str, tuple[str, ...]] = {
    "seconds": ("limits", "seconds"),
    "deterministic": ("limits", "deterministic"),
    "workers": ("limits", "workers"),
    "gap": ("limits", "gap"),
    "seed": ("seed",),
}
_MOST_CORES = 8
Flags = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """
    A policy, and for every value said somewhere, where.
    """

    policy: Policy
    origins: Mapping[str, str]

    def rows(self) -> list[tuple[str, str, str]]:
        """
        List every value with its origin.
        """
        flat = _flat("", self.policy.model_dump(by_alias=True, mode="json"))
        return [
            (name, value, self.origins.get(name, "default")) for name, value in flat
        ]


def effective(policy: Policy, flags: Flags) -> Settings:
    """
    Lay environment and flags over the policy of the file.
    """
    origins = dict.fromkeys(_said("", policy), "file")
    document = policy.model_dump(by_alias=True)
    _overlay(document, origins, _environment(), "env")
    _overlay(document, origins, flags, "flag")
    limits = document["limits"]
    if limits["seconds"] is not None and "limits.workers" not in origins:
        limits["workers"] = _cores()
        origins["limits.workers"] = f"all cores, as {origins['limits.seconds']} says"
    try:
        return Settings(Policy.model_validate(document), origins)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        origin = origins.get(name, "")
        message = f"{name} = {first['input']!r} ({origin}): {first['msg']}"
        raise typer.BadParameter(message) from error


def _overlay(
    document: dict[str, Any],
    origins: dict[str, str],
    said: Mapping[str, object],
    kind: str,
) -> None:
    for word, value in said.items():
        if value is None:
            continue
        path = _WORDS[word]
        part = document
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value
        origin = f"env {PREFIX}{word.upper()}" if kind == "env" else f"flag --{word}"
        origins[".".join(path)] = origin


def _environment() -> dict[str, str]:
    names = {word: f"{PREFIX}{word.upper()}" for word in _WORDS}
    return {
        word: os.environ[name] for word, name in names.items() if os.environ.get(name)
    }


def _cores() -> int:
    return max(1, min(len(os.sched_getaffinity(0)), _MOST_CORES))


def _said(prefix: str, part: BaseModel) -> list[str]:
    fields = type(part).model_fields
    names: list[str] = []
    for field in sorted(part.model_fields_set):
        name = f"{prefix}{fields[field].alias or field}"
        value = getattr(part, field)
        names += _said(f"{name}.", value) if isinstance(value, BaseModel) else [name]
    return names


def _flat(prefix: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        pairs = ((f"{prefix}.{k}" if prefix else str(k), v) for k, v in value.items())
        return [row for name, inner in pairs for row in _flat(name, inner)]
    if isinstance(value, list) and all(
        isinstance(v, Mapping) and v.get("name") for v in value
    ):
        return [(prefix, ", ".join(str(v["name"]) for v in value))]
    return [(prefix, "null" if value is None else str(value))]
