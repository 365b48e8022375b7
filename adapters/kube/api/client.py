"""
Requests to an API server: raw JSON in pages and lines, a timeout on every call.

The official client gives configuration, credentials and trust; its typed models are
not used (decision 0002).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from math import inf
from typing import Any
from urllib.parse import urlencode

from adapters.kube.api.connection import Asked, Flow, Line, LineError, Reply, whole
from adapters.kube.api.errors import (
    AnswerError,
    NotFoundError,
    UnreachableError,
    UnreadableError,
    answer_error,
)
from adapters.kube.api.list_pages import read_list
from adapters.kube.api.paths import called, path_of, rule_of, version_of
from adapters.kube.api.resources import Raw, Resource
from adapters.machine.clock import monotonic

_KNOWN_FOR = 1.0
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
"""
A patch that merges lists by their keys; only built-in kinds know it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """
    Seconds to connect, and seconds of silence that an answer may have.
    """

    connect: float = 5.0
    read: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    The resource version of a list, and the token of its next page.
    """

    version: str
    token: str


class Transport:
    """
    One API server, as one user.

    ``server`` names it to people; ``headers`` gives what a request carries to say who
    asks, asked for anew after a second since tokens expire.
    """

    def __init__(
        self,
        server: str,
        line: Line,
        headers: Callable[[], Mapping[str, str]],
        timeouts: Timeouts,
    ) -> None:
        self.server = server
        self.timeouts = timeouts
        self._line = line
        self._headers = headers
        self._who: tuple[float, Mapping[str, str]] = (-inf, {})

    def page(
        self,
        resource: Resource,
        limit: int,
        token: str,
        take: Callable[[dict[str, Any]], None],
    ) -> Page:
        """
        List one page, the first where there is no token; each object goes to ``take``.
        """
        query = {"limit": str(limit)} | ({"continue": token} if token else {})
        what = f"list {called(resource)}"
        rule = rule_of(resource, "list")
        ask = _Ask("GET", path_of(resource), what, rule=rule, query=query)
        body = self._body(ask)
        version = version_of(resource)

        def named(item: dict[str, Any]) -> None:
            # Inside a list, built-in kinds do not say what they are.
            item.setdefault("apiVersion", version)
            item.setdefault("kind", resource.kind)
            take(item)

        try:
            meta = read_list(body, named).get("metadata") or {}
            return Page(
                version=meta.get("resourceVersion") or "",
                token=meta.get("continue") or "",
            )
        except (ValueError, AttributeError) as error:
            raise UnreadableError(f"cannot {what}: no list came back") from error

    def watch(self, resource: Resource, version: str, seconds: int) -> "Stream":
        """
        Follow what happens after a resource version; the server ends it after a while.

        The read timeout is above the server's, so that only a dead line reaches it.
        """
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        what = f"watch {called(resource)}"
        silence = seconds + self.timeouts.read / 2
        rule = rule_of(resource, "watch")
        ask = _Ask("GET", path_of(resource), what, rule=rule, query=query)
        with _reaching(what):
            flow = self._line.follow(self._asked(ask), self.timeouts.connect, silence)
            if not _is_fine(flow.status):
                raise _error(ask, whole(flow))
        return Stream(flow, what)

    def serves(self, resource: Resource) -> bool:
        """
        Ask the discovery whether a kind is installed, which every user may ask.
        """
        path = path_of(resource).removesuffix(f"/{resource.plural}")
        try:
            answer = self._answer(_Ask("GET", path, f"read {path}"))
        except NotFoundError:
            return False
        named = answer.get("resources") or []
        return any(entry.get("name") == resource.plural for entry in named)

    def call(
        self,
        method: str,
        path: str,
        body: Raw | None = None,
        *,
        rule: str = "",
        form: str = MERGE_PATCH,
    ) -> dict[str, Any]:
        """
        Send one request about one object and give the server's answer.

        ``form`` is how a patch is meant.
        """
        data = None if body is None else json.dumps(body).encode()
        what = f"{method.lower()} {path}"
        kind = form if method == "PATCH" else JSON
        return self._answer(_Ask(method, path, what, rule=rule, body=data, form=kind))

    def close(self) -> None:
        """
        Close the connections that nobody uses.
        """
        self._line.close()

    def _answer(self, ask: "_Ask") -> dict[str, Any]:
        """
        Send a request and read all of its answer, an object.
        """
        body = self._body(ask)
        try:
            answer = json.loads(body)
        except ValueError as error:
            raise UnreadableError(f"cannot {ask.what}: no JSON came back") from error
        if not isinstance(answer, dict):
            raise UnreadableError(f"cannot {ask.what}: no object came back")
        return answer

    def _body(self, ask: "_Ask") -> bytes:
        """
        Send a request and give all of its answer as it came.
        """
        patience = self.timeouts.connect, self.timeouts.read
        with _reaching(ask.what):
            reply = whole(self._line.follow(self._asked(ask), *patience))
        if not _is_fine(reply.status):
            raise _error(ask, reply)
        return reply.body

    def _asked(self, ask: "_Ask") -> Asked:
        """
        Write a request with what it carries besides its body.
        """
        until, who = self._who
        if (now := monotonic()) >= until:
            who = self._headers()
            self._who = now + _KNOWN_FOR, who
        headers = {"Accept": JSON, **who}
        if ask.body is not None:
            headers["Content-Type"] = ask.form
        return ask.method, ask.target, headers, ask.body


@dataclass(frozen=True, slots=True)
class _Ask:
    """
    One request: what it is for in words, and the rule that a role needs for it.
    """

    method: str
    path: str
    what: str
    rule: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    form: str = JSON

    @property
    def target(self) -> str:
        """
        Give the path with its query.
        """
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


class Stream:
    """
    The lines of a watch, until the server ends it or somebody closes it.
    """

    def __init__(self, flow: Flow, what: str) -> None:
        self._flow = flow
        self._what = what

    def __iter__(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        with _reaching(self._what):
            for piece in self._flow.pieces():
                first, *more = piece.split(b"\n")
                parts.append(first)
                if more:
                    yield b"".join(parts)
                    *lines, last = more
                    yield from lines
                    parts = [last]
        if tail := b"".join(parts):
            yield tail

    def wake(self) -> None:
        """
        End the stream from another thread.
        """
        try:
            self._flow.shutdown()
        except (ValueError, RuntimeError, OSError):
            return  # it has ended already

    def close(self) -> None:
        """
        Give the connection up; it is in the middle of an answer.
        """
        self._flow.close()


@contextmanager
def _reaching(what: str) -> Iterator[None]:
    """
    Say which request it was that did not reach the server, or broke off.
    """
    try:
        yield
    except LineError as error:
        raise UnreachableError(what, str(error), lasting=error.lasting) from error
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(what, _why(error)) from error


def _is_fine(status: int) -> bool:
    return 200 <= status < 300


def _error(ask: _Ask, reply: Reply) -> AnswerError:
    """
    Give what an error status means.
    """
    after = reply.headers.get("retry-after") or ""
    seconds = float(after) if after.isdecimal() else None
    message = _message(reply.body)
    return answer_error(ask.what, reply.status, message, rule=ask.rule, seconds=seconds)


def status_error(what: str, status: Mapping[str, Any], rule: str = "") -> AnswerError:
    """
    Give the error that a Status object inside a stream means.
    """
    details = status.get("details") or {}
    return answer_error(
        what,
        int(status.get("code") or 0),
        str(status.get("message") or status.get("reason") or "no message"),
        rule=rule,
        seconds=details.get("retryAfterSeconds"),
    )


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace").strip() or "no message"


def _why(error: BaseException) -> str:
    """
    Say an error of the client without its own repeated names.
    """
    return f"{type(error).__name__}: {error}"
