"""
A small HTTP server for those who watch over us: health, readiness, metrics.

It answers from memory, in threads of its own, and never waits for the loop.
"""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from adapters.machine.listening import listening_at
from adapters.machine.quiet_server import QuietServer
from adapters.machine.supervised import SupervisedThread

_PATIENCE = 10.0
Problems = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    What is asked for: why we are not alive, why not ready, and all metrics.
    """

    unhealthy: Problems
    unready: Problems
    registry: CollectorRegistry


class HealthServer:
    """
    Answers at ``address``, such as ``:8080`` or ``127.0.0.1:8080``, until ``stop``.

    Raises
    ------
    ListenError
        When the address is none, or is taken.
    """

    def __init__(self, address: str, health: Health) -> None:
        self._server = _Server(listening_at(address), health)
        self.thread = SupervisedThread("health", self._serve)

    @property
    def port(self) -> int:
        """
        The port that we listen on.
        """
        return int(self._server.socket.getsockname()[1])

    def start(self) -> None:
        """
        Begin to answer.
        """
        self.thread.start()

    def stop(self) -> None:
        """
        Answer nobody any more.
        """
        self.thread.stop()
        if self.thread.is_alive:
            self._server.shutdown()
        self._server.server_close()

    def _serve(self) -> None:
        self._server.serve_forever(0.1)


class _Server(QuietServer):
    def __init__(self, listening: socket.socket, health: Health) -> None:
        super().__init__(listening, _Handler)
        self.health = health


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE
    protocol_version = "HTTP/1.1"
    server_version = "phalanx"
    sys_version = ""

    def do_GET(self) -> None:
        """
        Answer one question.
        """
        health = self.server.health
        match urlsplit(self.path).path:
            case "/healthz":
                self._verdict(health.unhealthy())
            case "/readyz":
                self._verdict(health.unready())
            case "/metrics":
                encode, kind = choose_encoder(self.headers.get("Accept") or "")
                self._answer(200, encode(health.registry), kind)
            case _:
                self._text(404, "there are /healthz, /readyz and /metrics")

    do_HEAD = do_GET  # noqa: N815 - the base class calls it so

    def _verdict(self, problems: Sequence[str]) -> None:
        if problems:
            self._text(503, "\n".join(problems))
        else:
            self._text(200, "ok")

    def _text(self, code: int, text: str) -> None:
        self._answer(code, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _answer(self, code: int, body: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """
        Say nothing: who watches asks every few seconds.
        """
