"""
HTTP/1.1 as a scheduler needs it: a request in one write, an answer read whole.

The library's own client takes 0.2 ms of the interpreter for this, most of it for
headers that nobody asks for; this takes less than 0.1 ms.
"""

import select
import socket
import ssl
from collections.abc import Iterator, Mapping
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from re import compile as pattern

_PIECE = 16_384  # what one record of TLS holds
_MOST_HEAD = 65_536
_MOST_MORE = 100
_STATUS = pattern(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?")
_TARGET = pattern(r"[!-~]+")
_LENGTH = pattern(r"[0-9]{1,18}")
_HEX = pattern(rb"[0-9a-fA-F]{1,8}")
_WITHOUT_BODY = (204, 304)


def request(
    method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    """
    Write a request with all that it carries.

    Raises
    ------
    HTTPException
        When a part of it would be read as more than it is.
    """
    if not _TARGET.fullmatch(target):
        raise HTTPException(f"{target!r} is not the path of a request")
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join((*lines, "", ""))
    if not head.count("\r") == head.count("\n") == len(lines) + 1 or "\0" in head:
        raise HTTPException("a header of the request has a line break")
    return head.encode("latin-1", "replace") + (body or b"")


def has_come(connection: socket.socket) -> bool:
    """
    Tell whether anything can be read without waiting for it, be it the end.
    """
    if isinstance(connection, ssl.SSLSocket) and connection.pending():
        return True
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


class Response:
    """
    The answer to the request that was sent over a connection, from its head on.

    ``headers`` are by their names in lower case.  Nothing is held of the body but what
    has come and was not taken.  All of it raises ``OSError`` or ``HTTPException`` where
    the answer breaks off, or is none.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._inbox = _Inbox(connection)
        self.status, minor, self.headers = _head(self._inbox)
        for _ in range(_MOST_MORE):
            if not 100 <= self.status < 200:
                break
            self.status, minor, self.headers = _head(self._inbox)  # more is to come
        else:
            raise HTTPException("the answer never begins")
        word = self.headers.get("connection", "").lower()
        self._lasts = "close" not in word and (minor == 1 or "keep-alive" in word)
        self._over = False

    @property
    def lasts(self) -> bool:
        """
        Tell whether all was read and the connection may be used again.
        """
        return self._over and self._lasts and self._inbox.is_empty

    def whole(self) -> bytes:
        """
        Read all of the body.
        """
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """
        Read the body as it comes, until its end.
        """
        length = self.headers.get("content-length")
        if self.status in _WITHOUT_BODY:
            pass
        elif (coding := self.headers.get("transfer-encoding")) is not None:
            if coding.lower() != "chunked":
                raise HTTPException(f"the answer has the encoding {coding!r}")
            yield from self._chunks()
        elif length is not None:
            if not _LENGTH.fullmatch(length):
                raise HTTPException(f"the answer has a length of {length!r}")
            yield self._inbox.take(int(length))
        else:
            self._lasts = False
            yield from self._inbox.rest()
        self._over = True

    def has_come(self) -> bool:
        """
        Tell whether anything has come that was not taken.
        """
        return self._inbox.has_come()

    def _chunks(self) -> Iterator[bytes]:
        """
        Read a body that comes in pieces, each after its length.
        """
        inbox = self._inbox
        while True:
            word = inbox.until(b"\r\n").partition(b";")[0].strip()
            if not _HEX.fullmatch(word):
                raise HTTPException(f"a chunk has the length {word[:50]!r}")
            if not (size := int(word, 16)):
                break
            piece = inbox.take(size)
            if inbox.take(2) != b"\r\n":
                raise HTTPException("a chunk is longer than it says")
            yield piece
        for _ in range(_MOST_MORE):
            if not inbox.until(b"\r\n"):
                return
        raise HTTPException("the trailer of the answer never ends")


def _head(inbox: "_Inbox") -> tuple[int, int, dict[str, str]]:
    """
    Read a status, the minor version, and headers; those said twice are joined.
    """
    first, *lines = inbox.until(b"\r\n\r\n").split(b"\r\n")
    found = _STATUS.fullmatch(first)
    if found is None:
        raise BadStatusLine(first[:200].decode("latin-1"))
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name or name != name.strip():
            raise HTTPException(f"the answer has a header {line[:200]!r}")
        key, value = name.lower(), value.strip()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return int(found[2]), int(found[1]), headers


class _Inbox:
    """
    What came over a connection and was not taken yet.
    """

    __slots__ = ("_at", "_connection", "_held")

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._held = b""
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """
        Tell whether all that was read was taken.
        """
        return self._at == len(self._held)

    def has_come(self) -> bool:
        """
        Tell whether more can be taken without waiting for it.
        """
        return not self.is_empty or has_come(self._connection)

    def until(self, mark: bytes) -> bytes:
        """
        Take what comes before a mark, and the mark.
        """
        while (end := self._held.find(mark, self._at)) < 0:
            if len(self._held) - self._at > _MOST_HEAD:
                raise HTTPException(f"a head of more than {_MOST_HEAD} bytes")
            self._held = self._held[self._at :] + self._more()
            self._at = 0
        taken = self._held[self._at : end]
        self._at = end + len(mark)
        return taken

    def take(self, size: int) -> bytes:
        """
        Take so many bytes.
        """
        end = self._at + size
        if end <= len(self._held):
            taken = self._held[self._at : end]
            self._at = end
            return taken
        parts = [self._held[self._at :]]
        left = size - len(parts[0])
        while left > 0:
            parts.append(self._more())
            left -= len(parts[-1])
        last = parts[-1]
        self._held, self._at = last, len(last) + left
        parts[-1] = last[: self._at]
        return b"".join(parts)

    def rest(self) -> Iterator[bytes]:
        """
        Take what comes until the connection ends.
        """
        piece = self._held[self._at :]
        self._held, self._at = b"", 0
        if piece:
            yield piece
        while piece := self._connection.recv(_PIECE):
            yield piece

    def _more(self) -> bytes:
        piece = self._connection.recv(_PIECE)
        if not piece:
            raise RemoteDisconnected("the connection ended before the answer did")
        return piece
