"""
A server on loopback that lets nobody do more than some roles grant, and notes what was.

It is contrary: the first time that an object is patched or bound, or one of a few kinds
is made, somebody else seems to have been faster.
"""

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.paths import path_of, version_of
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from tests.adapters.kube.run_server import RunServer, _RunHandler
from tests.adapters.role.grants import Grant, covering, grants_of, needed_for

MADE_BEFORE = {"events", "bindrequests", "resourceclaims"}
"""
What is there already, just as it was to be made, where it is made for the first time.
"""


class RoleServer(RunServer):
    """
    ``used`` are the grants that requests needed, ``refused`` requests without any.
    """

    def __init__(self, roles: Iterable[dict]) -> None:
        super().__init__()
        self.granted = frozenset(grants_of(roles))
        self.used: set[Grant] = set()
        self.refused: set[str] = set()
        self._met: set[tuple[str, str]] = set()
        self._uids = 0
        for resource in resources_of(dialects()):
            if path_of(resource) not in self.kinds:
                self.install(resource)
        self.resources = {
            (version_of(kind.resource), kind.resource.kind): kind.resource
            for kind in self.kinds.values()
        }
        self._http.RequestHandlerClass = _RoleHandler

    @property
    def unused(self) -> set[Grant]:
        return set(self.granted - self.used)

    def stand(self, *raws: dict) -> None:
        """
        Write objects as somebody else does.
        """
        for raw in raws:
            self.put(self.resources[raw["apiVersion"], raw["kind"]], raw)

    def put(self, resource: Resource, raw: dict) -> dict:
        self._uids += 1
        meta = {"uid": f"uid-{self._uids}", **raw["metadata"]}
        return super().put(resource, raw | {"metadata": meta})

    def may(self, method: str, target: str) -> bool:
        """
        Tell whether a request is granted, and note by what.
        """
        for needed in needed_for(method, target):
            by = next((g for g in covering(needed) if g in self.granted), None)
            if by is None:
                self.refused.add(str(needed))
                return False
            self.used.add(by)
        return True

    def is_first(self, method: str, path: str) -> bool:
        """
        Tell whether something is done for the first time.
        """
        with self.changed:
            is_met = (method, path) in self._met
            self._met.add((method, path))
            return not is_met


class _RoleHandler(_RunHandler):
    def parse_request(self) -> bool:
        """
        Answer what is not granted, and what meets somebody faster.
        """
        api: RoleServer = self.server.api
        if not super().parse_request():
            return False
        path = urlsplit(self.path).path
        if not api.may(self.command, self.path):
            self._dismissed(403, "no role grants it")
            return False
        is_met = self.command == "PATCH" or path.endswith("/binding")
        if is_met and api.is_first(self.command, path):
            self._dismissed(409, "somebody else was faster")
            return False
        return True

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        api: RoleServer = self.server.api
        path = urlsplit(self.path).path
        if path.endswith("selfsubjectaccessreviews"):
            asked = self._body()["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked["subresource"])))
            needed = Grant(
                asked["group"],
                resource,
                asked["verb"],
                asked["namespace"],
                asked.get("name", ""),
            )
            is_granted = not api.granted.isdisjoint(covering(needed))
            self._answer(201, {"status": {"allowed": is_granted}})
            return
        kind, _, sub = api.find(path)
        plural = kind.resource.plural if kind else ""
        if not sub and plural in MADE_BEFORE and api.is_first("POST", path):
            api.put(kind.resource, self._body())
            self._say(409, "it is there already")
            return
        super().do_POST()

    def do_DELETE(self) -> None:  # noqa: N802 - the base class calls it so
        api: RoleServer = self.server.api
        self._body()
        kind, key, _ = api.find(urlsplit(self.path).path)
        if kind is None or key not in kind.objects:
            self._say(404, f"{key} not found")
            return
        api.delete(kind.resource, key)
        self._answer(200, {"kind": "Status"})

    def _body(self) -> dict:
        data = self.rfile.read(int(self.headers["Content-Length"] or 0))
        return json.loads(data or b"{}")

    def _dismissed(self, code: int, message: str) -> None:
        self._body()
        self._say(code, message)
