"""
An API server on loopback: lists in pages, watches, and every fault on demand.

It keeps objects and a log of events as a real one does, in memory and without checks.
"""

import json
import socket
import struct
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.paths import path_of
from tests.adapters.kube.raw_pods import compact

PODS = Resource(group="", version="v1", plural="pods", kind="Pod", needed=True)
NODES = Resource(
    group="", version="v1", plural="nodes", kind="Node", namespaced=False, needed=True
)
GROUPS = Resource(
    group="scheduling.example.io", version="v1", plural="podgroups", kind="PodGroup"
)


KEPT = 2000


@dataclass
class Fault:
    """
    One thing that goes wrong, once.

    Of a request: ``status`` (``code``, ``retry_after``), ``silent``, ``slow``.  Of a
    watch's lines: ``truncate``, ``garble``, ``duplicate``, ``replay``, ``reorder``,
    ``hang``, ``end``, ``error``, ``reset``.  ``after`` requests or lines go well first.
    """

    what: str
    after: int = 0
    code: int = 500
    retry_after: int | None = None
    seconds: float = 0.0
    message: str = "said the test"

    @property
    def of_request(self) -> bool:
        return self.what in {"status", "silent", "slow"}


@dataclass
class Kind:
    """
    The objects of one resource, by key, and what happened to them of late.

    ``dropped`` events are no longer in the log; the last of them had version ``floor``.
    """

    resource: Resource
    objects: dict[str, dict] = field(default_factory=dict)
    log: list[tuple[int, bytes]] = field(default_factory=list)
    dropped: int = 0
    floor: int = 0
    ended: int = 0

    def drop(self, number: int) -> None:
        """
        Forget the oldest events.
        """
        if number:
            self.floor = self.log[number - 1][0]
        self.dropped += number
        del self.log[:number]


