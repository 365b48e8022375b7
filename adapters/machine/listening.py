"""
Sockets to listen on, by an address such as ``:8080`` or ``127.0.0.1:8080``.
"""

import socket

from models.errors import PhalanxError, WrongUseError


class ListenError(PhalanxError):
    """
    Nobody can be listened to at an address.
    """


class NoAddressError(ListenError, WrongUseError):
    """
    What is named is no address.
    """


def listening_at(address: str) -> socket.socket:
    """
    Listen at an address, without a host on all interfaces.

    Raises
    ------
    ListenError
        When the address is none, or is taken.
    """
    host, colon, word = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not word.isdecimal() or int(word) > 65535:
        raise NoAddressError(f"{address!r} is not an address such as :8080")
    try:
        if not host and socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", int(word)), family=socket.AF_INET6, dualstack_ipv6=True
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, int(word)), family=family)
    except OSError as error:
        raise ListenError(f"cannot listen on {address}: {error.strerror}") from error
