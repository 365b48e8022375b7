"""
Requests to an API server: raw JSON in pages and lines, a timeout on every call.

The official client gives configuration, credentials and trust; its typed models are
not used (decision 0002).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.connection import Asked, Connections, Flow, whole
from adapters.kube.api.credentials import Credentials
from adapters.kube.api.error_answers import error_of
from adapters.kube.api.errors import NotFoundError, UnreadableError
from adapters.kube.api.list_pages import Pass, Take, read_list
from adapters.kube.api.paths import called, path_of, rule_of, version_of
from adapters.kube.api.reaching import reaching
from adapters.kube.api.watch_stream import Stream

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
    asks.  Where the server does not know us, ``renew`` reads who we are once more, and
    the request is made again.
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
        self._credentials = Credentials(headers, renew)

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

    def watch(self, resource: Resource, version: str, seconds: int) -> Stream:
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
        with reaching(what):
            flow = self._followed(ask, silence)
            if not _is_fine(flow.status):
                raise error_of(ask.what, whole(flow), ask.rule)
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
        with reaching(ask.what):
            reply = whole(self._followed(ask, self.timeouts.read))
        if not _is_fine(reply.status):
            raise error_of(ask.what, reply, ask.rule)
        return reply.body

    def _followed(self, ask: "_Ask", silence: float) -> Flow:
        """
        Send a request; once more where the server does not know us any longer.
        """
        who = self._credentials.known(ask.what)
        flow = self._line.follow(_asked(ask, who), self.timeouts.connect, silence)
        if flow.status != 401 or not self._credentials.is_renewed(who):
            return flow
        flow.close()
        who = self._credentials.known(ask.what)
        return self._line.follow(_asked(ask, who), self.timeouts.connect, silence)


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


def _is_fine(status: int) -> bool:
    return 200 <= status < 300
