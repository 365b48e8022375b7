"""
Settled rounds: nothing has changed since others last had to leave, so nobody leaves.

What an eviction leaves over, room or a share, may give somebody a right that was not
there before.  On unchanged demand that would make others leave round after round.
"""

from collections.abc import Iterator

from models.eviction_bounds import bounds_leaving
from models.gangs import running_pods
from models.policy import Policy
from models.queues import least_runtimes, queues_above
from models.snapshot import Snapshot


def is_settled(snapshot: Snapshot, policy: Policy) -> bool:
    """
    Tell whether an earlier round decided on this very demand who has to leave.

    It did not where the policy bounds what may leave in one round, since the rest
    follows in the next ones, nor where time has given a right since: a pod has run for
    long enough, a gang was spared or passed over for long enough.
    """
    unchanged = snapshot.unchanged_for
    if unchanged is None:
        return False
    times = (gang.evicted_ago for gang in snapshot.gangs)
    last = min((ago for ago in times if ago is not None), default=unchanged + 1)
    if last > unchanged or bounds_leaving(policy.evict):
        return False
    return not any(
        limit <= now < limit + last for now, limit in _clocks(snapshot, policy) if limit
    )


def _clocks(snapshot: Snapshot, policy: Policy) -> Iterator[tuple[int, int]]:
    """
    Walk clocks with the time at which each gives somebody a right.
    """
    grants = _grants(snapshot)
    for gang in snapshot.gangs:
        yield gang.passed_over, policy.waiting.protect_after
        if gang.evicted_ago is not None:
            yield gang.evicted_ago, policy.evict.again
        for grant in grants.get(gang.queue, ()):
            yield from ((pod.seconds, grant) for _, _, pod in running_pods(gang))


def _grants(snapshot: Snapshot) -> dict[str, set[int]]:
    """
    List the min run times that each queue has, for reclaim and for preempt.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    found = {
        name: {*least_runtimes(queues, queues_above(queues, name))} - {0}
        for name in queues
    }
    return {name: grants for name, grants in found.items() if grants}
