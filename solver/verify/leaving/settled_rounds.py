"""
A rule about rounds: on unchanged demand others have to leave once.
"""

from collections.abc import Iterator

from models.gangs import PodPhase, pod_sets
from solver.verify.evidence import Evidence
from solver.verify.violation import Violation


def settled_rounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that nobody leaves for others where nothing changed since somebody last did.

    Something did change where the policy leaves evictions to later rounds, and where a
    clock has reached its time since then.
    """
    unchanged = evidence.snapshot.unchanged_for
    if unchanged is None:
        return
    gangs = evidence.snapshot.gangs
    known = [gang.evicted_ago for gang in gangs if gang.evicted_ago is not None]
    if not known or min(known) > unchanged:
        return
    evict = evidence.policy.evict
    per_round = (evict.max_pods, evict.max_gangs, evict.max_lost_per_gpu)
    pods = sum(loss.for_others for loss in evidence.losses.values())
    if pods and per_round == (None, None, None) and not _rang(evidence, min(known)):
        message = (
            f"{pods} pods evicted or moved, and nothing has changed since the last "
            f"ones were, {min(known)} s ago"
        )
        yield Violation("settled", "the plan", message)


def _rang(evidence: Evidence, since: int) -> bool:
    """
    Tell whether a clock that gives a right has reached its time within some seconds.
    """
    policy = evidence.policy
    for gang in evidence.snapshot.gangs:
        clocks = [(gang.passed_over, policy.waiting.protect_after)]
        if gang.evicted_ago is not None:
            clocks.append((gang.evicted_ago, policy.evict.again))
        path = [evidence.queues[name] for name in evidence.path(gang.queue)]
        times = [
            max((queue.reclaim_min_runtime for queue in path), default=0),
            max((queue.preempt_min_runtime for queue in path), default=0),
        ]
        clocks += [
            (pod.seconds, time)
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING
            for time in times
        ]
        if any(now - since < time <= now for now, time in clocks if time):
            return True
    return False
