"""
Verdicts: what keeps a gang waiting, as rules that together forbid its start.

A *rule* has the word of a verdict, says where it holds, and has its numbers.  A *core*
is a set of rules that together forbid the start, none of which is left out in vain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from models.devices.gpu_counts import counted_gpus, in_gpus
from models.devices.gpu_parts import is_part, wanted
from models.errors import escaped
from models.resources import GPU_SHARE
from models.why.reasons import Fact, Reason, ended, though
from models.why.resource_words import are, noun, plain

MOST_SAID = 400
"""
Letters of a sentence that is written to a cluster.
"""


class Verdict(StrEnum):
    """
    What decides, from "never will it start as written" to "it starts".

    In this order rules are named; of equally small cores the first one is told.
    """

    NEVER = "never"
    UNSUPPORTED = "unsupported"
    HELD = "held"
    PODS = "pods"
    GROUP = "group"
    BACKOFF = "backoff"
    VOLUMES = "volumes"
    LIMIT = "limit"
    QUOTA = "quota"
    TOPOLOGY = "topology"
    NODES = "nodes"
    NEIGHBOURS = "neighbours"
    ROOM = "room"
    DEVICES = "devices"
    FRAGMENTS = "fragments"
    SHARE = "share"
    PROTECTED = "protected"
    OUTRANKED = "outranked"
    UNDECIDED = "undecided"
    NONE = "none"


Proof = Literal["counting", "model", ""]
"""
How it is known that a core forbids the start: by sums, which a person can check, or by
the exact model; empty where nothing is claimed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """
    A rule of a core: where it holds, and of which resource it allows how much.

    ``has`` is what there is in all, ``used`` what others have of it, ``needs`` what the
    gang needs.  ``facts`` say more: who, how many nodes, why.
    """

    rule: Verdict
    at: str = ""
    resource: str = ""
    has: int | None = None
    used: int | None = None
    needs: int | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """
        What a gang may still have of it.
        """
        return max(0, (self.has or 0) - (self.used or 0))

    @property
    def short(self) -> str:
        """
        Say what is waited for in a word or two: the rule, and where it holds.
        """
        at = "" if self.rule is Verdict.HELD else self.at
        return f"{self.rule} {at}".strip()

    @property
    def sentence(self) -> str:
        """
        Say it to a person, with the numbers.
        """
        said = {key: str(fact) for key, fact in self.facts.items()}
        for word in ("has", "used", "needs"):
            number = getattr(self, word)
            said[word] = "?" if number is None else plain(self.resource, number)
        said["left"] = plain(self.resource, self.left)
        said["are"] = are(said["left"])
        needed = said.get("wanted", amount(self.resource, self.needs or 0))
        said["needed"] = f"{needed}{said.get('mates', '')}"
        said["at"] = self.at
        said["holder"] = said.get("outside", f"queue {self.at}")
        said["limit"] = "at most" if "outside" in said else "its limit"
        said["named"] = f": {said['who']}" if said.get("who") else ""
        said["kept"] = f": {said['kept']}" if "kept" in said else ""
        said["though"] = though(self.facts)
        said["more"] = ended({"resource": self.resource, **self.facts})
        said["counting"] = said.get("where", "")
        said.setdefault("where", " where it may be")
        if self.rule is Verdict.TOPOLOGY and "hint" in said:
            return f"needs one {self.at} for all its pods{said['hint']}"
        own = _OF_PARTS if "rest" in said else _SENTENCES
        return own.get(self.rule, _SENTENCES[self.rule]).format_map(_SaidWords(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceInLine:
    """
    Where a gang stands: ``at`` of ``waiting`` gangs, ``in_queue`` of its own queue.

    ``before`` names those that come first, the nearest last.
    """

    at: int
    waiting: int
    in_queue: int
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyWaits:
    """
    Why one gang waits: the verdict, and one smallest core of rules behind it.

    ``besides`` are further cores, each of other rules: they must give way, too.
    ``certain`` is false where the search ended before anything was shown.
    """

    gang: str
    state: str
    verdict: Verdict
    sentence: str
    because: tuple[Blocker, ...] = ()
    besides: tuple[tuple[Blocker, ...], ...] = ()
    proof: Proof = ""
    place: PlaceInLine | None = None

    @property
    def waits_for(self) -> str:
        """
        Say what it waits for in a word or two; nothing of what does not wait.
        """
        return self.because[0].short if self.because else ""

    @property
    def short(self) -> str:
        """
        Say it as columns, conditions, events and reports do, on one bounded line.
        """
        said = escaped(f"{self.waits_for}: {self.sentence}")
        return said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 1]}…"

    @property
    def certain(self) -> bool:
        """
        Tell whether what is said has been shown.
        """
        return self.verdict is not Verdict.UNDECIDED


