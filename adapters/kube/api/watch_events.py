"""
Events of a watch and the objects in them: which, of which version.
"""

import json
from typing import Any

from adapters.kube.api.errors import UnreadableError
from adapters.kube.api.resources import Raw


def parsed(line: bytes, where: str) -> tuple[str, dict[str, Any]]:
    """
    Read one line of a watch: what happened, and to which object.
    """
    try:
        event = json.loads(line)
        kind, raw = event["type"], event["object"]
        if kind != "ERROR":
            number_of(raw["metadata"]["resourceVersion"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(
            f"watch of {where}: a line of {len(line)} bytes is no event"
        ) from error
    return kind, raw


def identity(raw: Raw, where: str) -> tuple[str, int]:
    """
    Give ``namespace/name``, or the name where there is none, and the version.
    """
    try:
        meta: Any = raw["metadata"]
        name, namespace = meta["name"], meta.get("namespace")
        number = number_of(meta.get("resourceVersion") or "")
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{where}: an object without a name") from error
    return f"{namespace}/{name}" if namespace else str(name), number


def number_of(version: str) -> int:
    """
    Read a version as the number it is in practice; 0 where it is none: no order known.
    """
    return int(version) if version.isdecimal() else 0
