"""
Why a gang waits: stable names, facts as fields, and the sentences people read.

Sentences are made here and nowhere else.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from models.devices.gpu_counts import counted_gpus, in_gpus
from models.devices.gpu_parts import is_part, wanted
from models.resources import format_duration
from models.why.held_for_it import held_for_it
from models.why.resource_words import are, noun, plain


class Reason(StrEnum):
    """
    Primary reasons, from "will never start as written" to "will start soon".
    """

    NAMESPACE_ENDING = "NamespaceEnding"
    INVALID_GANG = "InvalidGang"
    CONFIG_CONFLICT = "ConfigConflict"
    UNSUPPORTED_CONSTRAINT = "UnsupportedConstraint"
    HELD = "Held"
    QUEUE_NOT_FOUND = "QueueNotFound"
    QUEUE_CLOSED = "QueueClosed"
    WAITING_FOR_PODS = "WaitingForPods"
    WAITING_FOR_GROUP = "WaitingForGroup"
    WAITING_FOR_VOLUMES = "WaitingForVolumes"
    WAITING_FOR_DEVICES = "WaitingForDevices"
    TIMED_OUT = "TimedOut"
    NO_FITTING_NODE = "NoFittingNode"
    DEMAND_EXCEEDS_CLUSTER = "DemandExceedsCluster"
    TOPOLOGY_TOO_SMALL = "TopologyTooSmall"
    QUOTA_EXCEEDS_MAXIMUM = "QuotaExceedsMaximum"
    QUOTA_LIMIT_REACHED = "QuotaLimitReached"
    PREEMPTION_PROTECTED = "PreemptionProtected"
    INSUFFICIENT_CAPACITY = "InsufficientCapacity"
    FRAGMENTED = "Fragmented"
    LOWER_TIER_OR_PRIORITY = "LowerTierOrPriority"
    NEIGHBOURS_IN_THE_WAY = "NeighboursInTheWay"
    WAITING_FOR_PREEMPTION = "WaitingForPreemption"
    PAUSED = "Paused"
    BIND_REJECTED = "BindRejected"
    SEARCH_LIMIT_REACHED = "SearchLimitReached"
    SOURCE_NOT_SYNCED = "SourceNotSynced"


NOTHING_NEEDED = "needs no pod to start; its pods take what is left over"
LEFT_OVER = "its gang has what it needs; nothing was left over for this pod"
NO_POD_GROUP = "no-pod-group"
"""
The cause of a gang that waits since its own group object does not exist.
"""
NAMES_OTHERS = ("to", "behind", "who", "ending", "leave")
"""
Facts that name other gangs, which change from round to round like numbers do.
"""
Fact = str | int
Facts = dict[str, Fact]
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Waiting:
    """
    A reason with its facts; amounts are integers in the resource's unit.
    """

    reason: Reason
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """
        Say it to a person, with the numbers.
        """
        said = _sentence(self).format_map(_readable(self.facts))
        return said + held_for_it(self.facts)


def _sentence(waiting: Waiting) -> str:
    """
    Give the sentence of a reason; parts of GPUs have their own where devices matter.
    """
    own = _OF_PARTS if _part(waiting.facts) else {}
    return own.get(waiting.reason, _SENTENCES[waiting.reason])


def counted(number: int, noun: str) -> str:
    """
    Write a number with its noun: 1 pod, 2 pods, 1,000 pods.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def does(number: int, one: str, many: str) -> str:
    """
    Write a number with its verb: 1 is, 2 are.
    """
    return f"{number:,} {one if number == 1 else many}"


