"""
How the words of other systems are read where their own sources disagree.
"""

from collections.abc import Collection
from enum import StrEnum


class DialectChoice(StrEnum):
    """
    One choice, as people write it; without any, the dialects are read as documented.

    ``PODGROUP_FIRST``: of Koordinator a PodGroup wins over the words of its pods.
    ``KOORDINATOR``, ``ACK``: only one of the two is there, and what both read is its.
    """

    PODGROUP_FIRST = "koordinator=podgroup-first"
    KOORDINATOR = "koordinator=alone"
    ACK = "ack=alone"


def contradiction(choices: Collection[DialectChoice]) -> str | None:
    """
    Say which choices exclude each other; nothing where all can hold.
    """
    one, other = DialectChoice.KOORDINATOR, DialectChoice.ACK
    if one in choices and other in choices:
        return f"{one} and {other} exclude each other"
    return None
