"""
Bytes to plain values: where a text comes from, how large it may be, which language.
"""

import json
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from adapters.files.yaml_tree import (
    DEEPEST,
    TextRejectedError,
    parse_all_yaml,
    parse_yaml,
)
from models.errors import InputRejectedError, Problem, printable

STDIN = "-"
MEBIBYTE = 2**20
LARGEST_YAML = 32 * MEBIBYTE
LARGEST_JSON = 256 * MEBIBYTE
MOST_VALUES = 20_000_000
_HEAD = 4096
_KEY = re.compile(r"(?:#.*\n|---\s*\n|\s*\n)*[A-Za-z]\w*:(?:\s|$)")


def read_text(path: str) -> tuple[str, str]:
    """
    Read a file, or standard input for ``-``; give its shown name and its text.
    """
    name = "standard input" if path == STDIN else printable(path)
    try:
        data = _read_bytes(path, name)
    except (OSError, ValueError) as error:
        what = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputRejectedError(name, [Problem("file", what)]) from error
    try:
        return name, data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte {error.start} of {len(data)})"
        raise InputRejectedError(
            name, [Problem("file", what, "save it as UTF-8")]
        ) from error


def parse_text(name: str, text: str) -> object:
    """
    Read JSON or YAML, whichever the text is.
    """
    try:
        if looks_like_json(name, text):
            return parse_json(text)
        if len(text) > LARGEST_YAML:
            raise _too_large(name, "YAML", LARGEST_YAML)
        return parse_yaml(text)
    except TextRejectedError as error:
        raise InputRejectedError(name, [error.problem]) from error


def parse_documents(name: str, text: str) -> list[object]:
    """
    Read the documents of a text, of YAML several; each may be a file's whole content.
    """
    if looks_like_json(name, text) or "\n---" not in text:
        return [parse_text(name, text)]
    if len(text) > LARGEST_YAML:
        raise _too_large(name, "YAML", LARGEST_YAML)
    try:
        return parse_all_yaml(text)
    except TextRejectedError as error:
        raise InputRejectedError(name, [error.problem]) from error


def looks_like_json(name: str, text: str) -> bool:
    """
    Tell JSON from YAML by the file's name where it says YAML, else by how it begins.
    """
    if name.endswith((".yaml", ".yml")):
        return False
    begins = text[:_HEAD].lstrip()
    if begins.startswith(("{", "[")):
        return True
    return name.endswith(".json") and not _KEY.match(begins)


def parse_json(text: str) -> object:
    """
    Read one JSON document in which every key is written once.
    """
    if not text.strip():
        raise TextRejectedError("the file is empty")
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise TextRejectedError(f"more than {MOST_VALUES:,} values")
    return _parsed(text)


def _parsed(text: str, whole: Callable[[str], object] | None = None) -> object:
    """
    Read JSON, its whole numbers by a function where one is given.
    """
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=whole,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise TextRejectedError(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise TextRejectedError(f"nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        raise _number_too_long(text) from error
    return value


@dataclass(frozen=True, slots=True)
class _TooLong:
    digits: str


def _number_too_long(text: str) -> TextRejectedError:
    """
    Name the first number that has more digits than are ever read, and where it is.
    """

    def whole(digits: str) -> int | _TooLong:
        return _TooLong(digits) if len(digits) > sys.get_int_max_str_digits() else 0

    queue: list[tuple[str, object]] = [("", _parsed(text, whole))]
    while queue:
        place, value = queue.pop()
        if isinstance(value, _TooLong):
            line = text.count("\n", 0, text.index(value.digits)) + 1
            what = f"a number of {len(value.digits.lstrip('-')):,} digits is not read"
            where = place.removeprefix(".") or "the document"
            return TextRejectedError(f"{where}: {what}", line)
        if isinstance(value, dict):
            inner = [(f"{place}.{key}", each) for key, each in value.items()]
            queue += reversed(inner)
        elif isinstance(value, list):
            queue += reversed([(f"{place}[{at}]", x) for at, x in enumerate(value)])
    return TextRejectedError("not JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise TextRejectedError(f"the key {twice!r} is written twice")
    return mapping


def _refuse_constant(text: str) -> NoReturn:
    raise TextRejectedError(f"{text} is not a number")


def _read_bytes(path: str, name: str) -> bytes:
    if path == STDIN:
        return _all_of(sys.stdin.buffer, name, "any file", LARGEST_JSON)
    limit, what = LARGEST_JSON, "any file"
    if path.endswith((".yaml", ".yml")):
        limit, what = LARGEST_YAML, "YAML"
    file = Path(path)
    if file.is_file() and file.stat().st_size > limit:
        raise _too_large(name, what, limit)
    with file.open("rb") as stream:
        return _all_of(stream, name, what, limit)


def _all_of(stream: BinaryIO, name: str, what: str, limit: int) -> bytes:
    """
    Read to the end, or as far as it takes to see that this is no text of ours.
    """
    head = stream.read(_HEAD)
    if b"\0" in head:
        what, hint = "is binary, not text", ""
        if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            what, hint = "is UTF-16 text", "save it as UTF-8"
        raise InputRejectedError(name, [Problem("file", what, hint)])
    rest = stream.read(limit + 1 - len(head))
    if len(head) + len(rest) > limit:
        raise _too_large(name, what, limit)
    return head + rest


def _too_large(name: str, what: str, limit: int) -> InputRejectedError:
    problem = Problem(
        "file",
        f"is larger than {limit // MEBIBYTE} MiB, the most that {what} may be",
        "write large snapshots as JSON" if what == "YAML" else "",
    )
    return InputRejectedError(name, [problem])
