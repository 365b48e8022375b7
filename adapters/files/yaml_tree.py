"""
YAML text to plain values, straight from libyaml's events.

Scalars are read as YAML 1.2 does; what other readers would read otherwise (``yes``,
``010``, ``1:30``) is refused. Keys are always text. Depth, size and repetition are
bounded, so that no file can exhaust the machine.
"""

import re
from collections.abc import Callable
from typing import Any

import yaml

from models.errors import Problem

DEEPEST = 60
LARGEST = 5_000_000

_PLAIN: dict[str, object] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DOUBTFUL = re.compile(
    r"(?:yes|no|on|off)|[-+]?0[0-7_]+|[-+]?0[xob][0-9a-fA-F_]+"
    r"|[-+]?[0-9]+_[0-9_]*|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?",
    re.IGNORECASE,
)
_NUMERIC = frozenset("0123456789+-.yYnNoO")
_LONGEST_NUMBER = 40

Line = Callable[[tuple[str | int, ...], int], None]


class TextRejectedError(Exception):
    """
    A text is not one plain YAML or JSON document.
    """

    def __init__(self, what: str, line: int | None = None, hint: str = "") -> None:
        self.problem = Problem(f"line {line}" if line else "file", what, hint)
        super().__init__(str(self.problem))


def parse_yaml(text: str, note: Line | None = None) -> object:
    """
    Read one document; ``note`` is told the line of every key and item.
    """
    try:
        return _Reader(text, note).document()
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, text) from error
    except yaml.YAMLError as error:
        raise TextRejectedError(f"not YAML: {error}") from error


def parse_all_yaml(text: str) -> list[object]:
    """
    Read every document of a text; empty ones are passed over.
    """
    try:
        return _Reader(text, None).documents()
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, text) from error
    except yaml.YAMLError as error:
        raise TextRejectedError(f"not YAML: {error}") from error


class _Reader:
    """
    One pass over the events of one text.
    """

    def __init__(self, text: str, note: Line | None) -> None:
        self._next = yaml.CLoader(text).get_event
        self._note = note
        self._size = 0
        self._anchors: dict[str, tuple[object, int]] = {}
        self._scalars: dict[str, object] = dict(_PLAIN)
        self._path: list[str | int] = []

    def document(self) -> object:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            raise TextRejectedError("the file is empty")
        value = self._value(self._next())
        self._next()
        event: Any = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise TextRejectedError(
                "a second document starts here",
                event.start_mark.line + 1,
                "one file holds one document",
            )
        return value

    def documents(self) -> list[object]:
        found: list[object] = []
        self._next()
        while not isinstance(self._next(), yaml.StreamEndEvent):
            self._anchors.clear()
            value = self._value(self._next())
            self._next()
            if value is not None:
                found.append(value)
        return found

    def _value(self, event: Any) -> object:  # noqa: ANN401 - untyped events
        kind = type(event)
        if kind is yaml.ScalarEvent:
            value = self._scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
            return value
        if kind is yaml.AliasEvent:
            return self._alias(event)
        return self._collection(event, mapping=kind is yaml.MappingStartEvent)

    def _collection(self, event: Any, *, mapping: bool) -> object:  # noqa: ANN401
        if len(self._path) > DEEPEST:
            raise _refused(event, f"nested deeper than {DEEPEST} levels")
        if event.tag:
            raise _refused(event, f"the tag {event.tag} is not read")
        before = self._size
        value: object = self._mapping() if mapping else self._sequence()
        if event.anchor:
            self._anchors[event.anchor] = (value, self._size - before + 1)
        return value

    def _mapping(self) -> dict[str, object]:
        mapping: dict[str, object] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                raise _refused(event, "a key must be plain text")
            key = event.value
            if key == "<<" and not event.style:
                hint = "write the fields out; an alias may stand for a whole value"
                raise _refused(event, "merge keys are not read", hint)
            if key in mapping:
                raise _refused(event, f"the key {key!r} is written twice")
            self._step(key, event)
            mapping[key] = self._value(self._next())
            self._path.pop()
        return mapping

    def _sequence(self) -> list[object]:
        items: list[object] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            self._step(len(items), event)
            items.append(self._value(event))
            self._path.pop()
        return items

    def _step(self, key: str | int, event: Any) -> None:  # noqa: ANN401
        self._path.append(key)
        self._size += 1
        if self._size > LARGEST:
            raise _refused(event, f"more than {LARGEST:,} values")
        if self._note is not None:
            self._note(tuple(self._path), event.start_mark.line + 1)

    def _alias(self, event: Any) -> object:  # noqa: ANN401
        known = self._anchors.get(event.anchor)
        if known is None:
            raise _refused(event, f"the alias *{event.anchor} has no anchor before it")
        self._size += known[1]
        if self._size > LARGEST:
            raise _refused(event, f"aliases repeat more than {LARGEST:,} values")
        return known[0]

    def _scalar(self, event: Any) -> object:  # noqa: ANN401
        text: str = event.value
        if event.tag and event.tag not in {"!", "tag:yaml.org,2002:str"}:
            raise _refused(event, f"the tag {event.tag} is not read")
        if event.style or event.tag:
            return text
        try:
            return self._scalars[text]
        except KeyError:
            value = _plain(text, event)
            self._scalars[text] = value
            return value


def _plain(text: str, event: Any) -> object:  # noqa: ANN401 - untyped events
    if text[0] not in _NUMERIC:
        return text
    if len(text) <= _LONGEST_NUMBER:
        if _INT.fullmatch(text):
            return int(text)
        if _DOUBTFUL.fullmatch(text):
            raise _refused(
                event,
                f"{text} means different things to different readers of YAML",
                f'write "{text}" for the text, or true, false or a plain number',
            )
        if _FLOAT.fullmatch(text):
            return float(text)
    if _NOT_FINITE.fullmatch(text):
        raise _refused(event, f"{text} is not a number")
    return text


def _not_yaml(error: yaml.MarkedYAMLError, text: str) -> TextRejectedError:
    mark = error.problem_mark or error.context_mark
    what = " ".join(filter(None, (error.context, error.problem)))
    hint = ""
    if mark and "\t" in "".join(text.split("\n")[mark.line : mark.line + 1]):
        hint = "it holds a tab; indent with spaces"
    return TextRejectedError(f"not YAML: {what}", mark.line + 1 if mark else None, hint)


def _refused(event: Any, what: str, hint: str = "") -> TextRejectedError:  # noqa: ANN401
    return TextRejectedError(what, event.start_mark.line + 1, hint)
