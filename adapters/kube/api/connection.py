"""
What requests to an API server go over: connections of our own, or the client's pool.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

Asked = tuple[str, str, Mapping[str, str], bytes | None]
"""
Method, path, headers and body of a request.
"""


class LineError(OSError):
    """
    A request did not come through; ``lasting`` says that waiting is of little use.
    """

    def __init__(
        self, error: BaseException, *, lasting: bool = False, server: str = ""
    ) -> None:
        self.lasting = lasting
        at = f" at {server}" if server else ""
        super().__init__(f"{type(error).__name__}: {error}{at}")


class NotConnectedError(LineError):
    """
    No connection came about, so the request was not sent.
    """


class BrokenOffError(LineError):
    """
    An answer ended in the middle, or never came.
    """


@dataclass(frozen=True, slots=True)
class Reply:
    """
    A whole answer; its headers are by their names in lower case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Flow(Protocol):
    """
    An answer that is read as it comes, in one thread; another may end it.
    """

    @property
    def status(self) -> int:
        """
        The status of the answer.
        """
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """
        The headers by their names in lower case.
        """
        ...

    def read(self) -> bytes:
        """
        Read all of it, which gives the connection back.
        """
        ...

    def pieces(self) -> Iterator[bytes]:
        """
        Read it as it comes, until its end.
        """
        ...

    def shutdown(self) -> None:
        """
        End it from another thread: who reads it hears that the connection has ended.
        """
        ...

    def close(self) -> None:
        """
        Give the connection up.
        """
        ...


class Connections(Protocol):
    """
    A way to one server.
    """

    def follow(self, asked: Asked, connect: float, silence: float) -> Flow:
        """
        Send a request and read the head of its answer, patient for so many seconds.

        Raises
        ------
        NotConnectedError
            When the server cannot be reached, or is not the one we trust.
        OSError, HTTPException
            When it broke off, here or later: nobody knows what became of the request.
        """
        ...

    def close(self) -> None:
        """
        Close the connections that nobody uses.
        """
        ...


def whole(flow: Flow) -> Reply:
    """
    Read an answer to its end.
    """
    try:
        return Reply(flow.status, flow.headers, flow.read())
    except BaseException:
        flow.close()
        raise
