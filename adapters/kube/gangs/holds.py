"""
Holds: what somebody writes on a gang so that nothing new of it is planned.

The annotation stands on the object that the gang was read from, or on any pod of it
that has not ended, so that gangs of every dialect can be held, and single pods too.
What of it runs goes on, and has the rights it had.
"""

from collections.abc import Iterable, Mapping

from adapters.kube.dialects.protocol import Claim
from adapters.kube.objects.fields import FieldError, mapping, moment_of, texts
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED
from models.why.reasons import Facts, Reason, Waiting

Words = tuple[str, str, str]
HELD = HOLD, HELD_BY, HELD_SINCE = (
    "phalanx.dev/hold",
    "phalanx.dev/held-by",
    "phalanx.dev/held-since",
)
"""
Why, who and since when; only the first one holds.
"""
_NOT_HELD = "false"
_LONGEST = 200


def hold_of(claim: Claim, pods: Iterable[PodRecord]) -> Waiting | None:
    """
    Give the hold of a gang; that of its own object before those of its pods.
    """
    own = said(Reason.HELD, _annotations(claim), HELD)
    if own is not None:
        return own
    held = (
        pod for pod in pods if HOLD in pod.annotations and pod.phase not in FINISHED
    )
    first = min(held, key=lambda pod: pod.name, default=None)
    if first is None:
        return None
    return said(Reason.HELD, first.annotations, HELD)


def said(
    reason: Reason, annotations: Mapping[str, str], words: Words
) -> Waiting | None:
    """
    Give a reason to wait where the first of these words is said.
    """
    facts = told(annotations, words)
    return None if facts is None else Waiting(reason, facts)


def told(annotations: Mapping[str, str], words: Words) -> Facts | None:
    """
    Read why, who and since when, where the first of these words is said.
    """
    why = annotations.get(words[0])
    if why is None or why.strip().lower() == _NOT_HELD:
        return None
    facts: Facts = {}
    if who := _short(annotations.get(words[1], "")):
        facts["by"] = who
    since = annotations.get(words[2], "")
    if moment_of(since) is not None:
        facts["since"] = since
    if why := _short(why):
        facts["detail"] = why
    return facts


def _annotations(claim: Claim) -> Mapping[str, str]:
    try:
        return texts(mapping(claim.source or {}, "metadata"), "annotations")
    except FieldError:
        return {}


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
