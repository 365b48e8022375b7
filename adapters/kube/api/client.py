"""
Requests to an API server: raw JSON in pages and lines, a timeout on every call.

The official client gives configuration, credentials and trust; its typed models are
not used (decision 0002).
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from math import inf
from typing import Any
from urllib.parse import urlencode

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.connection import (
    Asked,
    Connections,
    Flow,
    LineError,
    Reply,
    whole,
)
from adapters.kube.api.errors import (
    AnswerError,
    CredentialsError,
    NotFoundError,
    UnreachableError,
    UnreadableError,
    answer_error,
)
from adapters.kube.api.list_pages import Pass, Take, read_list
from adapters.kube.api.paths import called, path_of, rule_of, version_of
from adapters.machine.clock import monotonic
from models.errors import printable

_log = logging.getLogger(__name__)
_KNOWN_FOR = 1.0
_RENEW_EVERY = 5.0
_SHOWN = 4096
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
class ListPage:
    """
    The resource version of a list, and the token of its next page.
    """

    version: str
    token: str


class Transport:
    """
    One API server, as one user.

    ``server`` names it to people; ``headers`` gives what a request carries to say who
    asks, asked for anew after a second since tokens expire.  Where the server does not
    know us, ``renew`` reads who we are once more, and the request is made again.
    """

    def __init__(
        self,
        server: str,
        line: Connections,
        headers: Callable[[], Mapping[str, str]],
        timeouts: Timeouts,
        renew: Callable[[], None] | None = None,
    ) -> None:
        self.server = server
        self.timeouts = timeouts
        self._line = line
        self._headers = headers
        self._who: tuple[float, Mapping[str, str]] = (-inf, {})
        self._renew = renew
        self._renewing = threading.Lock()
        self._renewed_at = -inf

    def page(
        self,
        resource: Resource,
        limit: int,
        token: str,
        take: Take,
        skip: Pass = lambda _: None,
    ) -> ListPage:
        """
        List one page, the first where there is no token; each object goes to ``take``.

        One that cannot be read goes to ``skip``.
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
            meta = read_list(body, named, skip).get("metadata") or {}
            return ListPage(
                version=str(meta.get("resourceVersion") or ""),
                token=str(meta.get("continue") or ""),
            )
        except (RecursionError, ValueError, AttributeError) as error:
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
            flow = self._followed(ask, silence)
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
        except (RecursionError, ValueError) as error:
            raise UnreadableError(f"cannot {ask.what}: no JSON came back") from error
        if not isinstance(answer, dict):
            raise UnreadableError(f"cannot {ask.what}: no object came back")
        return answer

    def _body(self, ask: "_Ask") -> bytes:
        """
        Send a request and give all of its answer as it came.
        """
        with _reaching(ask.what):
            reply = whole(self._followed(ask, self.timeouts.read))
        if not _is_fine(reply.status):
            raise _error(ask, reply)
        return reply.body

    def _followed(self, ask: "_Ask", silence: float) -> Flow:
        """
        Send a request; once more where the server does not know us any longer.
        """
        who = self._known(ask.what)
        flow = self._line.follow(_asked(ask, who), self.timeouts.connect, silence)
        if flow.status != 401 or not self._is_renewed(who):
            return flow
        flow.close()
        who = self._known(ask.what)
        return self._line.follow(_asked(ask, who), self.timeouts.connect, silence)

    def _known(self, what: str) -> Mapping[str, str]:
        """
        Give what says who we are; where it cannot be read, what said so last.
        """
        until, who = self._who
        if (now := monotonic()) >= until:
            try:
                who = self._headers()
            except Exception as error:
                said = printable(f"{type(error).__name__}: {error}")
                if not who:
                    said = f"what says who we are cannot be read: {said}"
                    raise CredentialsError(f"cannot {what}: {said}") from error
                _log.warning("credentials_not_read", extra={"fields": {"error": said}})
            self._who = now + _KNOWN_FOR, who
        return who

    def _is_renewed(self, used: Mapping[str, str]) -> bool:
        """
        Read who we are once more; tell whether there is something new to try.
        """
        with self._renewing:
            now = monotonic()
            if self._renew is None or self._who[1] != used:
                return self._renew is not None  # another thread has read it
            if now < self._renewed_at + _RENEW_EVERY:
                return False
            self._renewed_at = now
            try:
                self._renew()
            except Exception as error:  # noqa: BLE001 - the answer says what is wrong
                said = printable(f"{type(error).__name__}: {error}")
                _log.warning("credentials_not_read", extra={"fields": {"error": said}})
                return False
            self._who = -inf, self._who[1]
            return True


def _asked(ask: "_Ask", who: Mapping[str, str]) -> Asked:
    """
    Write a request with what it carries besides its body.
    """
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
    said = _status(reply.body)
    details = _details(said)
    plain = reply.body[:_SHOWN].decode(errors="replace").strip()
    causes = details.get("causes")
    return answer_error(
        ask.what,
        reply.status,
        str(said.get("message") or plain or "no message"),
        rule=ask.rule,
        seconds=_seconds(after or details.get("retryAfterSeconds")),
        causes=[
            str(cause.get("reason"))
            for cause in (causes if isinstance(causes, list) else ())
            if isinstance(cause, dict)
        ],
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


def _why(error: BaseException) -> str:
    """
    Say an error of the client without its own repeated names.
    """
    return f"{type(error).__name__}: {error}"
