"""
The server on loopback, for those who write: single objects, patches, creations.

A status is only written by its subresource where the kind has one.  ``writes`` are the
requests that would change something, ``refuse`` is what they are answered instead.
"""

import json
from collections import deque
from urllib.parse import urlsplit

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.paths import path_of
from tests.adapters.kube.api_server import ApiServer, Kind, _Handler


class WritingServer(ApiServer):
    def __init__(self, *resources: Resource) -> None:
        super().__init__(*resources)
        self.writes: list[tuple[str, str, dict]] = []
        self.refuse: dict[str, deque[tuple[int, str]]] = {}
        self._http.RequestHandlerClass = _WritingHandler

    def refuse_next(self, plural: str, *answers: int, message: str = "said") -> None:
        """
        Answer the next writes of a kind with these codes.
        """
        queue = self.refuse.setdefault(plural, deque())
        queue.extend((code, message) for code in answers)

    def object(self, resource: Resource, key: str) -> dict:
        return self.kinds[path_of(resource)].objects[key]

    def held(self, resource: Resource) -> list[dict]:
        return list(self.kinds[path_of(resource)].objects.values())

    def find(self, path: str) -> tuple[Kind | None, str, str]:
        """
        Give the kind, the key and the subresource of a path.
        """
        for base, kind in self.kinds.items():
            group, _, plural = base.rpartition("/")
            if not path.startswith(f"{group}/"):
                continue
            rest = path.removeprefix(f"{group}/").split("/")
            space = ""
            if rest[0] == "namespaces" and len(rest) > 2:
                space, rest = rest[1], rest[2:]
            if rest[0] == plural:
                name = rest[1] if len(rest) > 1 else ""
                key = f"{space}/{name}" if space else name
                return kind, key, rest[2] if len(rest) > 2 else ""
        return None, "", ""


class _WritingHandler(_Handler):
    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        api: WritingServer = self.server.api
        path = urlsplit(self.path).path
        if path not in api.kinds:
            kind, key, _ = api.find(path)
            if kind is not None and key.rpartition("/")[2]:
                self._one(kind, key)
                return
        super().do_GET()

    def do_PATCH(self) -> None:  # noqa: N802 - the base class calls it so
        api: WritingServer = self.server.api
        body = self._noted("PATCH")
        kind, key, sub = api.find(urlsplit(self.path).path)
        if body is None or kind is None:
            return
        with api.changed:
            raw = kind.objects.get(key)
            if raw is None:
                self._say(404, f"{key} not found")
                return
            meta = body.pop("metadata", {})
            for word in ("uid", "resourceVersion"):
                if word in meta and meta.pop(word) != raw["metadata"].get(word):
                    self._say(409, f"the {word} is another one")
                    return
            if sub == "status" and set(body) != {"status"}:
                self._say(422, "only the status is written here")
                return
            strategic = "strategic" in self.headers["Content-Type"]
            patched = merged(raw, {**body, "metadata": meta}, strategic=strategic)
            self._answer(
                200, patched if patched == raw else api.put(kind.resource, patched)
            )

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        api: WritingServer = self.server.api
        body = self._noted("POST")
        kind, key, _ = api.find(urlsplit(self.path).path)
        if body is None or kind is None:
            return
        key += body["metadata"]["name"]
        if key in kind.objects:
            self._say(409, f"{key} exists")
        else:
            self._answer(201, api.put(kind.resource, body))

    def _noted(self, verb: str) -> dict | None:
        """
        Read a write and note it; none when it is refused.
        """
        api: WritingServer = self.server.api
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urlsplit(self.path).path
        api.writes.append((verb, path, json.loads(json.dumps(body))))
        kind, _, _ = api.find(path)
        if kind is None:
            self._say(404, "no such kind")
            return None
        refused = api.refuse.get(kind.resource.plural)
        if refused:
            code, message = refused.popleft()
            if code:
                self._say(code, message)
                return None
        return body

    def _one(self, kind: Kind, key: str) -> None:
        raw = kind.objects.get(key)
        if raw is None:
            self._say(404, f"{key} not found")
        else:
            self._answer(200, raw)

    def _say(self, code: int, message: str) -> None:
        status = {"kind": "Status", "status": "Failure", "code": code}
        self._answer(code, status | {"message": message})


def merged(raw: object, patch: object, *, strategic: bool) -> object:
    """
    Lay a merge patch on an object; a strategic one merges conditions by type.
    """
    if isinstance(patch, list) and strategic and isinstance(raw, list):
        by_type = {entry["type"]: entry for entry in raw}
        for entry in patch:
            by_type[entry["type"]] = merged(
                by_type.get(entry["type"], {}), entry, strategic=True
            )
        return list(by_type.values())
    if not isinstance(patch, dict):
        return patch
    result = dict(raw) if isinstance(raw, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key, {}), value, strategic=strategic)
    return result
