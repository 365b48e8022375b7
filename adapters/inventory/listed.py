"""
A snapshot with what was said of its gangs, wherever it was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.plan import GangLine, Plan
from models.policy import Policy
from models.reasons import Reason
from models.resources import format_duration
from models.snapshot import Snapshot
from solver import problem_of

_REASONS = frozenset(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class Why:
    """
    Why a gang waits: a reason, and its sentence with the numbers.
    """

    reason: str
    message: str
    waits_for: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What was seen at one moment; ``source`` says where.

    ``whys`` are of gangs that wait, ``whys_from`` says whose they are, in words.
    ``starts`` says of gangs when they start, by the ``plan`` if one was made; ``holds``
    for how many seconds nodes have been held for gangs for which they are now.
    ``labels`` are those of the gangs' objects, by the
    gang's key: none where the source has no labels at all.  ``dialects`` names the
    system each gang was read from.
    """

    snapshot: Snapshot
    policy: Policy
    source: str
    whys: Mapping[str, Why] = field(default_factory=dict)
    whys_from: str = ""
    starts: Mapping[str, str] = field(default_factory=dict)
    holds: Mapping[str, int] = field(default_factory=dict)
    plan: Plan | None = None
    labels: Mapping[str, Mapping[str, str]] | None = None
    dialects: Mapping[str, str] = field(default_factory=dict)


def seen_with(snapshot: Snapshot, policy: Policy, source: str, plan: Plan) -> Seen:
    """
    See a snapshot with what a round that was planned for it says of its gangs.
    """
    held_for = {gang.key: gang.held_for for gang in snapshot.gangs}
    return Seen(
        snapshot=snapshot,
        policy=policy,
        source=source,
        whys={
            line.name: Why(
                line.waiting.reason.value, line.waiting.message, line.waiting.waits_for
            )
            for line in plan.gangs
            if line.waiting is not None
        },
        starts={x.name: start for x in plan.gangs if (start := _start(x))},
        holds={hold.gang: held_for.get(hold.gang, 0) for hold in plan.holds},
        plan=plan,
    )


def _start(line: GangLine) -> str:
    """
    Say when a gang starts, where a round knows.
    """
    if line.state in {"Starting", "Reserved"}:
        return "now" if line.state == "Starting" else "next"
    expected = line.waiting.facts.get("expected") if line.waiting else None
    if not isinstance(expected, int):
        return ""
    return f"in {format_duration(expected)} at the latest"


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
