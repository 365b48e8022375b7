"""
One round as all commands plan it: timed, on all lanes, and without pauses to collect.
"""

from collections.abc import Callable

from adapters.machine.clock import monotonic
from adapters.machine.garbage import no_collection
from adapters.machine.threads import ThreadLanes
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver import RoundMemo, decide, decide_or_fall_back


class LivePlanner:
    """
    Plans the rounds of one cluster, with what they share.

    What is kept is dropped where a round breaks, or had to be planned in a lesser way.
    """

    def __init__(self) -> None:
        self._memo = RoundMemo()

    def __call__(self, snapshot: Snapshot, policy: Policy) -> Plan:
        """
        Plan a round.
        """
        memo, self._memo = self._memo, RoundMemo()
        plan = planned(snapshot, policy, memo=memo)
        if plan.fallback is None:
            self._memo = memo
        return plan


def planned(
    snapshot: Snapshot,
    policy: Policy,
    strategy: str = "solver",
    progress: Callable[[str], None] | None = None,
    *,
    falls_back: bool = True,
    memo: RoundMemo | None = None,
) -> Plan:
    """
    Plan a round; looking for cycles meanwhile would take a quarter of its time.

    Who compares or measures strategies wants no plan of another one: ``falls_back``
    says whether a plan that breaks a rule is made anew in a lesser way.  ``memo`` is
    what rounds of one cluster share; the plan does not depend on it.
    """
    way = decide_or_fall_back if falls_back else decide
    with no_collection():
        return way(
            snapshot,
            policy,
            strategy=strategy,
            clock=monotonic,
            lanes=ThreadLanes(),
            progress=progress,
            memo=memo,
        )
