"""
Rounds as the bench plans them: never in a lesser way, and with the numbers under trial.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from adapters.machine.clock import monotonic
from adapters.machine.garbage import no_collection
from adapters.machine.threads import ThreadLanes
from benchmarks.tuning import tuned
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.round import decide as decide_with
from solver.tuning import DEFAULT, Tuning

_TRIED: ContextVar[Tuning] = ContextVar("tried", default=DEFAULT)


@contextmanager
def trying(tuning: Tuning) -> Iterator[None]:
    """
    Let all rounds of a block be planned with other numbers.
    """
    token = _TRIED.set(tuning)
    try:
        yield
    finally:
        _TRIED.reset(token)


def decide(snapshot: Snapshot, policy: Policy, *, strategy: str = "solver") -> Plan:
    """
    Plan a round without a clock.
    """
    return decide_with(snapshot, policy, strategy=strategy, tuning=_TRIED.get())


def decide_alone(
    snapshot: Snapshot, policy: Policy, *, strategy: str = "solver"
) -> Plan:
    """
    Plan a round as if nobody asked what the next one does, as the exact model does not.
    """
    with trying(tuned(_TRIED.get(), "search.most_short_lived", 0)):
        return decide(snapshot, policy, strategy=strategy)


def planned(snapshot: Snapshot, policy: Policy, strategy: str = "solver") -> Plan:
    """
    Plan a round as the command does, timed and on all lanes.
    """
    with no_collection():
        return decide_with(
            snapshot,
            policy,
            strategy=strategy,
            clock=monotonic,
            lanes=ThreadLanes(),
            tuning=_TRIED.get(),
        )
