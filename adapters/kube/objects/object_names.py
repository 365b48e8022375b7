"""
What Kubernetes takes as a name.
"""

import re
from collections.abc import Mapping

from adapters.kube.objects.fields import Json, shown

_LONGEST = 253
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)


def is_label(name: str) -> bool:
    """
    Tell whether a name is an RFC 1123 label.
    """
    return _LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """
    Tell whether a name is an RFC 1123 subdomain.
    """
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


def described(raw: Json) -> str:
    """
    Name an object for people, whatever it holds.
    """
    meta = raw.get("metadata")
    kind = raw.get("kind") if isinstance(raw.get("kind"), str) else "object"
    if not isinstance(meta, Mapping):
        return f"{kind} without metadata"
    name, namespace = meta.get("name"), meta.get("namespace")
    where = f"{_short(namespace)}/" if isinstance(namespace, str) else ""
    return f"{_short(kind)} {where}{_short(name)}"


def _short(word: object) -> str:
    """
    Write a word as it is, where it may be one.
    """
    return word if isinstance(word, str) and len(word) <= _LONGEST else shown(word)
