"""
What is shipped: the bounds on what leaves, of clusters and of replays of days.
"""

from adapters.service.settings import Settings
from models.policy import Evict, Policy

BOUNDS = {
    "maxPods": 512,
    "maxGangs": 32,
    "maxMoves": 16,
    "maxLostPerGpu": 3600,
    "again": "1h",
    "staleAfter": "5m",
}
"""
As ``deploy/`` and the chart have them; files without a policy of their own have none.
"""


def bounded_as_shipped(settings: Settings) -> Policy:
    """
    Bound what leaves as it is shipped, but for what somebody said of it.
    """
    policy = settings.policy
    unsaid = {k: v for k, v in BOUNDS.items() if f"evict.{k}" not in settings.origins}
    known = policy.evict.model_dump(by_alias=True)
    evict = Evict.model_validate(known | unsaid)
    return policy.model_copy(update={"evict": evict})
