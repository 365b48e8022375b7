"""
Pods that run but could not be placed anew as they ask: they are not moved.

A pod that is moved starts anew, and then waits as every other that we cannot plan.
"""

from collections.abc import Mapping
from dataclasses import replace

from adapters.kube.gangs.workloads.leaves import Member
from models.nodes import Terms

_NOWHERE: tuple[Terms, ...] = ((),)


def kept_in_place(stay: Mapping[str, str], members: list[Member]) -> list[Member]:
    """
    Let pods that ``stay``, by name, demand what no node has.
    """
    if not stay:
        return members
    return [
        replace(m, pod=replace(m.pod, demand=replace(m.pod.demand, volumes=_NOWHERE)))
        if m.pod.key in stay
        else m
        for m in members
    ]


def said_of(stay: Mapping[str, str]) -> list[str]:
    """
    Say which pods are not moved, and why the first of them.
    """
    if not stay:
        return []
    first, why = next(iter(stay.items()))
    others = f" and {len(stay) - 1:,} more" if len(stay) > 1 else ""
    verb = "are" if others else "is"
    return [f"pod {first}{others} {verb} not moved: {why}"]
