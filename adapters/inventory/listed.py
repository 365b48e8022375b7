"""
A snapshot with what was said of its gangs, wherever it was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.policy import Policy
from models.reasons import Reason
from models.snapshot import Snapshot
from solver import decide_or_fall_back, problem_of

_REASONS = frozenset(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class Why:
    """
    Why a gang waits: a reason, and its sentence with the numbers.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What was seen at one moment; ``source`` says where.

    ``whys`` are of gangs that wait, ``whys_from`` says whose they are, in words.
    ``starting`` are those that a round would start, where one was tried.
    ``labels`` are those of the gangs' objects, by the
    gang's key: none where the source has no labels at all.  ``dialects`` names the
    system each gang was read from.
    """

    snapshot: Snapshot
    policy: Policy
    source: str
    whys: Mapping[str, Why] = field(default_factory=dict)
    whys_from: str = ""
    starting: frozenset[str] = frozenset()
    labels: Mapping[str, Mapping[str, str]] | None = None
    dialects: Mapping[str, str] = field(default_factory=dict)


def tried(snapshot: Snapshot, policy: Policy) -> tuple[dict[str, Why], frozenset[str]]:
    """
    Try a round where nobody has said anything yet: why gangs wait, and which start.
    """
    plan = decide_or_fall_back(snapshot, policy, strategy="greedy")
    whys = {
        line.name: Why(line.waiting.reason.value, line.waiting.message)
        for line in plan.gangs
        if line.waiting is not None
    }
    return whys, frozenset(x.name for x in plan.gangs if x.state == "Starting")


def certain_whys(snapshot: Snapshot, policy: Policy) -> dict[str, Why]:
    """
    Say why gangs cannot start whatever is planned: pods, queues and sizes say so.
    """
    return {
        key: Why(waiting.reason.value, waiting.message)
        for key, waiting in problem_of(snapshot, policy).blocked.items()
    }


def why_said(message: str) -> Why | None:
    """
    Read what we wrote to a pod: the reason, then its sentence; none of others' words.
    """
    reason, colon, sentence = message.partition(": ")
    if not colon or reason not in _REASONS:
        return None
    return Why(reason, sentence)
