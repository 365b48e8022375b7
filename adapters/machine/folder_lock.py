"""
A lock on a folder: of two processes that would write into it, the second is refused.

It goes with its process, however that ends, so nothing is left to be cleaned up.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from models.errors import PhalanxError, printable


class FolderTakenError(PhalanxError):
    """
    Another process writes into the folder.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"another process writes into {printable(str(folder))}: wait until it has "
            "ended, or name another folder"
        )


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """
    Write into a folder alone.

    Raises
    ------
    FolderTakenError
        When somebody else does already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTakenError(folder) from None
        yield
    finally:
        os.close(handle)
