"""
What a server says of an error, as an error of ours.
"""

import json
from collections.abc import Mapping
from typing import Any

from adapters.kube.api.connection import Reply
from adapters.kube.api.errors import AnswerError, answer_error

_SHOWN = 4096


def error_of(what: str, reply: Reply, rule: str = "") -> AnswerError:
    """
    Give what an error status means.
    """
    after = reply.headers.get("retry-after") or ""
    said = _status(reply.body)
    details = _details(said)
    plain = reply.body[:_SHOWN].decode(errors="replace").strip()
    causes = details.get("causes")
    return answer_error(
        what,
        reply.status,
        str(said.get("message") or plain or "no message"),
        rule=rule,
        seconds=_seconds(after or details.get("retryAfterSeconds")),
        causes=[
            str(cause.get("reason"))
            for cause in (causes if isinstance(causes, list) else ())
            if isinstance(cause, dict)
        ],
    )


def status_error(what: str, status: Mapping[str, Any], rule: str = "") -> AnswerError:
    """
    Give the error that a Status object inside a stream means.
    """
    code = status.get("code")
    return answer_error(
        what,
        code if isinstance(code, int) else 0,
        str(status.get("message") or status.get("reason") or "no message"),
        rule=rule,
        seconds=_seconds(_details(status).get("retryAfterSeconds")),
    )


def _status(body: bytes) -> dict[str, Any]:
    """
    Read what a server says of an error; nothing where it is no Status.
    """
    try:
        said = json.loads(body)
    except (RecursionError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _details(status: Mapping[str, Any]) -> dict[str, Any]:
    details = status.get("details")
    return details if isinstance(details, dict) else {}


def _seconds(said: object) -> float | None:
    """
    Read for how long we are asked to wait.
    """
    if isinstance(said, str) and said.isdecimal() and said.isascii():
        said = int(said[:9])
    return float(said) if isinstance(said, int) and 0 <= said < 10**9 else None
