"""
Which gangs run below their minimum for longer than they may, and so leave.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.gangs import Gang, MatchPolicy
from models.memory.aged_gangs import still
from models.policy import Policy
from solver.problem.gang_state import standing


def leaving_as_stale(gangs: Sequence[Gang], policy: Policy) -> frozenset[str]:
    """
    Name the gangs that leave where the plan does not help them.
    """
    if not policy.evict.stale or not policy.has("disruption"):
        return frozenset()
    return frozenset(
        gang.key
        for at, gang in enumerate(still(gangs))
        if gang.stale_since is not None and is_stale(gangs[at], policy)
    )


def grace_of(gang: Gang, policy: Policy) -> int:
    """
    Give for how long a gang may run below its minimum; for ever if below 0.
    """
    return policy.evict.stale_after if gang.stale_after is None else gang.stale_after


def is_stale(gang: Gang, policy: Policy) -> bool:
    """
    Tell whether a gang runs below its minimum for as long as it may, or longer.

    Pods that succeeded count, and optional parts do not matter.
    """
    grace = grace_of(gang, policy)
    if gang.stale_since is None or grace < 0 or gang.stale_since < grace:
        return False
    if gang.match_policy is not MatchPolicy.ONCE_SATISFIED:
        gang = replace(gang, match_policy=MatchPolicy.WAITING_RUNNING_SUCCEED)
    return not standing(gang).satisfied
