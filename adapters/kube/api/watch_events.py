"""
Events of a watch and the objects in them: which, of which version.
"""

import json
import re
from typing import Any

from adapters.kube.api.api_resources import Raw
from adapters.kube.api.errors import ObjectUnreadError, UnreadableError
from adapters.kube.api.unread import LARGEST, decoded, reason, unread

_OBJECT = '"object":'
_DELETED = re.compile(r'"type"\s*:\s*"DELETED"')


def parsed(line: bytes, where: str) -> tuple[str, dict[str, Any]]:
    """
    Read one line of a watch: what happened, and to which object.

    Raises
    ------
    ObjectUnreadError
        When the object cannot be read, and can be named.
    """
    text = decoded(line)
    try:
        event = json.loads(text)
        kind, raw = event["type"], event["object"]
        if kind != "ERROR":
            number_of(raw["metadata"]["resourceVersion"])
    except (RecursionError, ValueError, KeyError, TypeError, AttributeError) as error:
        if (passed := _passed(text, where, reason(error))) is not None:
            raise passed from error
        raise UnreadableError(
            f"watch of {where}: a line of {len(line)} bytes is not an event"
        ) from error
    if len(text) > LARGEST:
        why = f"its {len(text):,} characters are too many"
        if (passed := _passed(text, where, why)) is not None:
            raise passed
    return kind, raw


def _passed(text: str, where: str, why: str) -> ObjectUnreadError | None:
    """
    Name the object of an event that cannot be read, where it is whole and has a name.
    """
    at = text.find(_OBJECT)
    try:
        found, _ = unread(text, at + len(_OBJECT), why)
        number_of(found.version)
    except (ValueError, AttributeError):
        return None
    if at < 0 or not found.key or not found.version:
        return None
    unread_error = ObjectUnreadError(where, found.key, found.version, found.why)
    unread_error.is_gone = bool(_DELETED.search(text, 0, at))
    return unread_error


def identity(raw: Raw, where: str) -> tuple[str, int]:
    """
    Give ``namespace/name``, or the name where there is none, and the version.
    """
    try:
        meta: Any = raw["metadata"]
        name, namespace = meta["name"], meta.get("namespace")
        if not (name and isinstance(name, str) and isinstance(namespace, str | None)):
            raise TypeError("no text")  # noqa: TRY301 - one error for all
        number = number_of(meta.get("resourceVersion") or "")
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{where}: an object without a name") from error
    return f"{namespace}/{name}" if namespace else name, number


def number_of(version: str) -> int:
    """
    Read a version as the number it is in practice; 0 where it is none: no order known.
    """
    return int(version) if version.isdecimal() else 0
