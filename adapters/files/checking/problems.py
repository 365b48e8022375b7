"""
What is wrong with a file, as people read it: place, line, fault, nearest name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from adapters.files.yaml_tree import TextRejectedError, parse_yaml
from models.errors import Problem
from models.names import nearest

Path = tuple[str | int, ...]
Hint = str | Callable[[], str]
Fault = tuple[Path, str, Hint]
"""
Place, what is wrong, and what to do; a hint that takes long is made when it is shown.
"""

MOST_HINTS = 100
LARGEST_WITH_LINES = 16 * 2**20
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PATTERNS = "lower-case letters, digits and '-', as in Kubernetes names"


def schema_faults(
    error: ValidationError,
    raw: object,
    root: type[BaseModel],
    place: Path = (),
    start: int = 0,
) -> list[Fault]:
    """
    Turn everything pydantic found into faults, one for each place.

    Parameters
    ----------
    error
        What pydantic found.
    raw
        What the whole file holds.
    root
        The model of the whole file.
    place, start
        The list of which a portion was judged, and where the portion begins.
    """
    faults: dict[Path, Fault] = {}
    for item in error.errors(include_url=False):
        loc = item["loc"]
        if place and isinstance(loc[0], int):
            loc = (*place, start + loc[0], *loc[1:])
        for fault in _faults(item, loc, raw, root):
            faults.setdefault(fault[0], fault)
    return list(faults.values())


_CALLED_HERE: Mapping[str, Sequence[str]] = {
    "age": ("for",),
    "capacity": ("allocatable",),
    "count": ("replicas", "pods"),
    "gpus": ("requests", "allocatable"),
    "limits": ("requests",),
    "max": ("replicas",),
    "maxReplicas": ("replicas",),
    "minAvailable": ("min",),
    "minMember": ("min",),
    "minReplicas": ("min",),
    "pods": ("replicas", "running"),
    "priorityClassName": ("priority",),
    "queueName": ("queue",),
    "size": ("replicas",),
    "subGroups": ("groups",),
    "topology": ("name",),
    "topologyPolicy": ("topology",),
}
"""
What other systems call the fields of a file.
"""


def located(faults: Iterable[Fault], text: str, *, yaml: bool) -> list[Problem]:
    """
    Make problems of faults, with the line of each where the text tells it.
    """
    known = sorted(faults, key=lambda fault: [(str(type(p)), p) for p in fault[0]])
    yaml = yaml and len(text) <= LARGEST_WITH_LINES
    lines = _lines({path for path, _, _ in known}, text) if yaml else {}
    return [
        Problem(_with_line(path, lines), what, _said(hint) if at < MOST_HINTS else "")
        for at, (path, what, hint) in enumerate(known)
    ]


def _said(hint: Hint) -> str:
    return hint if isinstance(hint, str) else hint()


def suggest(word: str, known: Iterable[str], otherwise: str = "") -> Hint:
    """
    Suggest the nearest known name, else say something else; later, when it is shown.
    """

    def said() -> str:
        found = nearest(word, known)
        return f'did you mean "{found}"?' if found else otherwise

    return said


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


def _faults(
    item: Mapping[str, Any], loc: Path, raw: object, root: type[BaseModel]
) -> list[Fault]:
    kind = item["type"]
    path = _plain_path(loc, raw, missing=kind == "missing")
    context = item.get("ctx", {})
    given = item.get("input")
    if kind == "too_short" and given:
        return []  # pydantic leaves out the items that are wrong themselves
    if kind in {"quantities", "quotas"}:
        return list(_amount_faults(path, context["wrong"]))
    if kind == "extra_forbidden":
        return [(path, f'unknown field "{path[-1]}"', _where_known(path, root))]
    if kind == "missing":
        field = _child(_parent_schema(path, root), path[-1])
        values = [field["const"]] if "const" in field else field.get("enum", [])
        value = f"write {path[-1]}: {' or '.join(values)}" if values else ""
        schema = _resolved(field, _schema(root))
        if "properties" in schema and not schema.get("required"):
            value = "it may be {}"
        return [(path, f'the field "{path[-1]}" is missing', value)]
    if kind in {"literal_error", "enum"}:
        expected = str(context["expected"])
        words = re.findall(r"'([^']*)'", expected)
        hint = suggest(str(given), words)
        none = "is not one of" if len(words) > 1 else "is not"
        return [(path, f"{_shown(given)} {none} {expected}", hint)]
    return [(path, _sentence(kind, context, given, str(item["msg"])), "")]


def _amount_faults(path: Path, wrong: Mapping[str, Any]) -> Iterator[Fault]:
    for key, what in wrong.items():
        if isinstance(what, Mapping):
            yield from _amount_faults((*path, key), what)
        else:
            yield (*path, key), what, ""


def _sentence(kind: str, context: Mapping[str, Any], given: object, said: str) -> str:
    shown = _shown(given)
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(shown, **context)
    if kind == "value_error":
        return str(context.get("error", said))
    if kind in _OWN:
        return said
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
    "int_from_float": "{0} is not a whole number",
    "float_type": "{0} is not a number",
    "float_parsing": "{0} is not a number",
    "finite_number": "{0} is not a finite number",
    "less_than_equal": "{0} is too large: at most {le}",
    "less_than": "{0} is too large: it must be less than {lt}",
    "too_long": "{actual_length} items, at most {max_length} are read",
    "too_short": "the list is empty",
    "string_too_long": "{0} is longer than {max_length} characters",
    "string_too_short": "the text is empty",
    "string_unicode": "{0} holds characters that are not text",
    "recursion_loop": "nested too deep",
}
_OWN = frozenset({"resources", "mapping", "truth"})


def no_name(value: str) -> str:
    """
    Say that a text is no name of anything.
    """
    return _SENTENCES["string_pattern_mismatch"].format(_shown(value))


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


def _where_known(path: Path, root: type[BaseModel]) -> Hint:
    """
    Say of an unknown field which field beside it knows it, or which is like it.
    """
    whole, parent = _schema(root), _parent_schema(path, root)
    known = parent.get("properties", {})
    meant = [word for word in _CALLED_HERE.get(str(path[-1]), ()) if word in known]
    if meant:
        words = " or ".join(f'"{word}"' for word in meant)
        return f"here it is called {words}"
    for name, schema in sorted(known.items()):
        if path[-1] in _resolved(schema, whole).get("properties", {}):
            return f'it belongs inside "{name}"'
    return suggest(str(path[-1]), known, f"known here: {', '.join(sorted(known))}")


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
