"""
Label selectors as kubectl takes them: ``a=b,c!=d,e in (x,y),f,!g``.
"""

import re
from collections.abc import Callable, Mapping

Labels = Mapping[str, str]
_PARTS = re.compile(r",(?![^()]*\))")
_NAME = r"[A-Za-z0-9][-A-Za-z0-9_./]*"
_EXISTS = re.compile(rf"(!?)\s*({_NAME})")
_EQUAL = re.compile(rf"({_NAME})\s*(==|=|!=)\s*([-A-Za-z0-9_.]*)")
_AMONG = re.compile(rf"({_NAME})\s+(in|notin)\s+\(([^()]*)\)")


class SelectorError(ValueError):
    """
    A text is no selector.
    """


def selector(text: str) -> Callable[[Labels], bool]:
    """
    Read a selector: all of its parts must hold.

    Raises
    ------
    SelectorError
        When a part cannot be read.
    """
    parts = [_part(part.strip()) for part in _PARTS.split(text) if part.strip()]
    return lambda labels: all(holds(labels) for holds in parts)


def _part(text: str) -> Callable[[Labels], bool]:
    if match := _EXISTS.fullmatch(text):
        wanted, key = not match[1], match[2]
        return lambda labels: (key in labels) is wanted
    if match := _EQUAL.fullmatch(text):
        key, word, value = match.groups()
        wanted = word != "!="
        return lambda labels: (labels.get(key) == value) is wanted
    if match := _AMONG.fullmatch(text):
        key, word = match[1], match[2]
        values = {value.strip() for value in match[3].split(",")}
        wanted = word == "in"
        return lambda labels: (labels.get(key) in values) is wanted
    raise SelectorError(f"{text!r} is not a part of a selector such as a=b or a in (b)")
