"""
Objects that are not read: where they end in a text, and what they are called.

An object nested deeper than the interpreter goes, a number of five thousand digits, an
object larger than any server takes: each is passed by, and named, without parsing it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import JSONDecodeError, loads
from typing import Any

DEEPEST = 100
"""
How deep objects may be nested; kinds that we read are nested a quarter of that.
"""
LARGEST = 4 * 2**20
"""
The most characters of one object; a server takes 3 MiB, its store 1.5.
"""
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^"{}\[\]]+', re.DOTALL)
_LONE = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u(?:"
    r"[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|"
    r"(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
_WORDS = ("name", "namespace", "resourceVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """
    An object that was passed by, as far as it could be named.
    """

    name: str = ""
    namespace: str = ""
    version: str = ""
    why: str = ""

    @property
    def key(self) -> str:
        """
        Give ``namespace/name``, or the name where there is none.
        """
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def decoded(body: bytes) -> str:
    """
    Read bytes as text; what is no UTF-8 becomes a sign that says so.
    """
    text = body.decode(errors="replace")
    if "\\ud" in text or "\\uD" in text:  # a half of a letter, which nobody can write
        text = _LONE.sub(r"\1\\ufffd", text)
    return text


def unread(text: str, at: int, why: str) -> tuple[Unread, int]:
    """
    Name the object that begins at a place of a text, and give the place after it.

    Raises
    ------
    ValueError
        When it does not end.
    """
    found: dict[str, str] = {}
    depth, key, is_value, is_meta = 0, "", False, False
    for match in _TOKEN.finditer(text, at):
        token = match[0]
        sign = token[0]
        if sign in "{[":
            depth += 1
            is_meta = is_meta or (depth == 2 and key == "metadata" and sign == "{")
            is_value = False
        elif sign in "}]":
            depth -= 1
            is_meta = is_meta and depth >= 2
            if depth == 0:
                return Unread(why=why, **_named(found)), match.end()
        elif depth > 2:
            continue
        elif sign == '"' and not is_value:
            key = token[1:-1]
        elif sign == '"':
            if is_meta and depth == 2:
                found.setdefault(key, token)
        else:
            is_value = ":" in token
    raise JSONDecodeError("an object does not end", text[at : at + 20], 0)


def _named(found: Mapping[str, str]) -> dict[str, str]:
    words = {word: loads(found[word]) for word in _WORDS if word in found}
    if "resourceVersion" in words:
        words["version"] = words.pop("resourceVersion")
    return words


def reason(error: Exception) -> str:
    """
    Say why an object cannot be parsed.
    """
    if isinstance(error, RecursionError):
        return f"it is nested deeper than {DEEPEST} levels"
    return f"{type(error).__name__}: {error}"


def too_deep(raw: Mapping[str, Any]) -> str | None:
    """
    Give the field of an object below which it is nested too deep; none where none is.
    """
    level: list[tuple[str, Any]] = [("", raw)]
    for _ in range(DEEPEST):
        level = [
            (_place(place, word), inner)
            for place, value in level
            for word, inner in _inside(value)
            if isinstance(inner, Mapping | list)
        ]
        if not level:
            return None
    return level[0][0]


def _inside(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), inner) for key, inner in value.items()]
    return [("", inner) for inner in value]


def _place(place: str, word: str) -> str:
    """
    Name a field by its first words: nobody reads a hundred of them.
    """
    if place.count(".") >= 3 or not word:
        return place
    return f"{place}.{word[:60]}" if place else word[:60]
