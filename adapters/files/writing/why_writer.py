"""
Why a gang waits, as plain values: every key, in one order.
"""

from dataclasses import asdict
from typing import Any

from adapters.files.change_documents import change_document, number
from adapters.files.change_words import change_words
from models.devices.gpu_counts import written_name
from models.why.cost_of_start import StartCost
from models.why.remedies import Remedies, Remedy, WhenStarts, WhySummary
from models.why.verdicts import Blocker, PlaceInLine, WhyWaits

_NOT_ASKED = WhenStarts(sentence="not asked")
_NONE_ASKED = Remedies()
_NEAREST = 10


def why_document(
    why: WhyWaits,
    remedies: Remedies = _NONE_ASKED,
    when: WhenStarts = _NOT_ASKED,
    cost: StartCost | None = None,
) -> dict[str, Any]:
    """
    Give why a gang waits as plain values in the documented order.

    Without remedies nobody asked what would help, and so of when and of the cost.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Why",
        "gang": why.gang,
        "state": why.state,
        "certain": why.certain,
        "verdict": why.verdict.value,
        "sentence": why.sentence,
        "because": [_blocker(one) for one in why.because],
        "proof": why.proof or None,
        "besides": [[_blocker(one) for one in core] for core in why.besides],
        "place": None if why.place is None else _place(why.place),
        "instead": None if cost is None else _cost(cost),
        "remedies": [_remedy(one) for one in remedies.found],
        "tried": remedies.tried,
        "untried": remedies.untried,
        "proven": remedies.proven,
        "later": remedies.later,
        "when": {
            "latest": when.latest,
            "about": None if when.about is None else asdict(when.about),
            "sentence": when.sentence,
        },
    }


def summary_document(found: WhySummary) -> dict[str, Any]:
    """
    Give what holds back all that waits as plain values.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "WhySummary",
        "waiting": {"gangs": found.gangs, "gpus": found.gpus},
        "blockers": [
            {
                "rule": one.rule.value,
                "at": one.at or None,
                "gangs": one.gangs,
                "gpus": one.gpus,
            }
            for one in found.blockers
        ],
        "best": None
        if found.best is None
        else {
            "changes": [change_document(change) for change in found.best.changes],
            "price": found.best.price,
            "starts": [*found.best.starts],
            "waits": [*found.best.waits],
            "leaves": [*found.best.leaves],
        },
        "tried": found.tried,
        "untried": found.untried,
    }


def _place(place: PlaceInLine) -> dict[str, Any]:
    return {
        "at": place.at,
        "waiting": place.waiting,
        "inQueue": place.in_queue,
        "before": [*place.before[-_NEAREST:]],
    }


def _cost(cost: StartCost) -> dict[str, Any]:
    return {
        "tier": cost.tier or None,
        "band": cost.band,
        "value": cost.value if cost.tier else None,
        "then": cost.then if cost.tier else None,
        "proven": cost.proven,
        "tried": cost.tried,
        "others": {
            "starts": [*cost.starts],
            "waits": [*cost.waits],
            "leaves": [*cost.leaves],
            "shrinks": [*cost.shrinks],
        },
        "sentence": cost.sentence,
    }


def _remedy(one: Remedy) -> dict[str, Any]:
    return {
        "changes": [change_document(change) for change in one.changes],
        "sentence": " and ".join(map(change_words, one.changes)),
        "price": one.price,
        "alone": one.alone,
        "others": {
            "starts": [*one.starts],
            "waits": [*one.waits],
            "leaves": [*one.leaves],
        },
    }


def _blocker(one: Blocker) -> dict[str, Any]:
    return {
        "rule": one.rule.value,
        "at": one.at or None,
        "resource": written_name(one.resource) or None,
        "has": number(one.resource, one.has),
        "used": number(one.resource, one.used),
        "needs": number(one.resource, one.needs),
        "sentence": one.sentence,
    }
