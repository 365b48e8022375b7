"""
Remedies: changes with which a gang that waits would start, and what they cost others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.changes import Change
from models.devices.gpu_counts import in_gpus
from models.memory.start_record import LikelyStart
from models.why.verdicts import Blocker, Verdict, WhyWaits

STARTS = ("Starting", "Reserved")
"""
States of gangs that a plan starts.
"""


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

    @property
    def rank(self) -> tuple[int, int]:
        """
        Put those first that start most more than they stop, of these the cheapest.
        """
        return len(self.waits) - len(self.starts), self.price


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


def others_changed(
    before: Mapping[str, str], after: Mapping[str, str], gang: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """
    List which others start, no longer start, and leave, be it to start elsewhere.

    Who would have started and now has a reserved place waits until others have left.
    """
    starts, waits, leaves = list[str](), list[str](), list[str]()
    for name in sorted(set(before) - {gang}):
        was, now = before[name], after.get(name)
        if was == "Running" and now in (*STARTS, "Waiting"):
            leaves.append(name)
        elif now in STARTS and was not in (*STARTS, "Growing"):
            starts.append(name)
        elif (was, now) == ("Starting", "Reserved") or (
            now == "Waiting" and was in (*STARTS, "Growing")
        ):
            waits.append(name)
        elif now == "Evicting" and was != "Evicting":
            leaves.append(name)
    return tuple(starts), tuple(waits), tuple(leaves)


def held_back(
    whys: Sequence[WhyWaits], shares: Mapping[str, int]
) -> tuple[HeldBack, ...]:
    """
    Count gangs by the rule that decides, those first that hold back most GPUs.

    The GPUs that each gang needs are given in 1/7000.
    """
    found: dict[tuple[Verdict, str], list[str]] = {}
    for why in whys:
        first = why.because[0] if why.because else Blocker(rule=why.verdict)
        found.setdefault((first.rule, first.at), []).append(why.gang)
    rows = [
        HeldBack(
            rule=rule,
            at=at,
            gangs=len(names),
            gpus=in_gpus(sum(shares[x] for x in names)),
        )
        for (rule, at), names in found.items()
    ]
    return tuple(sorted(rows, key=lambda x: (-x.gpus, -x.gangs, x.rule, x.at)))