def listed(names: Sequence[str], noun: str) -> str:
    """
    Name the first few, and say how many more there are.
    """
    shown = list(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        shown.append(counted(len(names) - _MOST_NAMED, f"more {noun}"))
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """
    A fact in a sentence, which may give it a noun: ``{pods:pod}``, such as 2 pods.
    """

    fact: Fact

    def __format__(self, noun: str) -> str:
        if isinstance(self.fact, int) and noun:
            return counted(self.fact, noun)
        return f"{self.fact} {noun}s" if noun else str(self.fact)


def _readable(facts: Mapping[str, Fact]) -> dict[str, _Shown]:
    """
    Give facts as people read them; what a sentence asks for in vain is a question mark.
    """
    shown = {key: _Shown("") for key in _OPTIONAL}
    shown |= {key: _Shown(_amount(facts, key)) for key in facts}
    resource = facts.get("resource")
    if isinstance(resource, str):
        for word, key in _COUNTED.items():
            number = facts.get(key)
            some = number if isinstance(number, int) else 2
            shown[word] = _Shown(noun(resource, some))
    shown |= {key: _Shown(word) for key, word in device_words(facts).items()}
    mate = shown["mate"].fact if "mate" in shown else "?"
    own = facts.get("cause") == NO_POD_GROUP
    shown["whom"] = _Shown(f"its PodGroup {mate}" if own else f"{mate} of its group")
    shown["are"] = _Shown(are(str(shown["free"].fact)) if "free" in shown else "are")
    shown["others"] = _Shown(_others(shown, facts))
    shown["lacking"] = _Shown(_lacking(facts))
    shown["told"] = _Shown(told_words(facts))
    shown["more"] = _Shown(ended(facts))
    shown.setdefault("leave", _Shown("others"))
    shown["after"] = _Shown(_duration(facts.get("seconds", "?")))
    shown |= _holder(shown)
    shown["though"] = _Shown(though(facts))
    if "leaves" in facts:
        words = f", {shown['leaves'].fact} more once others have left"
        shown["besides"] = _Shown(words)
    if "who" in facts:
        shown["whose"] = _Shown(f": {shown['used'].fact} held by {facts['who']}")
    if "nearest" in facts:
        shown["near"] = _Shown(f" (did you mean {facts['nearest']}?)")
    return defaultdict(lambda: _Shown("?"), shown)


def though(facts: Mapping[str, Fact]) -> str:
    """
    Say that a gang that could start alone could do so only if others left for it.
    """
    return " if others left for it" if "evicting" in facts else ""


def _duration(seconds: Fact) -> str:
    return format_duration(seconds) if isinstance(seconds, int) else seconds


def _part(facts: Mapping[str, Fact]) -> str:
    """
    Give the part of GPUs that facts are about; nothing where they are of others.
    """
    resource = str(facts.get("part", facts.get("resource", "")))
    return resource if is_part(resource) else ""


def _wanted(facts: Mapping[str, Fact]) -> str:
    """
    Say which part is needed, and how many of it.
    """
    number = facts.get("pods" if "part" in facts else "needs", 1)
    return wanted(_part(facts), int(number))


def _rest(facts: Mapping[str, Fact]) -> str:
    """
    Say for how many pods devices have room, and for how much less than a part.
    """
    room = 0 if "part" in facts else facts.get("free", 0)
    told = [f"there is room for {room}"] if room else []
    told += [str(facts["rest"])] if facts.get("rest") else []
    return "".join(f"; {one}" for one in told)


def device_words(facts: Mapping[str, Fact]) -> Facts:
    """
    Say which part is needed and what devices have room for, where facts are of parts.
    """
    return {"wanted": _wanted(facts), "rest": _rest(facts)} if _part(facts) else {}


def ended(facts: Mapping[str, Fact]) -> str:
    """
    Say how much more is free once pods have ended that terminate.
    """
    if "ending" not in facts:
        return ""
    more = _amount(facts, "ends")
    if _part(facts):
        more = counted_gpus(in_gpus(int(facts["ends"])))
    return f", {more} more once pods of {facts['ending']} have ended"


def _holder(shown: Mapping[str, _Shown]) -> dict[str, _Shown]:
    """
    Say whom a limit binds: a queue, or all of which another one keeps room.
    """
    used = shown["used"].fact if "used" in shown else "?"
    if "kept" not in shown:
        queue = shown["queue"].fact if "queue" in shown else "?"
        words = f"queue {queue}", f"uses {used}", "it", shown["work"].fact
    else:
        kept = f": {shown['kept'].fact}"
        words = str(shown["outside"].fact), f"use {used}", "they", kept
    keys = ("holder", "uses", "they", "work")
    return {key: _Shown(word) for key, word in zip(keys, words, strict=True)}


def _lacking(facts: Mapping[str, Fact]) -> str:
    """
    Say which gates hold pods back, who terminates, and how many nobody has made yet.
    """
    gates = f" {facts['gates']}" if "gates" in facts else ""
    words = {
        "gated": f"held back by scheduling gates{gates}",
        "terminating": "terminating",
    }
    told = [f"{facts[key]} {word}" for key, word in words.items() if key in facts]
    if told and "missing" in facts:
        told.append(f"{facts['missing']} not created yet")
    return f": {', '.join(told)}" if told else ""


def told_words(facts: Mapping[str, Fact]) -> str:
    """
    Say who wants it so, since when, and why, as far as that is known.
    """
    words = (("by", " by "), ("since", " since "), ("detail", ": "))
    return "".join(f"{word}{facts[key]}" for key, word in words if key in facts)


def _others(shown: Mapping[str, _Shown], facts: Mapping[str, Fact]) -> str:
    """
    Say who gets what a gang needs, and how much; or behind whom it is held back.
    """
    if "behind" in shown:
        more = ", for whom the next round would evict it" if "next" in shown else ""
        more = " (evicted before)" if "evicting" in shown else more
        return f"it is held back for {shown['behind'].fact}{more}"
    if "to" not in shown:
        return "this plan gives what it needs to others"
    if "instead" in shown:
        return f"this plan has others leave for {shown['to'].fact} instead"
    if "detail" in shown:
        beside = f"and beside these no place suits its pods: {shown['detail'].fact}"
        return f"this plan gives places to {shown['to'].fact}, {beside}"
    fact = {key: one.fact for key, one in shown.items()}
    amount = f"{fact['given']} of {fact['free']} {fact['frees']} free where it fits"
    if "evicting" in fact:
        amount = f"{fact['given']} {fact['gives']}"
    elif "queue" not in fact and _number(facts, "given") > _number(facts, "free"):
        amount = (
            f"{fact['given']} {fact['gives']}, where {fact['free']} {fact['are']} "
            "free before others leave"
        )
    elif "queue" in fact:
        when = " once others have left" if "leaving" in fact else ""
        whose = fact.get("outside", f"queue {fact['queue']}")
        amount = (
            f"{fact['given']} of {fact['free']} {fact['frees']} "
            f"that {whose} may still take{when}"
        )
    return (
        f"this plan gives what it needs to {fact['to']}: {amount}, "
        f"and it needs {fact.get('wanted', fact['needs'])}{fact['rest']}"
    )


def _number(facts: Mapping[str, Fact], key: str) -> int:
    """
    Give a fact that is a number; facts of other plans may be texts.
    """
    fact = facts[key]
    return fact if isinstance(fact, int) else 0


def _amount(facts: Mapping[str, Fact], key: str) -> Fact:
    """
    Give a fact, an amount with its unit.
    """
    fact, resource = facts[key], facts.get("resource")
    if key in _AMOUNTS and isinstance(fact, int) and isinstance(resource, str):
        return plain(resource, fact)
    return fact


_OPTIONAL = ("besides", "hint", "near", "rest", "though", "where", "whose", "work")
_AMOUNTS = {
    "needs",
    "free",
    "given",
    "limit",
    "used",
    "total",
    "largest",
    "ends",
    "leaves",
}
_COUNTED = {"resource": "needs", "frees": "free", "gives": "given"}
"""
Words for what is counted, and by which number it is one or several.
"""
_SENTENCES: dict[Reason, str] = {
    Reason.INVALID_GANG: "cannot be planned as written: {detail}",
    Reason.CONFIG_CONFLICT: "contradicts itself or its group: {detail}",
    Reason.UNSUPPORTED_CONSTRAINT: "needs something that is not supported: {detail}",
    Reason.NAMESPACE_ENDING: (
        "namespace {namespace} is being deleted, and nothing more starts in it"
    ),
    Reason.HELD: "is held{told}",
    Reason.QUEUE_NOT_FOUND: "queue {queue} does not exist{near}",
    Reason.QUEUE_CLOSED: "queue {queue} is closed",
    Reason.WAITING_FOR_PODS: (
        "needs {needs:pod}{where}, has {have} that may start{lacking}"
    ),
    Reason.WAITING_FOR_GROUP: "{whom} {why}",
    Reason.WAITING_FOR_VOLUMES: "waits for its volumes: {detail}",
    Reason.WAITING_FOR_DEVICES: "waits for its devices: {detail}",
    Reason.TIMED_OUT: "was marked as timed out by its own system",
    Reason.NO_FITTING_NODE: "pod {pod} fits no node, even an empty one: {detail}",
    Reason.DEMAND_EXCEEDS_CLUSTER: (
        "needs {needs} {resource}{where}, "
        "all matching nodes together hold {total} when empty"
    ),
    Reason.TOPOLOGY_TOO_SMALL: (
        "needs {needs} {resource}{where} in one {level}, "
        "the largest holds {largest} when empty{hint}"
    ),
    Reason.QUOTA_EXCEEDS_MAXIMUM: (
        "needs {needs} {resource}, {holder} may never hold more than {limit}{work}"
    ),
    Reason.QUOTA_LIMIT_REACHED: (
        "needs {needs} {resource}{where}, "
        "{holder} {uses} of the {limit} {they} may hold{work}"
    ),
    Reason.PREEMPTION_PROTECTED: (
        "is entitled and needs {needs} {resource}; {free} {are} free{besides}, "
        "and only protected work is in its way{whose}"
    ),
    Reason.INSUFFICIENT_CAPACITY: (
        "needs {needs} {resource}{where}, matching nodes have {free} free{rest}{more}"
    ),
    Reason.FRAGMENTED: (
        "enough is free in total, but not in pieces that fit: "
        "there is room for {detail}"
    ),
    Reason.LOWER_TIER_OR_PRIORITY: "could start alone{though}; {others}",
    Reason.NEIGHBOURS_IN_THE_WAY: (
        "no place was found that suits both its pods and the others: {detail}"
    ),
    Reason.WAITING_FOR_PREEMPTION: (
        "has {pods:place} on {nodes:node}, and waits for {leave} to leave"
    ),
    Reason.PAUSED: (
        "would have pods bound or places reserved now, "
        "but the scheduler is paused{told}"
    ),
    Reason.BIND_REJECTED: "a bind was refused; it is tried again in {after}",
    Reason.SEARCH_LIMIT_REACHED: "undecided within the limit of this round",
    Reason.SOURCE_NOT_SYNCED: "was not observed completely",
}
_OF_PARTS: dict[Reason, str] = {
    Reason.INSUFFICIENT_CAPACITY: "needs {wanted}{where}{rest}{more}",
    Reason.PREEMPTION_PROTECTED: (
        "is entitled and needs {wanted}{rest}; only protected work is in its way{whose}"
    ),
}
