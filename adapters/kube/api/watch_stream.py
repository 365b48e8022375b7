"""
The lines of a watch.
"""

from collections.abc import Iterator

from adapters.kube.api.connection import Flow
from adapters.kube.api.reaching import reaching


class Stream:
    """
    The lines of a watch, until the server ends it or somebody closes it.
    """

    def __init__(self, flow: Flow, what: str) -> None:
        self._flow = flow
        self._what = what

    def __iter__(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        with reaching(self._what):
            for piece in self._flow.pieces():
                first, *more = piece.split(b"\n")
                parts.append(first)
                if more:
                    yield b"".join(parts)
                    *lines, last = more
                    yield from lines
                    parts = [last]
        if tail := b"".join(parts):
            yield tail

    def wake(self) -> None:
        """
        End the stream from another thread.
        """
        try:
            self._flow.shutdown()
        except (ValueError, RuntimeError, OSError):
            return  # it has ended already

    def close(self) -> None:
        """
        Give the connection up; it is in the middle of an answer.
        """
        self._flow.close()
