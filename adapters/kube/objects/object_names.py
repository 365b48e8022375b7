"""
What Kubernetes takes as a name.
"""

import re

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
