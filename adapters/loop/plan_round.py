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
from solver import decide, decide_or_fall_back


def planned(
    snapshot: Snapshot,
    policy: Policy,
    strategy: str = "solver",
    progress: Callable[[str], None] | None = None,
    *,
    falls_back: bool = True,
) -> Plan:
    """
    Plan a round; looking for cycles meanwhile would take a quarter of its time.

    Who compares or measures strategies wants no plan of another one: ``falls_back``
    says whether a plan that breaks a rule is made anew in a lesser way.
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
        )
