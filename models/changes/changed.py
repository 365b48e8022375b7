"""
A snapshot as it would be after some changes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from models.changes.added_nodes import AddedNodes, with_nodes
from models.changes.cancelled_gangs import CancelledGangs, without_gangs
from models.changes.closed_node import ClosedNode, with_closed
from models.changes.evicted_gangs import EvictedGangs, with_evicted
from models.changes.gang_priority import GangPriority, with_priority
from models.changes.gang_shape import (
    GangAllows,
    GangLevel,
    GangPods,
    GangTolerates,
    with_label,
    with_level,
    with_pods,
    with_toleration,
)
from models.changes.more_moves import MoreMoves, with_moves
from models.changes.passed_time import PassedTime, some_time_later
from models.changes.queue_rule import QueueRule, with_rule
from models.changes.refused import ChangeRefusedError, ChangesRejectedError
from models.changes.removed_nodes import RemovedNodes, without_nodes
from models.changes.submitted_gangs import SubmittedGangs, with_submitted
from models.devices.gpu_models import with_models
from models.errors import Problem
from models.policy import Policy
from models.snapshot import Snapshot

GangChange = GangAllows | GangLevel | GangPods | GangPriority | GangTolerates
Change = (
    AddedNodes
    | CancelledGangs
    | ClosedNode
    | EvictedGangs
    | GangChange
    | MoreMoves
    | PassedTime
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


def policy_after(policy: Policy, changes: Iterable[Change]) -> Policy:
    """
    Give the policy that some changes ask for; most leave it as it is.
    """
    for change in changes:
        if isinstance(change, MoreMoves):
            policy = with_moves(policy, change)
    return policy


def one_changed(snapshot: Snapshot, change: Change) -> Snapshot:
    """
    Make one change; what waits then asks for the GPU model that it would be read with.

    Raises
    ------
    ChangeRefusedError
        When it cannot be made.
    """
    if snapshot.unchanged_for is not None and not isinstance(change, PassedTime):
        snapshot = replace(snapshot, unchanged_for=0)
    after = _MADE[type(change)](snapshot, change)
    return after if isinstance(change, QueueRule) else with_models(after)


_MADE: Mapping[type, Callable[..., Snapshot]] = {
    AddedNodes: with_nodes,
    CancelledGangs: without_gangs,
    ClosedNode: with_closed,
    EvictedGangs: with_evicted,
    GangAllows: with_label,
    GangLevel: with_level,
    GangPods: with_pods,
    GangPriority: with_priority,
    GangTolerates: with_toleration,
    MoreMoves: lambda snapshot, _: snapshot,
    PassedTime: some_time_later,
    QueueRule: with_rule,
    RemovedNodes: without_nodes,
    SubmittedGangs: with_submitted,
}