class ApiServer:
    """
    A server in a thread, for a ``with`` block; ``url`` is where it listens.
    """

    def __init__(self, *resources: Resource) -> None:
        self.changed = threading.Condition()
        self.version = 1000
        self.kinds: dict[str, Kind] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.connections = 0
        self.closing = False
        self._faults: dict[tuple[str, str], deque[Fault]] = {}
        self._lists: dict[str, tuple[int, list[dict]]] = {}
        self._numbers = 0
        for resource in resources:
            self.install(resource)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._http.api = self
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def install(self, resource: Resource) -> None:
        with self.changed:
            self.kinds[path_of(resource)] = Kind(resource)

    def remove(self, resource: Resource) -> None:
        with self.changed:
            self.kinds.pop(path_of(resource)).ended += 1
            self.changed.notify_all()

    def put(self, resource: Resource, raw: dict) -> dict:
        """
        Create or change an object; it gets the next version.
        """
        with self.changed:
            kind = self.kinds[path_of(resource)]
            self.version += 1
            meta = raw["metadata"] | {"resourceVersion": str(self.version)}
            raw = raw | {"metadata": meta}
            event = "MODIFIED" if key_of(raw) in kind.objects else "ADDED"
            kind.objects[key_of(raw)] = raw
            self._happened(kind, event, raw)
            return raw

    def delete(self, resource: Resource, key: str) -> None:
        with self.changed:
            kind = self.kinds[path_of(resource)]
            self.version += 1
            raw = kind.objects.pop(key)
            meta = raw["metadata"] | {"resourceVersion": str(self.version)}
            self._happened(kind, "DELETED", raw | {"metadata": meta})

    def bookmark(self, resource: Resource) -> None:
        with self.changed:
            meta = {"resourceVersion": str(self.version)}
            kind = self.kinds[path_of(resource)]
            self._happened(kind, "BOOKMARK", {"kind": resource.kind, "metadata": meta})

    def compact(self, resource: Resource) -> None:
        """
        Forget the past: watches from before it get 410.
        """
        with self.changed:
            kind = self.kinds[path_of(resource)]
            kind.drop(len(kind.log))
            self.version += 1
            kind.floor = self.version

    def end(self, resource: Resource) -> None:
        """
        End every watch of a resource plainly.
        """
        with self.changed:
            self.kinds[path_of(resource)].ended += 1
            self.changed.notify_all()

    def fault(self, verb: str, resource: Resource, what: str, **how: object) -> None:
        """
        Let the next list or watch of a resource go wrong.
        """
        queue = self._faults.setdefault((verb, path_of(resource)), deque())
        queue.append(Fault(what, **how))

    def faults_left(self) -> int:
        return sum(len(queue) for queue in self._faults.values())

    def count(self, verb: str, resource: Resource) -> int:
        """
        Count the requests so far.
        """
        path = path_of(resource)
        return sum(v == verb and p == path for v, p, _ in self.requests)

    def next_fault(self, verb: str, path: str, *, of_request: bool) -> Fault | None:
        """
        Take the next fault of a request or of its lines, where its turn has come.
        """
        queue = self._faults.get((verb, path))
        if not queue or queue[0].of_request is not of_request:
            return None
        if of_request and queue[0].after:
            queue[0].after -= 1
            return None
        return queue.popleft()

    def page(self, kind: Kind, query: dict[str, str]) -> dict:
        """
        Give one page of the list as it was when its first page was asked for.
        """
        limit = int(query.get("limit", "0"))
        start, token = 0, query.get("continue")
        with self.changed:
            if token:
                name, _, offset = token.partition(":")
                (version, listed), start = self._lists[name], int(offset)
            else:
                version = self.version
                listed = [kind.objects[key] for key in sorted(kind.objects)]
                self._numbers += 1
                name = str(self._numbers)
                self._lists[name] = version, listed
                for old in list(self._lists)[:-20]:
                    del self._lists[old]
        items = listed[start : start + limit] if limit else listed
        meta = {"resourceVersion": str(version)}
        if limit and start + limit < len(listed):
            meta["continue"] = f"{name}:{start + limit}"
        if not kind.resource.group:  # inside a list, built-in kinds do not say these
            items = [
                {k: v for k, v in raw.items() if k not in {"kind", "apiVersion"}}
                for raw in items
            ]
        return {"kind": f"{kind.resource.kind}List", "metadata": meta, "items": items}

    def _happened(self, kind: Kind, event: str, raw: dict) -> None:
        line = compact({"type": event, "object": raw}) + b"\n"
        kind.log.append((self.version, line))
        if len(kind.log) >= 2 * KEPT:
            kind.drop(KEPT)
        self.changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        self.server.api.connections += 1
        with suppress(OSError):  # the client went away
            super().handle()

    def do_GET(self) -> None:
        api: ApiServer = self.server.api
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        verb = "watch" if "watch" in query else "list"
        api.requests.append((verb, parts.path, query))
        fault = api.next_fault(verb, parts.path, of_request=True)
        if fault and self._spoilt(fault):
            return
        kind = api.kinds.get(parts.path)
        if kind is None:
            self._discover(parts.path)
        elif verb == "watch":
            self._watch(kind, parts.path, query)
        else:
            self._answer(200, api.page(kind, query))

    def _spoilt(self, fault: Fault) -> bool:
        if fault.what == "silent":
            self._wait_for_the_end()
            return True
        if fault.what == "slow":
            time.sleep(fault.seconds)
            return False
        more = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
        self._answer(fault.code, status_of(fault), more)
        return True

    def _discover(self, path: str) -> None:
        api: ApiServer = self.server.api
        found = [k for p, k in api.kinds.items() if p.rpartition("/")[0] == path]
        if not found:
            self._answer(404, "404 page not found")
            return
        names = [{"name": kind.resource.plural} for kind in found]
        self._answer(200, {"kind": "APIResourceList", "resources": names})

    def _answer(self, code: int, body: object, headers: dict | None = None) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _watch(self, kind: Kind, path: str, query: dict[str, str]) -> None:
        api: ApiServer = self.server.api
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        if int(query["resourceVersion"]) < kind.floor:
            gone = Fault("error", code=410, message="too old resource version")
            self._chunk(error_line(gone))
        else:
            fault = api.next_fault("watch", path, of_request=False)
            for line in _spoiled(self._lines(kind, query), fault, self):
                self._chunk(line)
        if not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def _lines(self, kind: Kind, query: dict[str, str]) -> Iterator[bytes]:
        """
        Give what happens after a version, until the watch's time or turn is over.
        """
        api: ApiServer = self.server.api
        version, ended = int(query["resourceVersion"]), kind.ended
        until = time.monotonic() + int(query.get("timeoutSeconds", "60"))
        with api.changed:
            at = kind.dropped + bisect_left(kind.log, (version, b""))
        while True:
            with api.changed:
                while at >= kind.dropped + len(kind.log):
                    left = until - time.monotonic()
                    if left <= 0 or api.closing or kind.ended != ended:
                        return
                    api.changed.wait(min(left, 0.1))
                if at < kind.dropped or kind.ended != ended:
                    return  # too slow for the log, or sent away
                batch = kind.log[at - kind.dropped :]
            at += len(batch)
            for number, line in batch:
                if number + (b'"BOOKMARK"' in line[:20]) > version:
                    yield line

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _wait_for_the_end(self) -> None:
        """
        Keep the connection open and say nothing more.
        """
        api: ApiServer = self.server.api
        with api.changed:
            while not api.closing:
                api.changed.wait(0.1)
        self.close_connection = True

    def _reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True


def _spoiled(
    lines: Iterator[bytes], fault: Fault | None, handler: _Handler
) -> Iterator[bytes]:
    """
    Pass lines on, but for what a fault does to one of them.
    """
    sent: list[bytes] = []
    for line in lines:
        if fault is None or len(sent) < fault.after:
            sent.append(line)
            yield line
            continue
        what, current, fault = fault.what, fault, None
        if what == "truncate":
            yield line[: len(line) // 2]
            handler.close_connection = True
            return
        if what in {"hang", "end", "reset"}:
            if what == "hang":
                handler._wait_for_the_end()
            elif what == "reset":
                handler._reset()
            return
        if what == "error":
            yield error_line(current)
            return
        if what == "garble":
            yield line[: len(line) // 2] + b"\n"
        elif what == "duplicate":
            yield line + line
        elif what == "replay":
            yield from (*sent[-3:], line)
        elif what == "reorder":
            yield next(lines, b"") + line


def key_of(raw: dict) -> str:
    meta = raw["metadata"]
    return (
        f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]
    )


def status_of(fault: Fault) -> dict:
    return {
        "kind": "Status",
        "status": "Failure",
        "code": fault.code,
        "message": fault.message,
    }


def error_line(fault: Fault) -> bytes:
    return compact({"type": "ERROR", "object": status_of(fault)}) + b"\n"
