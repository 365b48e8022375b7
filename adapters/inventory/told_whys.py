"""
What a gang that waits is told in the cluster: written, and read again from there.

It is the reason, then what the gang waits for where that was proven, then a sentence,
then when it starts where that is known.
"""

import re
from datetime import UTC, datetime

from adapters.inventory.listed import STARTS, Why
from models.why.reasons import Reason
from models.why.remedies import WhenStarts
from models.why.verdicts import Verdict, WhyWaits, verdict_named

_REASONS = frozenset(reason.value for reason in Reason)
_VERDICTS = frozenset(verdict.value for verdict in Verdict)
_STARTS = re.compile(r"; starts (by \S+ (?:at the latest|in 8 of 10 cases))$")
_GRIDS = ((3600, 300), (86400, 900))
_COARSE = 3600


def sentence_of(why: WhyWaits, when: WhenStarts, now: float) -> str:
    """
    Say why a gang waits and when it starts, so that it stays as it is for a while.

    Parameters
    ----------
    why
        What was proven.
    when
        In how many seconds it starts at the latest, else likely, if somebody knows.
    now
        The time of day of the round, in seconds since the epoch.
    """
    latest = when.latest
    seconds = when.about.most if latest is None and when.about else latest
    if seconds is None:
        return why.short
    grid = next((grid for most, grid in _GRIDS if seconds < most), _COARSE)
    by = -int(-(now + seconds) // grid) * grid
    moment = datetime.fromtimestamp(by, tz=UTC).strftime("%Y-%m-%dT%H:%MZ")
    sure = "in 8 of 10 cases" if latest is None else "at the latest"
    return f"{why.short}; starts by {moment} {sure}"


def why_said(message: str) -> tuple[Why, str] | None:
    """
    Read what we wrote to a pod, and when its gang starts; none of others' words.
    """
    reason, colon, said = message.partition(": ")
    if not colon or reason not in _REASONS:
        return None
    told = _STARTS.search(said)
    said = said[: told.start()] if told else said
    head, colon, sentence = said.partition(": ")
    if not colon or head.partition(" ")[0] not in _VERDICTS:
        head, sentence = verdict_named(reason), said
    starts = STARTS["Reserved"] if reason == Reason.WAITING_FOR_PREEMPTION else ""
    return Why(reason, sentence, head), told.group(1) if told else starts
