"""
The server of the page: the standard library's, one thread for each connection.
"""

import json
import logging
import secrets
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from socket import socket
from urllib.parse import parse_qs, urlsplit

from adapters.machine.listening import listening_at
from adapters.machine.quiet_server import QuietServer
from adapters.machine.supervised import SupervisedThread
from adapters.ui.frame_store import FrameStore
from adapters.ui.guard import Guard, hosts_of, is_loopback
from adapters.ui.page_file import PageFile, page_file

_log = logging.getLogger(__name__)
_PATIENCE = 30.0
_GONE = b'{"gone": "that round is not kept any more"}'
_BEAT = 15.0
MOST_STREAMS = 32
"""
Pages that follow at once; each holds a thread.
"""
_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


@dataclass(frozen=True, slots=True)
class UiAddress:
    """
    Where the page is, ``HOST:PORT``, and by which ``names`` else it is asked for.
    """

    listen: str = "127.0.0.1:0"
    names: tuple[str, ...] = ()
    token: str | None = None

    @property
    def host(self) -> str:
        """
        Give the host that is listened on; none for all.
        """
        return self.listen.rpartition(":")[0]


class UiServer:
    """
    Serves frames, only to this machine unless the address says otherwise.

    Off loopback it wants a token: its own where none was given.

    Raises
    ------
    ListenError
        When the address is none, or is taken.
    """

    def __init__(self, store: FrameStore, address: UiAddress) -> None:
        sock = listening_at(address.listen)
        self.port = int(sock.getsockname()[1])
        token = address.token
        if token is None and not is_loopback(address.host):
            token = secrets.token_urlsafe(24)
        hosts = hosts_of(address.host, self.port, address.names)
        self.guard = Guard(hosts, token)
        self._server = _UiSocket(sock, store, self.guard)
        self._host = address.host or next(iter(address.names), "localhost")
        self.thread = SupervisedThread("ui", self._serve)

    @property
    def is_followed(self) -> bool:
        """
        Tell whether any page is open.
        """
        return self._server.streams > 0

    @property
    def url(self) -> str:
        """
        The address to be opened, with the token where one is wanted.
        """
        where = f"http://{self._host}:{self.port}/"
        return (
            where if self.guard.token is None else f"{where}?token={self.guard.token}"
        )

    def start(self) -> None:
        """
        Begin to serve.
        """
        self.thread.start()

    def stop(self) -> None:
        """
        Serve nobody any more.
        """
        self._server.ends = True
        self.thread.stop()
        if self.thread.is_alive:
            self._server.shutdown()
        self._server.server_close()

    def _serve(self) -> None:
        self._server.serve_forever(0.1)


class _UiSocket(QuietServer):
    def __init__(self, sock: socket, store: FrameStore, guard: Guard) -> None:
        super().__init__(sock, _UiHandler)
        self.store = store
        self.guard = guard
        self.page: PageFile = page_file()
        self.streams = 0
        self.ends = False


class _UiHandler(BaseHTTPRequestHandler):
    server: _UiSocket
    timeout = _PATIENCE
    disable_nagle_algorithm = True  # a body would wait 40 ms for its head's receipt
    protocol_version = "HTTP/1.1"
    server_version = "phalanx"
    sys_version = ""

    def do_GET(self) -> None:
        """
        Answer one question, if it may be asked.
        """
        target = urlsplit(self.path)
        said = {name: values[-1] for name, values in parse_qs(target.query).items()}
        headers = {name.title(): value for name, value in self.headers.items()}
        refusal = self.server.guard.refusal(headers, said.get("token"))
        if refusal is not None:
            self._answer(403, f"{refusal}\n".encode(), "text/plain; charset=utf-8")
            return
        if target.path == "/" and "token" in said and self.server.guard.token:
            self._welcome()
            return
        self._asked(target.path, said)

    do_HEAD = do_GET  # noqa: N815 - the base class calls it so

    def _asked(self, path: str, said: dict[str, str]) -> None:
        store, number = self.server.store, _number(said, "round")
        match path:
            case "/":
                page = self.server.page
                self._answer(200, page.body, "text/html; charset=utf-8", page.policy)
            case "/rounds":
                body = json.dumps(store.lines(), separators=(",", ":")).encode()
                self._answer(200, body, "application/json")
            case "/frame":
                self._packed(store.body(number), number)
            case "/greedy":
                self._packed(store.greedy(number), number)
            case "/why":
                self._packed(store.why(number, _number(said, "gang")), number)
            case "/remedies":
                self._packed(store.remedies(number, _number(said, "gang")), number)
            case "/events" if self.command == "GET":
                self._stream()
            case _:
                self._answer(404, b"there is nothing here\n", "text/plain")

    def _welcome(self) -> None:
        """
        Take the token out of the address, where others could see it.
        """
        guard = self.server.guard
        self.send_response(303)
        self.send_header("Location", "/")
        cookie = f"{guard.cookie_name}={guard.token}; HttpOnly; SameSite=Strict; Path=/"
        self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self._common()
        self.end_headers()

    def _packed(self, body: bytes | None, number: int) -> None:
        """
        Answer for a round: that one is gone is nothing a browser should complain of.
        """
        if body is not None:
            self._answer(200, body, "application/json", encoding="gzip")
        elif 0 <= number <= self.server.store.newest:
            self._answer(200, _GONE, "application/json")
        else:
            self._answer(404, b"there is no such round\n", "text/plain")

    def _answer(
        self,
        code: int,
        body: bytes,
        kind: str,
        policy: str = "default-src 'none'",
        encoding: str = "",
    ) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", policy)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self._common()
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _common(self) -> None:
        for name, value in _HEADERS:
            self.send_header(name, value)

    def _stream(self) -> None:
        """
        Tell of new rounds until the page goes away.
        """
        server = self.server
        if server.streams >= MOST_STREAMS:
            self._answer(503, b"too many pages follow already\n", "text/plain")
            return
        server.streams += 1
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self._common()
            self.end_headers()
            self.close_connection = True
            self._tell()
        finally:
            server.streams -= 1

    def _tell(self) -> None:
        version = -1
        while not self.server.ends:
            newest = self.server.store.wait(version, _BEAT)
            last = self.server.store.newest
            told = f"data: {newest} {last}\n\n"
            text = told if newest != version else ": still here\n\n"
            version = newest
            self.wfile.write(text.encode())
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """
        Say nothing.
        """


def _number(said: dict[str, str], name: str) -> int:
    word = said.get(name, "")
    return int(word) if word.isdecimal() and len(word) < 10 else -1
