"""
Requests over connections of our own.

The client's pool sends one and reads its answer in 0.5 ms of the interpreter, this in
less than 0.1 ms; a scheduler that binds a thousand pods a second does little else.  Who
the server is and how it is trusted are the client's settings; where these ask for more
than a plain connection, ``direct_to`` gives none, and the pool is used.
"""

import socket
import ssl
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from adapters.kube.api.connection import Asked, BrokenOffError, NotConnectedError
from adapters.kube.api.http1 import Response, has_come, request

_MOST_IDLE = 32
_PASSING = (
    TimeoutError,
    ConnectionResetError,
    BrokenPipeError,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
)
_GATHERS = 0.02
"""
The seconds in which what follows an event gathers.

A thread that wakes for each of a thousand events a second spends 0.2 ms on each of
them, one that takes twenty at once 0.06 ms, and one that takes fifty 0.04 ms.  But a
round begins 0.05 s after the last change that was seen, and must not begin in between.
"""


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
        self._port = parts.port or (80 if trust is None else 443)
        self._named = parts.netloc.rpartition("@")[2]
        self._base = parts.path.rstrip("/")
        self._trust = trust
        self._idle: deque[socket.socket] = deque()
        weakref.finalize(self, _close_all, self._idle)

    def follow(self, asked: Asked, connect: float, silence: float) -> "DirectFlow":
        """
        Send a request, and read the answer as it comes.
        """
        method, path, headers, body = asked
        sent = request(method, self._base + path, self._named, headers, body)
        connection = self._idle_one() or self._opened(connect)
        try:
            connection.settimeout(silence)
            connection.sendall(sent)
            return DirectFlow(connection, Response(connection), self._keep)
        except ssl.SSLError as error:  # it may say only now that it does not know us
            connection.close()
            raise BrokenOffError(error, lasting=_lasts(error)) from error
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """
        Close the connections that nobody uses.
        """
        _close_all(self._idle)

    def _keep(self, connection: socket.socket, answer: Response) -> None:
        if not answer.lasts or len(self._idle) >= _MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _idle_one(self) -> socket.socket | None:
        """
        Give a connection that was used before; what the server has ended is closed.
        """
        while (connection := _taken(self._idle)) is not None:
            if not has_come(connection):  # it says nothing else unasked than its end
                return connection
            connection.close()
        return None

    def _opened(self, seconds: float) -> socket.socket:
        made: socket.socket | None = None
        try:
            made = socket.create_connection((self._host, self._port), seconds)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._trust is not None:
                name = self._host.rstrip(".")
                made = self._trust().wrap_socket(made, server_hostname=name)
        except (OSError, ValueError) as error:
            if made is not None:
                made.close()
            server = f"{self._host}:{self._port}"
            raise NotConnectedError(
                error, lasting=_lasts(error), server=server
            ) from error
        return made


class DirectFlow:
    """
    An answer that is read as it comes, in one thread; another may end it.
    """

    def __init__(
        self,
        connection: socket.socket,
        answer: Response,
        keep: Callable[[socket.socket, Response], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._connection = connection
        self._answer = answer
        self._keep = keep
        self._sleep = sleep

    def read(self) -> bytes:
        """
        Read all of it, which gives the connection back.
        """
        body = self._answer.whole()
        self._keep(self._connection, self._answer)
        return body

    def pieces(self) -> Iterator[bytes]:
        """
        Read what has come; then let what follows gather before more is read.
        """
        for piece in self._answer.pieces():
            yield piece
            if not self._answer.has_come():
                self._sleep(_GATHERS)

    def shutdown(self) -> None:
        """
        End it from another thread: who reads it hears that the connection has ended.
        """
        # Not as TLS would: that is the business of the thread that reads.
        socket.socket.shutdown(self._connection, socket.SHUT_RDWR)

    def close(self) -> None:
        """
        Give the connection up.
        """
        self._connection.close()


def direct_to(configuration: Any) -> Direct | None:
    """
    Give connections for the client's settings, where a plain one does.

    There is none where a proxy is between, the server has another name for TLS, or one
    that has to be written in other letters.
    """
    from kubernetes.client.rest import should_bypass_proxies  # noqa: PLC0415

    host = str(configuration.host).rstrip("/")
    proxied = configuration.proxy and not should_bypass_proxies(
        host, configuration.no_proxy or ""
    )
    renamed = configuration.tls_server_name or configuration.assert_hostname is not None
    plain = host.isascii()
    if (
        proxied
        or renamed
        or not plain
        or urlsplit(host).scheme not in {"http", "https"}
    ):
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


def _lasts(error: BaseException) -> bool:
    """
    Tell an error that waiting does not mend from one of a server that is restarted.
    """
    return not isinstance(error, _PASSING)


def _close_all(idle: deque[socket.socket]) -> None:
    while (connection := _taken(idle)) is not None:
        connection.close()


def _taken(idle: deque[socket.socket]) -> socket.socket | None:
    """
    Take the connection that was used last, where there is one.
    """
    try:
        return idle.pop()
    except IndexError:
        return None
