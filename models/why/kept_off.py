"""
What keeps a gang off nodes, in words: drained ones, taints, labels, volumes, others.
"""

from collections.abc import Sequence

from models.why.reasons import Facts, counted, listed
from models.why.resource_words import are
from models.why.verdicts import amount

DRAINED, TAINT, SELECTOR, FREE = "drained", "taint", "selector", "free"
REACHED, ALONE, NEAR, APART, SPREAD = "reached", "alone", "near", "apart", "spread"
"""
Kinds of rules: what a node is, what a gang asks of it, and who else is on it.
"""
_SAID = {
    DRAINED: " {be} closed to new pods, with {free} free",
    TAINT: " is a taint that it does not tolerate{there}",
    SELECTOR: " {is_asked} for{there} without {it}",
    REACHED: "its volumes are only where {at}{there}",
    ALONE: "no two of its pods may share a host{there}",
    NEAR: "must be near {at}",
    APART: "must be apart from {at}",
    SPREAD: "must be spread among {at}",
}


def kept_off(
    kind: str, at: str, nodes: Sequence[str], resource: str, left: int
) -> Facts:
    """
    Say what keeps a gang off some nodes, and how much of a resource is free there.
    """
    free = amount(resource, left)
    there = f"; {free} {are(free)} free on {_named(nodes)}"
    there = there if nodes else ""
    one = " and " not in at
    asked = {
        "be": "is" if len(nodes) < 2 else "are",
        "is_asked": "is asked" if one else "are asked",
        "it": "it" if one else "them",
    }
    said = _SAID[kind].format(at=at, free=free, there=there, **asked)
    return {"kind": kind, "nodes": len(nodes), "there": said}


def free_volumes(at: str, needs: int, has: int, left: int) -> Facts:
    """
    Say how many free volumes are needed, of what kinds, and how many there are.

    Where it is not known how many are needed, ``needs`` is 0.
    """
    free = f"{left:,} of {has:,} {are(str(left))} free" if has else "there is none"
    free = f"{free} where it may be"
    if needs <= left:
        free += ", but not as its pods need them"
    wanted = counted(needs, "free volume") if needs else "free volumes"
    return {"kind": FREE, "there": f"needs {wanted} of {at}; {free}"}


def asks(kind: str, at: str) -> str:
    """
    Say what pods ask of those around them: to be near them, apart, or spread.
    """
    return _SAID[kind].format(at=at, there="")


def beside(
    kind: str, at: str, nodes: Sequence[str], *, by: str = "", how: str = ""
) -> Facts:
    """
    Say what a gang asks of those around it, and what that keeps it off.

    Others ask it of the gang where a selector is named ``by`` which they know it.
    """
    rule = f"{asks(kind, at)}{how}"
    rule = f"others {rule}, and {by} selects it" if by else rule
    off = f"; that keeps it off {_named(nodes)}" if nodes else ""
    return {"kind": kind, "nodes": len(nodes), "there": f"{rule}{off}"}


def _named(nodes: Sequence[str]) -> str:
    return counted(len(nodes), "node") if len(nodes) > 3 else listed(nodes, "node")
