"""
Short requests over connections of our own: one object there, one answer back.

The client's pool does this in 0.5 ms of the interpreter, this in 0.2 ms; a scheduler
that binds hundreds of pods a second does little else.  Who the server is and how it is
trusted are the client's settings; where these ask for more than a plain connection,
``direct_to`` gives none, and the pool is used.
"""

import select
import socket
import ssl
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, cast
from urllib.parse import urlsplit

_MOST_IDLE = 32


class NotConnectedError(OSError):
    """
    No connection came about, so the request was not sent.
    """


@dataclass(frozen=True, slots=True)
class Reply:
    """
    A whole answer: its status, when to come back in the server's words, and its body.
    """

    status: int
    retry_after: str
    body: bytes


class Direct:
    """
    Connections to one server, each used by one thread at a time and then kept.

    ``trust`` is asked for each connection, since certificates are renewed; without it
    nothing is encrypted.
    """

    def __init__(
        self, server: str, trust: Callable[[], ssl.SSLContext] | None = None
    ) -> None:
        parts = urlsplit(server)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._base = parts.path.rstrip("/")
        self._trust = trust
        self._idle: deque[HTTPConnection] = deque()
        weakref.finalize(self, _close_all, self._idle)

    def exchange(
        self,
        request: tuple[str, str, bytes | None],
        headers: dict[str, str],
        connect: float,
        silence: float,
    ) -> Reply:
        """
        Send method, path and body, and read all of the answer.

        Raises
        ------
        NotConnectedError
            When the server cannot be reached, or is not the one we trust.
        OSError, HTTPException
            When it broke off: nobody knows what became of the request.
        """
        connection = self._idle_one() or self._opened(connect)
        method, path, body = request
        kept = False
        try:
            _socket_of(connection).settimeout(silence)
            connection.request(method, self._base + path, body, headers)
            answer = connection.getresponse()
            reply = Reply(
                answer.status, answer.headers.get("Retry-After") or "", answer.read()
            )
            kept = not answer.will_close
        finally:
            if not kept:
                connection.close()
        self._keep(connection)
        return reply

    def close(self) -> None:
        """
        Close the connections that nobody uses.
        """
        _close_all(self._idle)

    def _keep(self, connection: HTTPConnection) -> None:
        if connection.sock is None:
            return
        if len(self._idle) >= _MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _idle_one(self) -> HTTPConnection | None:
        """
        Give a connection that was used before; what the server has ended is closed.
        """
        while (connection := _taken(self._idle)) is not None:
            if not _has_ended(_socket_of(connection)):
                return connection
            connection.close()
        return None

    def _opened(self, seconds: float) -> HTTPConnection:
        made: HTTPConnection | None = None
        try:
            if self._trust is None:
                made = HTTPConnection(self._host, self._port, timeout=seconds)
            else:
                made = HTTPSConnection(
                    self._host, self._port, timeout=seconds, context=self._trust()
                )
            made.connect()
        except (OSError, HTTPException) as error:
            if made is not None:
                made.close()
            raise NotConnectedError(f"{type(error).__name__}: {error}") from error
        return made


def direct_to(configuration: Any) -> Direct | None:
    """
    Give connections for the client's settings, where a plain one does.

    There is none where a proxy is between, or the server has another name for TLS.
    """
    from kubernetes.client.rest import should_bypass_proxies  # noqa: PLC0415

    host = str(configuration.host).rstrip("/")
    proxied = configuration.proxy and not should_bypass_proxies(
        host, configuration.no_proxy or ""
    )
    renamed = configuration.tls_server_name or configuration.assert_hostname is not None
    if proxied or renamed or urlsplit(host).scheme not in {"http", "https"}:
        return None
    if urlsplit(host).scheme == "http":
        return Direct(host)
    return Direct(host, lambda: _trust(configuration))


def _trust(configuration: Any) -> ssl.SSLContext:
    """
    Trust whom the client's settings trust, as who they say we are.
    """
    from urllib3.util import create_urllib3_context  # noqa: PLC0415

    context = create_urllib3_context()
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif configuration.ssl_ca_cert or configuration.ca_cert_data:
        context.load_verify_locations(
            cafile=configuration.ssl_ca_cert, cadata=configuration.ca_cert_data
        )
    else:
        context.load_default_certs()
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def _close_all(idle: deque[HTTPConnection]) -> None:
    while (connection := _taken(idle)) is not None:
        connection.close()


def _taken(idle: deque[HTTPConnection]) -> HTTPConnection | None:
    """
    Take the connection that was used last, where there is one.
    """
    try:
        return idle.pop()
    except IndexError:
        return None


def _socket_of(connection: HTTPConnection) -> socket.socket:
    return cast("socket.socket", connection.sock)


def _has_ended(idle: socket.socket) -> bool:
    """
    Tell whether the server has ended a connection: it says nothing else unasked.
    """
    poll = select.poll()
    poll.register(idle, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))
