"""
Pure functions from a snapshot and a policy to a verified plan.

This is the door: whoever is outside imports from here and nothing deeper.  A name is
loaded when it is first asked for, so that who wants a version need not load a solver.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solver.fallback import NOBODY_LEAVES as NOBODY_LEAVES
    from solver.fallback import decide_or_fall_back as decide_or_fall_back
    from solver.next_round import next_moment as next_moment
    from solver.next_snapshot import carry_out as carry_out
    from solver.next_snapshot import is_live as is_live
    from solver.next_snapshot import not_chosen as not_chosen
    from solver.plan.plan import VERSION as VERSION
    from solver.plan.plan import versions as versions
    from solver.problem.gang_state import has_ended as has_ended
    from solver.problem.gang_state import least_pods as least_pods
    from solver.problem.gang_state import satisfied_after as satisfied_after
    from solver.problem.gang_state import standing as standing
    from solver.problem.pod_counts import beyond_quotas as beyond_quotas
    from solver.problem.pod_values import PodValues as PodValues
    from solver.problem.when_empty.shared_out import shared_out as shared_out
    from solver.round import RoundMemo as RoundMemo
    from solver.round import decide as decide
    from solver.run_times.time_left import RunTimeForecast as RunTimeForecast
    from solver.run_times.time_left import TimeLeft as TimeLeft
    from solver.run_times.time_left import ran_for as ran_for
    from solver.run_times.told_ends import ToldEnds as ToldEnds
    from solver.score.tier import LOSSES as LOSSES
    from solver.shares.fair_share import FairPart as FairPart
    from solver.shares.fair_share import fair_parts as fair_parts
    from solver.shares.fair_share import fair_shares as fair_shares
    from solver.shares.fair_share import with_memory as with_memory
    from solver.strategies import STRATEGIES as STRATEGIES
    from solver.tuning import Tuning as Tuning
    from solver.verify.judge import verify as _verify
    from solver.verify.violation import Violation as Violation
    from solver.why.all_waiting import why_all_wait as why_all_wait
    from solver.why.same_rounds import RoundsTakeLongError as RoundsTakeLongError
    from solver.why.start_anyway import start_anyway as start_anyway
    from solver.why.tried_changes import remedies_of as remedies_of
    from solver.why.when_starts import StartsAsked as StartsAsked
    from solver.why.when_starts import when_starts as when_starts
    from solver.why.why_waits import RoundAsked as RoundAsked
    from solver.why.why_waits import why_waits as why_waits

    judge = _verify

_ROOMS = {
    "fallback": ("NOBODY_LEAVES", "decide_or_fall_back"),
    "next_round": ("next_moment",),
    "next_snapshot": ("carry_out", "is_live", "not_chosen"),
    "plan.plan": ("VERSION", "versions"),
    "problem.gang_state": ("has_ended", "least_pods", "satisfied_after", "standing"),
    "problem.pod_counts": ("beyond_quotas",),
    "problem.pod_values": ("PodValues",),
    "problem.when_empty.shared_out": ("shared_out",),
    "round": ("RoundMemo", "decide"),
    "run_times.time_left": ("RunTimeForecast", "TimeLeft", "ran_for"),
    "run_times.told_ends": ("ToldEnds",),
    "score.tier": ("LOSSES",),
    "shares.fair_share": ("FairPart", "fair_parts", "fair_shares", "with_memory"),
    "strategies": ("STRATEGIES",),
    "tuning": ("Tuning",),
    "verify.judge": ("judge",),
    "verify.violation": ("Violation",),
    "why.all_waiting": ("why_all_wait",),
    "why.same_rounds": ("RoundsTakeLongError",),
    "why.start_anyway": ("start_anyway",),
    "why.tried_changes": ("remedies_of",),
    "why.when_starts": ("StartsAsked", "when_starts"),
    "why.why_waits": ("RoundAsked", "why_waits"),
}
_CALLED_THERE = {"judge": "verify"}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """
    Load the room of a name when it is asked for.
    """
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = import_module(f"{__name__}.{_ROOM_OF[name]}")
    return getattr(room, _CALLED_THERE.get(name, name))
