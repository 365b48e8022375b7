"""
Sockets to listen on, by an address such as ``:8080`` or ``127.0.0.1:8080``.
"""

import os
import socket

from models.errors import PhalanxError, WrongUseError


class ListenError(PhalanxError):
    """
    Nobody can be listened to at an address.
    """


class NoAddressError(ListenError, WrongUseError, ValueError):
    """
    What is named is no address.
    """


def address_parts(address: str) -> tuple[str, int]:
    """
    Give host and port of an address; without a host it is all interfaces.

    Raises
    ------
    NoAddressError
        When it is none.
    """
    host, colon, word = address.rpartition(":")
    if not colon or not word.isdecimal() or int(word) > 65535:
        raise NoAddressError(f"{address!r} is not an address such as :8080")
    return host.removeprefix("[").removesuffix("]"), int(word)


def listening_at(address: str) -> socket.socket:
    """
    Listen at an address, without a host on all interfaces.

    Raises
    ------
    ListenError
        When the address is none, or is taken.
    """
    host, port = address_parts(address)
    try:
        if not host and socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # What the system says, without what Python adds; of names it has no number.
        number = error.errno or 0
        said = os.strerror(number) if number > 0 else error.strerror
        raise ListenError(f"cannot listen on {address}: {said}") from error
