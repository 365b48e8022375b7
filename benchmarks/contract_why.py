"""
The part of the contract that is about answers: why gangs wait, and what would help.
"""

from typing import Literal

from benchmarks.contract_parts import Part


class Asked(Part):
    """
    Of so many gangs that wait, evenly spread, ``each`` of every verdict are timed.
    """

    gangs: int
    each: int


class WhyReach(Part):
    """
    The seconds of the worst answers beyond the round, and the rounds of ``what-if``.

    ``all`` is why, what would help and when together.
    """

    why: float
    all: float
    summary: float | None = None
    rounds: float


class Why(Part):
    """
    Answers about the round of another row, its ``base``; all in one process.

    Without a range of ``summary`` none is made.  ``added`` nodes are what ``what-if``
    is asked of, ``repeat`` times, each time beside a round of its own.
    """

    kind: Literal["Why"]
    name: str
    about: str
    base: str
    asked: Asked
    added: int
    repeat: int
    reach: WhyReach
