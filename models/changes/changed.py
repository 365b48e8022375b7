"""
A snapshot as it would be after some changes.
"""

from collections.abc import Iterable
from dataclasses import replace

from models.changes.added_nodes import AddedNodes, with_nodes
from models.changes.cancelled_gangs import CancelledGangs, without_gangs
from models.changes.closed_node import ClosedNode, with_closed
from models.changes.evicted_gangs import EvictedGangs, with_evicted
from models.changes.gang_priority import GangPriority, with_priority
from models.changes.gang_shape import (
    GangLevel,
    GangPods,
    GangTolerates,
    with_level,
    with_pods,
    with_toleration,
)
from models.changes.queue_rule import QueueRule, with_rule
from models.changes.refused import ChangeRefusedError, ChangesRejectedError
from models.changes.removed_nodes import RemovedNodes, without_nodes
from models.changes.submitted_gangs import SubmittedGangs, with_submitted
from models.errors import Problem
from models.snapshot import Snapshot

Change = (
    AddedNodes
    | CancelledGangs
    | ClosedNode
    | EvictedGangs
    | GangLevel
    | GangPods
    | GangPriority
    | GangTolerates
    | QueueRule
    | RemovedNodes
    | SubmittedGangs
)


def changed(snapshot: Snapshot, changes: Iterable[Change]) -> Snapshot:
    """
    Make changes one after the other; what was there before them stays as it is.

    From then on something other than our own plans has changed what is there.

    Raises
    ------
    ChangesRejectedError
        When some cannot be made, with all that cannot.
    """
    problems: list[Problem] = []
    for change in changes:
        try:
            snapshot = one_changed(snapshot, change)
        except ChangeRefusedError as error:
            problems.append(error.problem)
    if problems:
        raise ChangesRejectedError("the changes", problems)
    return snapshot


def one_changed(  # noqa: C901, PLR0911 - one for each kind
    snapshot: Snapshot, change: Change
) -> Snapshot:
    """
    Make one change.

    Raises
    ------
    ChangeRefusedError
        When it cannot be made.
    """
    if snapshot.unchanged_for is not None:
        snapshot = replace(snapshot, unchanged_for=0)
    match change:
        case AddedNodes():
            return with_nodes(snapshot, change)
        case CancelledGangs():
            return without_gangs(snapshot, change)
        case ClosedNode():
            return with_closed(snapshot, change)
        case EvictedGangs():
            return with_evicted(snapshot, change)
        case GangLevel():
            return with_level(snapshot, change)
        case GangPods():
            return with_pods(snapshot, change)
        case GangPriority():
            return with_priority(snapshot, change)
        case GangTolerates():
            return with_toleration(snapshot, change)
        case QueueRule():
            return with_rule(snapshot, change)
        case RemovedNodes():
            return without_nodes(snapshot, change)
        case SubmittedGangs():
            return with_submitted(snapshot, change)
