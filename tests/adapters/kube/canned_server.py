"""
A server in a process of its own that gives canned pages as fast as it can.

Run as a module: pods, nodes, events.  It prints its port, then answers until its input
ends.  The events come on the first watch of the pods, all at once.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Event, Thread
from urllib.parse import parse_qsl, urlsplit

from adapters.kube.api.paths import path_of
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from tests.adapters.kube.raw_pods import compact, raw_node, raw_pod

LIMIT = 500
ENDED = Event()
GO = Event()


def pages(written: list[bytes], version: int) -> dict[str, bytes]:
    """
    Write every page, by the token that asks for it.
    """
    found = {}
    for at in range(0, max(1, len(written)), LIMIT):
        more = f',"continue":"{at + LIMIT}"' if at + LIMIT < len(written) else ""
        head = f'{{"metadata":{{"resourceVersion":"{version}"{more}}},"items":['
        found[str(at) if at else ""] = (
            head.encode() + b",".join(written[at : at + LIMIT]) + b"]}"
        )
    return found


def events(pods: int, number: int, nodes: int) -> bytes:
    """
    Write changes of pods, one of two of them a binding.
    """
    chance = Random(7)
    lines = []
    for index in range(number):
        version = 10_000_000 + index
        node = f"node-{chance.randrange(nodes)}" if index % 2 else None
        raw = raw_pod(chance.randrange(pods), version, node)
        lines.append(compact({"type": "MODIFIED", "object": raw}) + b"\n")
    return b"".join(b"%x\r\n%s\r\n" % (len(line), line) for line in lines)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        canned = self.server.canned.get(parts.path)
        if parts.path == "/go":
            GO.set()
            self.answer(200, b"{}")
        elif canned is None:
            self.answer(404, b"404 page not found")
        elif "watch" in query:
            self.watch(parts.path)
        else:
            self.answer(200, canned[query.get("continue", "")])

    def answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self, path: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        if path == "/api/v1/pods":
            GO.wait()
            self.wfile.write(self.server.events)
        ENDED.wait()


def main(pods: int, nodes: int, number: int) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    third = pods // 3
    server.canned = {
        "/api/v1/pods": pages(
            [
                compact(raw_pod(n, n + 1, f"node-{n % nodes}" if n > third else None))
                for n in range(pods)
            ],
            pods + 1,
        ),
        "/api/v1/nodes": pages([compact(raw_node(n, n + 1)) for n in range(nodes)], 1),
    }
    for resource in resources_of(dialects()):
        if resource.needed:
            server.canned.setdefault(path_of(resource), pages([], 1))
    server.events = events(pods, number, nodes)
    Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    ENDED.set()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
