"""
A small HTTP server on a socket that listens already, and says nothing of who asks.
"""

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietServer(ThreadingHTTPServer):
    """
    Answers each question in a thread that keeps nobody from ending.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, listening: socket.socket, handler: type[BaseHTTPRequestHandler]
    ) -> None:
        super().__init__(("", 0), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """
        Let those go who went away.
        """
