"""
What a gang is told that could start alone: who gets what it needs instead.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from models.why.reasons import Fact, Facts, listed
from models.why.resource_words import are
from models.why.verdicts import Blocker, Verdict, amount


def held_back(names: Sequence[str]) -> Blocker:
    """
    Say behind whom a gang is held back that could start alone.
    """
    behind = listed(names, "gang")
    detail = f", and is held back for {behind}"
    facts: Facts = {"gangs": len(names), "behind": behind, "detail": detail}
    return Blocker(rule=Verdict.OUTRANKED, facts=facts)


def taken(
    resource: str,
    needs: int,
    free: int,
    shares: Mapping[str, int],
    whose: str = "",
    words: Mapping[str, Fact] = MappingProxyType({}),
) -> Blocker:
    """
    Say who gets so much of a resource, of what is free or some ``whose`` may use.
    """
    total = sum(shares.values())
    names = listed([*shares], "gang") or "others"
    given, have = amount(resource, total), amount(resource, free)
    wanted = words.get("wanted", amount(resource, needs))
    start = f"; needs {wanted}; this plan gives {given} to {names}"
    detail = f"{start}, of {have} that {are(have)} free{words.get('rest', '')}"
    if whose:
        detail = f"{start}, of {have} that {whose}"
    elif total > free and needs <= free:
        detail = f"{start}; {have} {are(have)} free before others leave"
    elif needs > free:
        detail = start
    facts: Facts = {"gangs": len(shares), "to": names, "detail": detail}
    return Blocker(
        rule=Verdict.OUTRANKED,
        resource=resource,
        has=free,
        used=total,
        needs=needs,
        facts=facts,
    )
