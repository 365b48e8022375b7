"""
What is wrong with a file, as people read it: place, line, fault, nearest name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from adapters.files.yaml_tree import TextRejectedError, parse_yaml
from models.errors import Problem

Path = tuple[str | int, ...]
Fault = tuple[Path, str, str]
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PATTERNS = "lower-case letters, digits and '-', as in Kubernetes names"


def schema_faults(
    error: ValidationError, raw: object, root: type[BaseModel]
) -> list[Fault]:
    """
    Turn everything pydantic found into faults, one for each place.
    """
    faults: dict[Path, Fault] = {}
    for item in error.errors(include_url=False):
        for fault in _faults(item, raw, root):
            faults.setdefault(fault[0], fault)
    return list(faults.values())


def located(faults: Iterable[Fault], text: str, *, yaml: bool) -> list[Problem]:
    """
    Make problems of faults, with the line of each where the text tells it.
    """
    known = sorted(faults, key=lambda fault: [(str(type(p)), p) for p in fault[0]])
    lines = _lines({path for path, _, _ in known}, text) if yaml else {}
    return [Problem(_with_line(path, lines), what, hint) for path, what, hint in known]


def nearest(word: str, known: Iterable[str]) -> str:
    """
    Suggest the nearest known name, or nothing.
    """
    lowered = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), lowered, n=1)
    return f'did you mean "{lowered[found[0]]}"?' if found else ""


def spelled(path: Sequence[str | int]) -> str:
    """
    Write a path as ``given.gangs[3].groups[0].min``.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{part}]"
    return text or "file"


def _with_line(path: Path, lines: Mapping[Path, int]) -> str:
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return f"{spelled(path)}, line {lines[path[:length]]}"
    return spelled(path)


def _lines(wanted: set[Path], text: str) -> dict[Path, int]:
    prefixes = {path[:length] for path in wanted for length in range(1, len(path) + 1)}
    lines: dict[Path, int] = {}

    def note(path: Path, line: int) -> None:
        if path in prefixes:
            lines[path] = line

    try:
        parse_yaml(text, note)
    except TextRejectedError:
        return {}
    return lines


def _faults(item: Mapping[str, Any], raw: object, root: type[BaseModel]) -> list[Fault]:
    kind = item["type"]
    path = _plain_path(item["loc"], raw, missing=kind == "missing")
    context = item.get("ctx", {})
    given = item.get("input")
    if kind == "quantities":
        return [((*path, key), what, "") for key, what in context["wrong"].items()]
    if kind == "extra_forbidden":
        known = sorted(_parent_schema(path, root).get("properties", {}))
        hint = nearest(str(path[-1]), known) or f"known here: {', '.join(known)}"
        return [(path, f'unknown field "{path[-1]}"', hint)]
    if kind == "missing":
        return [(path, f'the field "{path[-1]}" is missing', "")]
    if kind in {"literal_error", "enum"}:
        expected = str(context["expected"])
        words = re.findall(r"'([^']*)'", expected)
        hint = nearest(str(given), words) if isinstance(given, str) else ""
        return [(path, f"{_shown(given)} is not one of {expected}", hint)]
    return [(path, _sentence(kind, context, given, str(item["msg"])), "")]


def _sentence(kind: str, context: Mapping[str, Any], given: object, said: str) -> str:
    shown = _shown(given)
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(shown)
    if kind == "value_error":
        return str(context.get("error", said))
    if kind == "greater_than_equal" and context.get("ge") == 0:
        return f"{shown} is negative"
    return f"{shown}: {said[:1].lower()}{said[1:]}"


_SENTENCES = {
    "string_pattern_mismatch": "{0} is not a valid name (" + _PATTERNS + ")",
    "string_type": "{0} is not text; quote it if text is meant",
    "int_type": "{0} is not a whole number",
    "int_parsing": "{0} is not a whole number",
    "bool_type": "{0} is neither true nor false",
    "bool_parsing": "{0} is neither true nor false",
    "list_type": "{0} is not a list",
    "tuple_type": "{0} is not a list",
    "dict_type": "{0} is not a mapping of fields",
    "model_type": "{0} is not a mapping of fields",
    "model_attributes_type": "{0} is not a mapping of fields",
}


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


@cache
def _schema(root: type[BaseModel]) -> dict[str, Any]:
    return root.model_json_schema(mode="validation")


def _plain_path(loc: Path, raw: object, *, missing: bool) -> Path:
    """
    Keep what the file holds; drop the names of union branches pydantic adds.
    """
    path: list[str | int] = []
    here: Any = raw
    for index, part in enumerate(loc):
        if _holds(here, part):
            here = here[part]
        elif not (missing and index == len(loc) - 1):
            continue
        path.append(part)
    return tuple(path)


def _holds(here: object, part: str | int) -> bool:
    if isinstance(here, list):
        return isinstance(part, int) and part < len(here)
    return isinstance(here, Mapping) and part in here


def _parent_schema(path: Path, root: type[BaseModel]) -> Mapping[str, Any]:
    whole = _schema(root)
    here = _resolved(whole, whole)
    for part in path[:-1]:
        here = _resolved(_child(here, part), whole)
    return here


def _is_map(schema: Mapping[str, Any]) -> bool:
    return "properties" in schema or "additionalProperties" in schema


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    while True:
        if "$ref" in schema:
            schema = whole["$defs"][str(schema["$ref"]).rsplit("/", 1)[-1]]
        elif "anyOf" in schema:
            branches = [_resolved(b, whole) for b in schema["anyOf"]]
            useful = [b for b in branches if _is_map(b) or "items" in b]
            if not useful:
                return {}
            schema = useful[0]
        else:
            return schema


def _child(schema: Mapping[str, Any], part: str | int) -> Mapping[str, Any]:
    if isinstance(part, int):
        found = schema.get("items", {})
    else:
        found = schema.get("properties", {}).get(
            part, schema.get("additionalProperties", {})
        )
    return found if isinstance(found, Mapping) else {}
