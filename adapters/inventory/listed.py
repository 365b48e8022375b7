"""
A snapshot with what was said of its gangs, wherever it was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.plan import Plan
from models.policy import Policy
from models.resources import format_duration
from models.snapshot import Snapshot
from models.why.reasons import Waiting
from models.why.verdicts import verdict_named
from solver import RoundAsked, StartsAsked, shared_out

SIZE_PROVEN, LEAST_PROVEN = 30_000, 8
"""
Nodes and gangs of all rounds together that are asked about gangs while somebody waits
for a list, and the gangs asked about however large it is.
"""
STARTS = {"Starting": "now", "Reserved": "next"}


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
        whys={x.name: _why(x.waiting) for x in plan.gangs if x.waiting is not None},
        starts={x.name: STARTS[x.state] for x in plan.gangs if x.state in STARTS},
        holds={hold.gang: held_for.get(hold.gang, 0) for hold in plan.holds},
        plan=plan,
    )


def _why(waiting: Waiting) -> Why:
    """
    Give a reason with the verdict that it names.
    """
    verdict = verdict_named(waiting.reason)
    return Why(waiting.reason.value, waiting.message, verdict)


def proven(seen: Seen, names: Sequence[str]) -> Seen:
    """
    See of gangs that wait what `phalanx why` says first, and when they start.

    It is looked for in the round that was planned, for as many gangs as a moment is
    enough for; of all others what is seen stays.
    """
    plan = seen.plan
    waits = (
        {line.name for line in plan.gangs if line.state == "Waiting"} if plan else ()
    )
    asked = [name for name in names if name in waits and name in seen.whys]
    if plan is None or not asked:
        return seen
    snapshot = seen.snapshot
    size = len(snapshot.nodes) + len(snapshot.gangs)
    round_asked = RoundAsked(snapshot, seen.policy, plan)
    starts_asked = StartsAsked(round_asked.problem, plan)
    whys, starts = {**seen.whys}, {**seen.starts}
    for name in asked[: max(LEAST_PROVEN, SIZE_PROVEN // size)]:
        why = round_asked.told(name)
        if why.certain:
            whys[name] = Why(whys[name].reason, why.sentence, why.waits_for)
        latest = starts_asked.when(name).latest
        if latest is not None:
            starts[name] = f"in {format_duration(latest)} at the latest"
    return replace(seen, whys=whys, starts=starts)


def certain_whys(snapshot: Snapshot, policy: Policy) -> dict[str, Why]:
    """
    Say why gangs cannot start whatever is planned: pods, queues and sizes say so.
    """
    blocked = shared_out(snapshot, policy, devices=False).blocked
    return {key: _why(waiting) for key, waiting in blocked.items()}
