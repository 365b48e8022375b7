"""
Remedies: changes with which a gang that waits would start, and what they cost others.
"""

from dataclasses import dataclass

from models.changes import Change
from models.memory.start_record import LikelyStart
from models.why.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """
    Changes with which the round starts the gang: planned, and judged.

    ``starts``, ``waits`` and ``leaves`` are what others gain and lose by it.  With
    ``alone`` it was planned as if nobody else waited: others may take the room first.
    """

    changes: tuple[Change, ...]
    price: int
    alone: bool = False
    starts: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """
    What helps, cheapest first; ``tried`` rounds were planned.

    ``untried`` changes were left out, since trying them all would take too long.
    That nothing helps is ``proven`` where all was tried, and no plan starts more.
    With ``later`` they start it in the round after this plan.
    """

    found: tuple[Remedy, ...] = ()
    tried: int = 0
    untried: int = 0
    proven: bool = False
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenStarts:
    """
    In how many seconds a gang starts at the ``latest``; none where nobody knows.

    ``about`` is by when such gangs started, where enough of them are on record.
    """

    latest: int | None = None
    about: LikelyStart | None = None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """
    How many gangs, and of how many GPUs, one rule holds back, and where.
    """

    rule: Verdict
    at: str
    gangs: int
    gpus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WhySummary:
    """
    What holds back all that waits, most GPUs first, and the change that starts most.

    ``best`` is none where no single change starts anybody else.
    """

    gangs: int
    gpus: float
    blockers: tuple[HeldBack, ...]
    best: Remedy | None = None
    tried: int = 0
    untried: int = 0
