"""
Koordinator's gathering by network layers, which is not planned: what is said of it.
"""

import json

from adapters.kube.dialects.coscheduling.gangs import (
    GroupFields,
    GroupNotes,
    said_by_group,
    said_by_pods,
)
from adapters.kube.dialects.coscheduling.keys import (
    GANG_INDEX,
    GANG_TOPOLOGY,
    FoundGang,
    annotation,
)
from adapters.kube.objects.fields import shown
from models.why.reasons import Reason

_SPEC, _INDEX = (annotation(GANG_TOPOLOGY),), (annotation(GANG_INDEX),)


def check_gathering(found: FoundGang, group: GroupFields, notes: GroupNotes) -> None:
    """
    Refuse gathering by network layers where it is a must; else say that it is unread.
    """
    said = said_by_pods(found.speakers, _SPEC, notes) or said_by_group(group, _SPEC)
    if said is not None and said.value:
        layers = _must_gather(said.value)
        if layers is None:
            notes.warn(said.where, f"{shown(said.value)} is not JSON: it is ignored")
        elif layers:
            what = f"MustGather in {', '.join(layers)}: network layers are not planned"
            notes.refuse(Reason.UNSUPPORTED_CONSTRAINT, said.where, what)
        else:
            notes.warn(said.where, "network layers are not planned: it is ignored")
    index = said_by_pods(found.speakers[:1], _INDEX, notes)
    if index is not None:
        notes.warn(index.where, "pods are not ordered by network layers: it is ignored")


def _must_gather(text: str) -> list[str] | None:
    """
    List the layers in which a gang must gather; none where that cannot be read.
    """
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError):
        return None
    strategies = spec.get("gatherStrategy") if isinstance(spec, dict) else None
    if not isinstance(strategies, list):
        return None
    return [
        str(entry.get("layer"))
        for entry in strategies
        if isinstance(entry, dict) and entry.get("strategy") == "MustGather"
    ]
