"""
More pods that may be moved in a round to make room in one piece.
"""

from dataclasses import dataclass

from models.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreMoves:
    """
    The policy lets so many pods more be moved; nothing that is there changes.
    """

    pods: int


def with_moves(policy: Policy, change: MoreMoves) -> Policy:
    """
    Let a policy move more pods, where it has a bound for them or moves none.
    """
    most = policy.evict.max_moves if policy.evict.consolidate else 0
    more = None if most is None else most + change.pods
    evict = policy.evict.model_copy(update={"consolidate": True, "max_moves": more})
    return policy.model_copy(update={"evict": evict})
