"""
Lists as an API server writes them, read an object at a time.

A page that is parsed whole takes ten times its size and twice the time: each object
here is used and dropped while it is still near.
"""

from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from re import compile as pattern
from typing import Any

from adapters.kube.api.unread import LARGEST, Unread, decoded, reason, unread

Take = Callable[[dict[str, Any]], None]
Pass = Callable[[Unread], None]
_DECODER = JSONDecoder()
_SPACE = pattern(r"[ \t\r\n]*")


def read_list(body: bytes, take: Take, skip: Pass) -> dict[str, Any]:
    """
    Give every object of a list to ``take``, and return all else that the list says.

    What cannot be parsed, or is no object, is given to ``skip`` in its place.

    Raises
    ------
    ValueError
        When this is no JSON object.
    """
    text = decoded(body)
    rest: dict[str, Any] = {}
    at = _past(text, 0, "{")
    while text[at : at + 1] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _past(text, at, ":")
        if key == "items" and text[at : at + 1] == "[":
            at = _items(text, at, take, skip)
        else:
            rest[key], at = _DECODER.raw_decode(text, at)
        at = _next(text, at, "}")
    return rest


def _items(text: str, at: int, take: Take, skip: Pass) -> int:
    """
    Read an array from its bracket on; give the place after it.
    """
    at = _past(text, at, "[")
    while text[at : at + 1] != "]":
        at = _item(text, at, take, skip)
        at = _next(text, at, "]")
    return at + 1


def _item(text: str, at: int, take: Take, skip: Pass) -> int:
    """
    Read one object, or pass it by; give the place after it.
    """
    try:
        item, end = _DECODER.raw_decode(text, at)
    except (RecursionError, ValueError) as error:
        passed, end = unread(text, at, reason(error))
        skip(passed)
        return end
    if not isinstance(item, dict):
        skip(Unread(why="it is not a mapping of fields"))
    elif end - at > LARGEST:
        passed, end = unread(text, at, f"its {end - at:,} characters are too many")
        skip(passed)
    else:
        take(item)
    return end


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
