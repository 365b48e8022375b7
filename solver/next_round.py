"""
When time alone changes what is decided: the next moment of every rule with a clock.

A quiet cluster is not planned again until then.
"""

from collections.abc import Iterator, Mapping
from math import ceil

from models.eviction_bounds import spared_for
from models.gangs import (
    Gang,
    PodPhase,
    is_complete,
    pod_sets,
    running_pods,
    waits_for_places,
)
from models.plan import Plan
from models.policy import LONGEST_LEAVING, Policy
from models.queues import Queue, least_runtimes, queues_above
from models.snapshot import Snapshot
from solver.hold.turns import budget_left
from solver.problem.stale_gangs import grace_of


def next_moment(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan | None = None,
    eases: int | None = None,
) -> int | None:
    """
    Give the seconds until some rule's clock matters; none where none will.

    The ``plan`` says what idles since nodes are held, and who has its turn next; it
    ``eases`` once less time counts for which nodes were held, if any will.
    """
    unfinished = [gang for gang in snapshot.gangs if not is_complete(gang)]
    waiting = [gang for gang in unfinished if waits_for_places(gang)]
    moments = [m for gang in unfinished for m in _own(gang, policy)]
    if waiting:
        moments += [m for gang in waiting for m in _while_waiting(gang, policy)]
        if policy.makes_leave(borrowing=False):
            queues = {queue.name: queue for queue in snapshot.queues}
            gangs = snapshot.gangs
            moments += [m for gang in gangs for m in protection(gang, queues, policy)]
        moments += [] if plan is None else _by_plan(snapshot, policy, plan)
        moments += [] if eases is None or not policy.waiting.heads else [eases]
    return min((moment for moment in moments if moment > 0), default=None)


def _by_plan(snapshot: Snapshot, policy: Policy, plan: Plan) -> Iterator[int]:
    """
    Walk the moments at which nodes are held no longer, or for others.
    """
    if plan.held:
        # So many idle GPUs have used up the budget for holding by then.
        yield max(1, ceil(budget_left(snapshot, policy) / plan.held))
    if plan.turn is not None:
        yield plan.turn


def _own(gang: Gang, policy: Policy) -> Iterator[int]:
    """
    Walk the moments at which a gang turns stale, or its leaving pods are late.
    """
    if gang.stale_since is not None:
        yield grace_of(gang, policy) - gang.stale_since
    for leaf in pod_sets(gang.tree):
        for pod in leaf.pods:
            if pod.phase is PodPhase.TERMINATING:
                yield LONGEST_LEAVING - pod.seconds


def _while_waiting(gang: Gang, policy: Policy) -> Iterator[int]:
    """
    Walk the moments at which a waiting gang is tried again, counts more, is protected.
    """
    yield gang.backoff
    yield from (step.after - gang.age for step in policy.ageing)
    yield from (time - gang.passed_over for time in policy.clocks)
    if gang.evicted_ago is not None:
        yield policy.waiting.protect_after - gang.passed_over


def protection(
    gang: Gang, queues: Mapping[str, Queue], policy: Policy
) -> Iterator[int]:
    """
    Walk the moments at which a running gang may have to leave.
    """
    yield spared_for(gang, policy.evict)
    spans = {*least_runtimes(queues, queues_above(queues, gang.queue))}
    spans |= {policy.evict.lent_for} if gang.lent_by else set()
    if not any(spans):
        return
    for _, _, pod in running_pods(gang):
        yield from (span - pod.seconds for span in spans if span)
