"""
What a gang is told of a core: one sentence, and the verdict.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.plan import GangLine
from models.why.reasons import Waiting
from models.why.verdicts import Blocker, Verdict, WhyWaits


def told(line: GangLine, *because: Blocker) -> WhyWaits:
    """
    Tell a gang why it waits: the verdict is the first rule of the core.
    """
    return WhyWaits(
        gang=line.name,
        state=line.state,
        verdict=because[0].rule,
        sentence=sentence_of(because),
        because=because,
    )


def no_start(line: GangLine, blocked: Waiting | None) -> WhyWaits:
    """
    Tell a gang that it can never start as written, and why.
    """
    waiting = blocked or line.waiting
    detail = f"can never start as written: {waiting.message if waiting else ''}"
    never = Blocker(rule=Verdict.NEVER, facts={"detail": detail})
    return replace(told(line, never), proof="counting")


def sentence_of(because: Sequence[Blocker]) -> str:
    """
    Say a core in one sentence: what lacks first, without what the verdict says too.
    """
    words = {one.rule for one in because}
    room = {Verdict.ROOM, Verdict.DEVICES}
    less = room if words & {Verdict.TOPOLOGY, Verdict.OUTRANKED} else set()
    less |= {Verdict.LIMIT, Verdict.QUOTA} if Verdict.OUTRANKED in words else set()
    because = [one for one in because if one.rule not in less]
    lacks = [one for one in because if one.rule in {Verdict.ROOM, Verdict.FRAGMENTS}]
    lacks += [one for one in because if one not in lacks]
    return "; ".join(one.sentence for one in lacks)