def verdict_named(reason: str) -> str:
    """
    Give the verdict that a reason names; nothing of a reason that is not known.
    """
    known = reason in set(Reason)
    return str(VERDICT_OF.get(Reason(reason), "")) if known else ""


class _SaidWords(dict[str, str]):
    """
    What a sentence asks for in vain is left out.
    """

    def __missing__(self, key: str) -> str:
        return ""


def amount(resource: str, number: int) -> str:
    """
    Write an amount with what it is an amount of: 4 GPUs, 16Gi memory, 3 pods.
    """
    if resource == GPU_SHARE:
        return counted_gpus(in_gpus(number))
    if is_part(resource):
        return wanted(resource, number)
    return f"{plain(resource, number)} {noun(resource, number)}".strip()


VERDICT_OF: Mapping[Reason, Verdict] = {
    Reason.INVALID_GANG: Verdict.NEVER,
    Reason.CONFIG_CONFLICT: Verdict.NEVER,
    Reason.UNSUPPORTED_CONSTRAINT: Verdict.UNSUPPORTED,
    Reason.NAMESPACE_ENDING: Verdict.NEVER,
    Reason.HELD: Verdict.HELD,
    Reason.QUEUE_NOT_FOUND: Verdict.NEVER,
    Reason.QUEUE_CLOSED: Verdict.HELD,
    Reason.WAITING_FOR_PODS: Verdict.PODS,
    Reason.WAITING_FOR_GROUP: Verdict.GROUP,
    Reason.WAITING_FOR_VOLUMES: Verdict.VOLUMES,
    Reason.WAITING_FOR_DEVICES: Verdict.DEVICES,
    Reason.TIMED_OUT: Verdict.HELD,
    Reason.NO_FITTING_NODE: Verdict.NODES,
    Reason.DEMAND_EXCEEDS_CLUSTER: Verdict.ROOM,
    Reason.TOPOLOGY_TOO_SMALL: Verdict.TOPOLOGY,
    Reason.QUOTA_EXCEEDS_MAXIMUM: Verdict.LIMIT,
    Reason.QUOTA_LIMIT_REACHED: Verdict.LIMIT,
    Reason.PREEMPTION_PROTECTED: Verdict.PROTECTED,
    Reason.INSUFFICIENT_CAPACITY: Verdict.ROOM,
    Reason.FRAGMENTED: Verdict.FRAGMENTS,
    Reason.LOWER_TIER_OR_PRIORITY: Verdict.OUTRANKED,
    Reason.NEIGHBOURS_IN_THE_WAY: Verdict.NEIGHBOURS,
    Reason.PAUSED: Verdict.HELD,
    Reason.BIND_REJECTED: Verdict.BACKOFF,
    Reason.SEARCH_LIMIT_REACHED: Verdict.UNDECIDED,
    Reason.SOURCE_NOT_SYNCED: Verdict.HELD,
}
"""
The verdict that a reason names, where no smallest set of rules was looked for.
"""

_SENTENCES: dict[Verdict, str] = {
    Verdict.NEVER: "{detail}",
    Verdict.UNSUPPORTED: "{detail}",
    Verdict.HELD: "{detail}",
    Verdict.PODS: "{detail}",
    Verdict.GROUP: "{detail}",
    Verdict.BACKOFF: "{detail}",
    Verdict.VOLUMES: "{there}",
    Verdict.LIMIT: (
        "needs {needed}; {holder} may still use {left} of {limit} {has}{kept}"
    ),
    Verdict.QUOTA: "needs {needed}; queue {at} may still use {left} of its {has}",
    Verdict.NODES: "{at}{there}",
    Verdict.NEIGHBOURS: "{there}",
    Verdict.TOPOLOGY: (
        "needs {needed} in one {at}; the best one has {left} free, of {has} in all"
    ),
    Verdict.DEVICES: "needs {needed}; {left} of {has} {are} free{where}{more}",
    Verdict.ROOM: "needs {needed}; {left} of {has} {are} free{where}{more}",
    Verdict.FRAGMENTS: (
        "needs {needed}; {left} {are} free{counting}, but in pieces: "
        "there is room for {detail}"
    ),
    Verdict.SHARE: (
        "needs {needed} within its fair share to make others leave; "
        "queue {at} is due {has} and uses {used}"
    ),
    Verdict.PROTECTED: "the gangs that could make room are protected{named}",
    Verdict.OUTRANKED: "could start alone{though}{detail}",
    Verdict.UNDECIDED: "undecided within the limit of this round{detail}",
    Verdict.NONE: "{detail}",
}
_OF_PARTS: dict[Verdict, str] = {Verdict.DEVICES: "needs {needed}{rest}{more}"}
