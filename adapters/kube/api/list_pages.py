"""
Lists as an API server writes them, read an object at a time.

A page that is parsed whole takes ten times its size and twice the time: each object
here is used and dropped while it is still near.
"""

from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from re import compile as pattern
from typing import Any

_DECODER = JSONDecoder()
_SPACE = pattern(r"[ \t\r\n]*")


def read_list(body: bytes, take: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """
    Give every object of a list to ``take``, and return all else that the list says.

    Raises
    ------
    ValueError
        When this is no JSON object.
    """
    text = body.decode()
    rest: dict[str, Any] = {}
    at = _past(text, 0, "{")
    while text[at : at + 1] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _past(text, at, ":")
        if key == "items" and text[at : at + 1] == "[":
            at = _items(text, at, take)
        else:
            rest[key], at = _DECODER.raw_decode(text, at)
        at = _next(text, at, "}")
    return rest


def _items(text: str, at: int, take: Callable[[dict[str, Any]], None]) -> int:
    """
    Read an array from its bracket on; give the place after it.
    """
    at = _past(text, at, "[")
    while text[at : at + 1] != "]":
        item, at = _DECODER.raw_decode(text, at)
        take(item)
        at = _next(text, at, "]")
    return at + 1


def _next(text: str, at: int, end: str) -> int:
    """
    Go on to what follows a comma, or to the end.
    """
    at = _skip(text, at)
    return at if text[at : at + 1] == end else _past(text, at, ",")


def _past(text: str, at: int, sign: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != sign:
        raise JSONDecodeError(f"Expecting {sign!r}", text, at)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
