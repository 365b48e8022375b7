"""
Where an effective setting comes from: default, file, environment, flag.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer
from pydantic import BaseModel, ValidationError

from models.policy import Policy
from models.why.reasons import counted

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
            (name, _shown(name, value), self.origins.get(name, "default"))
            for name, value in flat
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


def _flat(prefix: str, value: object) -> list[tuple[str, object]]:
    if not isinstance(value, Mapping):
        return [(prefix, value)]
    pairs = ((f"{prefix}.{k}" if prefix else str(k), v) for k, v in value.items())
    return [row for name, inner in pairs for row in _flat(name, inner)]


def _shown(name: str, value: Any) -> str:  # noqa: ANN401 - plain values
    """
    Write a value as people do, with its unit where it has one.
    """
    if value is None:
        return "no bound" if name.startswith("evict.") else "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return _WRITERS.get(name, str)(value)


def _tiers(tiers: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{tier['name']}{_options(tier)}" for tier in tiers)


def _options(tier: Mapping[str, Any]) -> str:
    said = [
        text(tier[option])
        for option, text in _TIER_OPTIONS.items()
        if tier.get(option) is not None
    ]
    return f" ({', '.join(said)})" if said else ""


def _steps(steps: Sequence[Mapping[str, int]]) -> str:
    texts = (f"{step['quarters']} from {_duration(step['after'])}" for step in steps)
    return f"quarters of value: {', '.join(texts)}"


def _duration(seconds: int) -> str:
    """
    Write whole seconds as people do: 0s, 10m, 1h30m.
    """
    text, left = "", seconds
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        many, left = divmod(left, size)
        text += f"{many}{unit}" if many else ""
    return text or "0s"


_TIER_OPTIONS: dict[str, Callable[[Any], str]] = {
    "gap": "gap {:g}".format,
    "after": lambda seconds: f"after {_duration(seconds)}",
    "gpus": "{} GPUs and more".format,
}
_WRITERS: dict[str, Callable[[Any], str]] = {
    "tiers": _tiers,
    "bands": lambda cuts: ", ".join(map(str, cuts)),
    "ageing": _steps,
    "evict.staleAfter": _duration,
    "evict.maxPods": "{} pods a round".format,
    "evict.maxGangs": "{} gangs a round".format,
    "evict.maxMoves": "{} pods a round".format,
    "evict.maxLostPerGpu": "{} GPU-seconds per GPU".format,
    "evict.again": _duration,
    "evict.lentFor": _duration,
    "waiting.protectAfter": _duration,
    "waiting.firmAfter": _duration,
    "waiting.heads": partial(counted, noun="gang"),
    "waiting.firm": partial(counted, noun="gang"),
    "waiting.gpus": "{} GPUs and more".format,
    "waiting.slip": "{:g} times what was expected".format,
    "waiting.budget": "{:g} of the GPU time of the window".format,
    "waiting.window": _duration,
    "waiting.outweigh": "{:g} times what it holds up".format,
    "limits.seconds": "{:g} s".format,
    "limits.deterministic": "{:g} units of work".format,
    "limits.gap": "{:g} of the value".format,
    "limits.workers": partial(counted, noun="thread"),
    "prices.quota": "{} a GPU, CPU or GiB".format,
    "prices.limit": "{} a GPU, CPU or GiB".format,
    "prices.open": "{} a node".format,
    "prices.tolerate": "{} a taint".format,
    "prices.label": "{} a value".format,
    "prices.wait": "{} an hour".format,
    "prices.move": "{} a pod".format,
    "prices.level": "{} a level".format,
    "prices.pods": "{} a pod".format,
    "prices.weight": "{} a doubling".format,
    "prices.priority": "{} a step".format,
    "prices.evict": "{} a GPU".format,
    "prices.nodes": "{} a GPU".format,
}
