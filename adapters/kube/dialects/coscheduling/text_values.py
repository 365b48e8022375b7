"""
What the texts of labels and annotations mean: numbers, durations, lists, policies.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal

from adapters.kube.dialects.coscheduling.gangs import GroupNotes, GroupSaid
from adapters.kube.objects.fields import shown
from adapters.kube.objects.object_names import is_label, is_subdomain
from models.documents.scenario import MOST_MATES
from models.documents.written import MOST
from models.gangs import MatchPolicy
from models.resources import LONGEST_SECONDS
from models.why.reasons import Reason

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_GO_SECONDS: Mapping[str, Decimal] = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
}
_GO_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_GO_DURATION = re.compile(rf"[+-]?(?:0|(?:{_GO_PART.pattern})+)")
_LONGEST_DURATION = 64


def number(said: GroupSaid) -> int | None:
    """
    Read a whole number as Go does; none where it is not one.
    """
    return int(said.value) if _WHOLE.fullmatch(said.value) else None


def minimum_of(said: GroupSaid, notes: GroupNotes) -> int | None:
    """
    Read a minimum of pods; what is not a number from 0 on stops the gang.
    """
    value = number(said)
    if value is None:
        what = f"{shown(said.value)} is not a whole number"
    elif not 0 <= value <= MOST:
        what = f"{value} is not between 0 and {MOST}"
    else:
        return value
    notes.refuse(Reason.INVALID_GANG, said.where, what)
    return None


def go_seconds(text: str) -> int | None:
    """
    Read a duration as Go writes it, in seconds, a part of one as a whole one.

    None where it is not a duration above 0, or one longer than we count.
    """
    if len(text) > _LONGEST_DURATION or not _GO_DURATION.fullmatch(text):
        return None
    if text.startswith("-"):
        return None
    total = sum(Decimal(n) * _GO_SECONDS[unit] for n, unit in _GO_PART.findall(text))
    whole_seconds = int(Decimal(total).to_integral_value(ROUND_CEILING))
    return whole_seconds if 0 < whole_seconds <= LONGEST_SECONDS else None


def mates_of(said: GroupSaid | None, notes: GroupNotes) -> tuple[str, ...]:
    """
    Read a list of gangs that start together, ``namespace/name`` each.

    Nothing, and what is no JSON list of texts, means the gang alone.
    """
    if said is None or not said.value.strip():
        return ()
    names = _listed(said.value)
    if names is None:
        what = f"{shown(said.value)} is not a JSON list of texts: the gang is alone"
        notes.warn(said.where, what)
        return ()
    for name in names:
        namespace, _, gang = name.partition("/")
        if not (is_label(namespace) and is_subdomain(gang)):
            what = f"{shown(name)} is not the namespace/name of a gang"
            notes.refuse(Reason.INVALID_GANG, said.where, what)
            return ()
    if len(names) > MOST_MATES:
        what = f"{len(names)} gangs, at most {MOST_MATES} may start together"
        notes.refuse(Reason.INVALID_GANG, said.where, what)
        return ()
    unique = tuple(sorted(set(names)))
    return () if unique == (notes.key,) else unique


def _listed(text: str) -> list[str] | None:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if names is None:
        return []
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return None


def policy_of(
    said: GroupSaid | None,
    allowed: Sequence[MatchPolicy],
    default: MatchPolicy | None,
    notes: GroupNotes,
) -> MatchPolicy | None:
    """
    Read a match policy; a word that is not allowed here is the default.
    """
    if said is None or not said.value:
        return default
    for policy in allowed:
        if said.value == policy.value:
            return policy
    known = ", ".join(policy.value for policy in allowed)
    instead = f"{default.value} holds" if default is not None else "it is unread"
    notes.warn(said.where, f"{shown(said.value)} is none of {known}: {instead}")
    return default
