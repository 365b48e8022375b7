"""
Objects behind a transport without a server: versions, conflicts, refusals on demand.
"""

from collections.abc import Callable
from copy import deepcopy

from adapters.kube.api.errors import ConflictError, NotFoundError

Fault = Callable[[str, str], None]


class Store:
    """
    Answers ``Transport.call``; ``fault`` may raise before a request is obeyed.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict] = {}
        self.calls: list[tuple[str, str, dict | None]] = []
        self.fault: Fault = lambda _method, _path: None
        self.after: Fault = lambda _method, _path: None
        self._version = 0

    def put(self, path: str, raw: dict) -> None:
        """
        Write as somebody else does.
        """
        self._version += 1
        raw = deepcopy(raw)
        raw.setdefault("metadata", {})["resourceVersion"] = str(self._version)
        self.objects[path] = raw

    @property
    def version(self) -> str:
        """
        Give the version of the last write.
        """
        return str(self._version)

    def call(self, method: str, path: str, body=None, *, rule: str = "") -> dict:
        self.calls.append((method, path, deepcopy(body)))
        self.fault(method, path)
        answer = getattr(self, f"_{method.lower()}")(path, body)
        self.after(method, path)
        return deepcopy(answer)

    def _get(self, path: str, _) -> dict:
        if path not in self.objects:
            raise NotFoundError(f"get {path}", 404, "not found")
        return self.objects[path]

    def _post(self, path: str, body: dict) -> dict:
        if path.endswith("/binding"):
            return self._bind(path.removesuffix("/binding"), body)
        if path.endswith("/eviction"):
            return self._evict(path.removesuffix("/eviction"), body)
        own = f"{path}/{body['metadata']['name']}"
        if own in self.objects:
            raise ConflictError(f"post {own}", 409, "exists")
        self.put(own, body)
        return self.objects[own]

    def _put(self, path: str, body: dict) -> dict:
        held = self._get(path, None)
        wanted = body["metadata"].get("resourceVersion")
        if wanted not in {None, held["metadata"]["resourceVersion"]}:
            raise ConflictError(f"put {path}", 409, "the object has been modified")
        self.put(path, body)
        return self.objects[path]

    def _patch(self, path: str, body: dict) -> dict:
        held = deepcopy(self._get(path, None))
        wanted = body["metadata"].pop("resourceVersion", None)
        if body["metadata"].get("uid") not in {None, held["metadata"].get("uid")}:
            raise ConflictError(f"patch {path}", 409, "another uid")
        if wanted not in {None, held["metadata"]["resourceVersion"]}:
            raise ConflictError(f"patch {path}", 409, "the object has been modified")
        self.put(path, merged(held, body))
        return self.objects[path]

    def _delete(self, path: str, body: dict | None) -> dict:
        held = self._get(path, None)
        wanted = (body or {}).get("preconditions", {}).get("uid")
        if wanted not in {None, held["metadata"].get("uid")}:
            raise ConflictError(f"delete {path}", 409, "another uid")
        return self.objects.pop(path)

    def _bind(self, path: str, body: dict) -> dict:
        pod = self._get(path, None)
        uid = body["metadata"].get("uid")
        if uid not in {None, pod["metadata"].get("uid")}:
            raise ConflictError(f"bind {path}", 409, "another uid")
        if pod["spec"].get("nodeName"):
            raise ConflictError(f"bind {path}", 409, "already assigned")
        pod["spec"]["nodeName"] = body["target"]["name"]
        return {"kind": "Status"}

    def _evict(self, path: str, body: dict) -> dict:
        pod = self._get(path, None)
        wanted = body["deleteOptions"].get("preconditions", {}).get("uid")
        if wanted not in {None, pod["metadata"].get("uid")}:
            raise ConflictError(f"evict {path}", 409, "another uid")
        pod["metadata"]["deletionTimestamp"] = "2026-01-31T09:00:00Z"
        return {"kind": "Status"}


def merged(held: dict, patch: dict) -> dict:
    """
    Patch an object as a merge patch does.
    """
    for key, value in patch.items():
        if value is None:
            held.pop(key, None)
        elif isinstance(value, dict):
            held[key] = merged(dict(held.get(key) or {}), value)
        else:
            held[key] = value
    return held


def raw_pod(name: str, *, node: str | None = None, uid: str = "") -> dict:
    """
    Build a pod of the default namespace.
    """
    spec = {"nodeName": node} if node else {}
    return {"metadata": {"name": name, "uid": uid or f"uid-{name}"}, "spec": spec}


def pod_path(name: str) -> str:
    return f"/api/v1/namespaces/default/pods/{name}"
