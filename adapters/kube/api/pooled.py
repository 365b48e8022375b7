"""
Requests over the client's own pool, where a plain connection does not do.

The client knows of proxies and of other names for TLS.  It is imported inside
functions, for it takes a second.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adapters.kube.api.connection import Asked, BrokenOffError, NotConnectedError


class Pooled:
    """
    Connections to one server that the client makes and keeps.
    """

    def __init__(self, server: str, pool: Any) -> None:
        self._server = server
        self._pool = pool

    def follow(self, asked: Asked, connect: float, silence: float) -> "PooledFlow":
        """
        Send a request, and read the answer as it comes.
        """
        from urllib3 import Timeout  # noqa: PLC0415
        from urllib3.exceptions import (  # noqa: PLC0415
            HTTPError,
            NewConnectionError,
            SSLError,
        )

        method, target, headers, body = asked
        try:
            reply = self._pool.request(
                method,
                self._server + target,
                body=body,
                headers=headers,
                timeout=Timeout(connect=connect, read=silence),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (NewConnectionError, SSLError) as error:
            raise NotConnectedError(error, lasting=True) from error
        except HTTPError as error:
            raise BrokenOffError(error) from error
        return PooledFlow(reply)

    def close(self) -> None:
        """
        Close the connections that nobody uses.
        """
        self._pool.clear()


class PooledFlow:
    """
    An answer of the pool.
    """

    def __init__(self, reply: Any) -> None:
        self.status: int = reply.status
        self.headers = {name.lower(): value for name, value in reply.headers.items()}
        self._reply = reply

    def read(self) -> bytes:
        """
        Read all of it, which gives the connection back to the pool.
        """
        with _said():
            body: bytes = self._reply.read()
            self._reply.release_conn()
        return body

    def pieces(self) -> Iterator[bytes]:
        """
        Read it as it comes, until its end.
        """
        try:
            with _said():
                while piece := self._reply.read1(decode_content=False):
                    yield piece
        except (ValueError, AttributeError) as error:  # another thread has ended it
            raise BrokenOffError(error) from error

    def shutdown(self) -> None:
        """
        End it from another thread.
        """
        self._reply.shutdown()

    def close(self) -> None:
        """
        Give the connection up.
        """
        self._reply.close()


@contextmanager
def _said() -> Iterator[None]:
    """
    Raise the client's errors as those of a line.
    """
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    try:
        yield
    except HTTPError as error:
        raise BrokenOffError(error) from error
