"""
Objects as no server should write them: one to four things of each are made odd.

What is made of a seed is the same each time, so a failure names the seed that shows it.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random

import yaml

SCENARIOS = Path(__file__).parents[3] / "scenarios"
_SCALARS = (
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    2**31,
    2**63,
    2**70,
    0.5,
    -0.0,
    1e308,
    float("inf"),
    float("nan"),
    "",
    " ",
    "x",
    "default",
    "default/x",
    "..",
    "-1",
    "0.5",
    "2Pi",
    "3E",
    "1e999",
    "16Gi",
    "lots",
    "Always",
    "NearlyIn",
    "DoesNotExistYet",
    "Gt",
    "yesterday",
    "2026-01-31T09:00:00Z",
    "9999-12-31T23:59:59.999999999+23:59",
    "\u202eevil\u202c",
    "a\nb\x1b[2J",
    "\ud800",
    "é" * 300,
    "[]",
    '{"a": [',
    "true",
)
_TAILS = ("x", "-", ".", "/", "\x00", " ", "é", "Ki")
_NAMES = ("", "x", "future", "kubernetes.io/hostname", "nvidia.com/gpu", "a" * 400)


def worlds() -> dict[str, list[dict]]:
    """
    Give the manifests of every scenario that has some, by the scenario's name.
    """
    found = {}
    for path in sorted(SCENARIOS.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if "manifests:" in text:
            given = yaml.load(text, Loader=yaml.CSafeLoader).get("given") or {}
            if raws := given.get("manifests"):
                # Times and the like become what JSON knows, as a server sends it.
                found[f"{path.parent.name}/{path.stem}"] = json.loads(
                    json.dumps(raws, default=str)
                )
    return found


def mutated(raw: dict, chance: Random) -> dict:
    """
    Give a copy of an object with one to four things made odd.
    """
    raw = deepcopy(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _mutate(raw, chance)
    return raw


def mutated_bytes(raw: dict, chance: Random) -> bytes:
    """
    Write an object as a server sends it; sometimes with bytes that are no text.
    """
    body = json.dumps(raw, separators=(",", ":")).encode()
    if chance.random() < 0.03:
        at = body.find(b'"', chance.randrange(len(body)))
        if 0 < at < len(body) - 1 and body[at + 1 : at + 2].isalpha():
            body = body[: at + 1] + b"\xff\xfe" + body[at + 1 :]
    if chance.random() < 0.01:
        deep = chance.choice((3000, 20_000))
        body = body[:-1] + b',"deep":' + b"[" * deep + b"]" * deep + b"}"
    if chance.random() < 0.01:
        body = body[:-1] + b',"long":' + b"9" * 5000 + b"}"
    return body


def _mutate(raw: dict, chance: Random) -> None:
    """
    Make one thing odd, anywhere in an object.
    """
    here, key = _place(raw, chance)
    match chance.choice(("value", "value", "value", "drop", "twice", "name", "more")):
        case "value":
            here[key] = _odd(here[key], chance)
        case "drop":
            del here[key]
        case "twice" if isinstance(here, list):
            here.insert(key, deepcopy(here[key]))
        case "name" if isinstance(here, dict):
            here[chance.choice(_NAMES)] = here.pop(key)
        case "more" if isinstance(here, dict):
            here[chance.choice(_NAMES)] = _odd(None, chance)
        case _:
            here[key] = _odd(here[key], chance)


def _place(raw: dict, chance: Random) -> tuple[dict | list, object]:
    """
    Choose a place, each level as likely as the others.
    """
    places = list(_places(raw))
    depth = chance.choice(sorted({at for at, _, _ in places}))
    return chance.choice([(here, key) for at, here, key in places if at == depth])


def _places(here: object, depth: int = 0) -> Iterator[tuple[int, dict | list, object]]:
    if depth > 40:
        return
    if isinstance(here, dict):
        for key in here:
            yield depth, here, key
            yield from _places(here[key], depth + 1)
    elif isinstance(here, list):
        for at, inner in enumerate(here):
            yield depth, here, at
            yield from _places(inner, depth + 1)


def _odd(old: object, chance: Random) -> object:
    """
    Give another value: another type, a size, a depth, or almost what was there.
    """
    made = chance.choice(_MAKERS)(old, chance) if chance.random() < 0.6 else None
    return chance.choice(_SCALARS) if made is None else made


def _is_short(old: object) -> bool:
    return len(str(old)) < 100_000


def _deep(levels: int, chance: Random) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


_MAKERS = (
    lambda _, __: [],
    lambda _, __: {},
    lambda old, _: [old],
    lambda old, _: {"x": old},
    lambda old, _: [deepcopy(old) for _ in range(50)] if _is_short(old) else None,
    lambda _, chance: _deep(chance.choice((20, 90, 150, 400)), chance),
    lambda _, chance: "y" * 10_000_000 if chance.random() < 0.02 else None,
    lambda _, __: "z" * 70_000,
    lambda old, chance: old + chance.choice(_TAILS) if isinstance(old, str) else None,
    lambda old, _: -old if isinstance(old, int) else None,
    lambda old, _: str(old) if isinstance(old, int) else None,
    lambda old, _: len(old) if isinstance(old, str) else None,
    lambda _, __: {f"example.com/r{n}": "1" for n in range(300)},
)
