"""
Who may ask: our own page only, by a name that is ours, off loopback with a token.

A page of another site can make a browser ask us; it must learn nothing.  A name that
somebody points at this machine is not ours, so its pages are none of ours either.
"""

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

COOKIE = "phalanx-ui"
_OWN = frozenset({"same-origin", "none"})
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Guard:
    """
    What is let through: requests to these ``hosts``, with the ``token`` where one is.
    """

    hosts: frozenset[str]
    token: str | None

    def refusal(self, headers: Mapping[str, str], given: str | None) -> str | None:
        """
        Say why a request is refused; nothing where it may pass.

        ``given`` is the token that the address carries, if any.
        """
        host = headers.get("Host", "")
        if host.lower() not in self.hosts:
            return "this name is not served here; open the address that was printed"
        if headers.get("Sec-Fetch-Site", "none") not in _OWN:
            return "asked for by another site"
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "asked for by another site"
        if self.token is None or self._is_known(headers, given):
            return None
        return "the token is missing or wrong; open the address that was printed"

    def _is_known(self, headers: Mapping[str, str], given: str | None) -> bool:
        token = (self.token or "").encode()
        told = given or _cookie(headers.get("Cookie", ""), self.cookie_name)
        return hmac.compare_digest(told.encode(), token)

    @property
    def cookie_name(self) -> str:
        """
        Name the cookie, by port: cookies of all ports of a host are one.
        """
        port = next(iter(sorted(self.hosts)), "").rpartition(":")[2]
        return f"{COOKIE}-{port}"


def _cookie(text: str, name: str) -> str:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def is_loopback(host: str) -> bool:
    """
    Tell whether only this machine can reach an address.
    """
    bare = host.removeprefix("[").removesuffix("]")
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def hosts_of(host: str, port: int, more: tuple[str, ...] = ()) -> frozenset[str]:
    """
    Give the values of ``Host`` that name us, for an address that is listened on.
    """
    names = {name.lower() for name in (*_LOOPBACK, *more)}
    if host and not is_loopback(host):
        bare = host.removeprefix("[").removesuffix("]").lower()
        names.add(f"[{bare}]" if ":" in bare else bare)
    return frozenset(f"{name}:{port}" for name in names)
