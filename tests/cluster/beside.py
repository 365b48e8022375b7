"""
Somebody else who works on the same cluster, in a thread.
"""

import threading
from contextlib import suppress
from typing import Self

from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError


class Beside:
    """
    Looks at the cluster again and again, for a ``with`` block.

    What fails is tried again; a connection of its own ``closes`` with the block.
    """

    def __init__(
        self, admin: Transport, *, every: float = 0.1, closes: bool = True
    ) -> None:
        self._admin = admin
        self._every = every
        self._closes = closes
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        if self._closes:
            self._admin.close()

    def _run(self) -> None:
        while not self._stopped.wait(self._every):
            with suppress(ClusterError):
                self.look()

    def look(self) -> None:
        """
        See what there is to do, and do it.
        """
        raise NotImplementedError
