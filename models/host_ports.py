"""
Ports of hosts, as resources of which each node has one over all its addresses.

A port on all addresses takes all parts of it, one on a single address takes one part
and that address; so two of the same address, or one of all and any other, are never on
one node, and two of different addresses may be.
"""

from collections.abc import Iterable

from models.resources import HOST_PORTS, Resources

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 - read, and bound to by nobody here
PARTS = 1024


def port_requests(number: int, protocol: str = "TCP", address: str = "") -> Resources:
    """
    Give what a pod asks for that uses a port of its host.
    """
    whole = f"{HOST_PORTS}{protocol}/{number}"
    if address in {"", ALL_ADDRESSES}:
        return {whole: PARTS}
    return {whole: 1, f"{whole}/{address.replace(':', '_')}": 1}


def ports_offered(names: Iterable[str]) -> Resources:
    """
    Give what every node offers of some ports.
    """
    return {name: PARTS if name.count("/") == 2 else 1 for name in sorted(names)}


def is_host_port(resource: str) -> bool:
    """
    Tell whether a resource is a port of a host.
    """
    return resource.startswith(HOST_PORTS)


def port_times(name: str, amount: int) -> int:
    """
    Say how many times an amount is a port, or one of its addresses.
    """
    return -(-amount // ports_offered((name,))[name])


def ports_of(requests: Resources) -> list[tuple[int, str, str]]:
    """
    Give back the ports of some requests: number, protocol, address.
    """
    found = []
    for name, amount in sorted(requests.items()):
        if not is_host_port(name):
            continue
        protocol, number, *address = name.removeprefix(HOST_PORTS).split("/")
        if address or amount == PARTS:
            found.append((int(number), protocol, "".join(address).replace("_", ":")))
    return found
