"""
Strategies by name: who decides, what it is shown, and what else it needs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from adapters.machine.threads import ThreadLanes
from adapters.replay.engine import Clock, Timed
from adapters.replay.world.world import Look
from models.policy import Policy
from solver import decide_or_fall_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """
    A way to decide, as the rounds know it.

    ``look`` is what it is shown of the line; without ``fair`` no nodes are held for
    heads and nobody leaves; ``pieces`` are pods that know no gang.  What is
    ``timeless`` decides the same again where nobody came or ended, and nobody runs for
    longer than was said.
    """

    decides: str
    look: Look = "kinds"
    fair: bool = False
    pieces: bool = False
    timeless: bool = False
    needs_estimates: bool = False


STRATEGIES: Mapping[str, Strategy] = {
    "solver": Strategy(decides="solver", fair=True),
    "greedy": Strategy(decides="greedy", fair=True),
    "fifo": Strategy(decides="fifo", look="all", timeless=True),
    "easy": Strategy(decides="easy", look="all", timeless=True, needs_estimates=True),
    "conservative": Strategy(
        decides="conservative", look="all", timeless=True, needs_estimates=True
    ),
    "best-fit": Strategy(decides="best-fit"),
    "per-pod": Strategy(decides="best-fit", pieces=True),
}


def planner_of(strategy: Strategy, clock: Clock, *, timed: bool) -> Timed:
    """
    Make the planner of a strategy.

    Parameters
    ----------
    strategy
        Who decides.
    clock
        What measures decisions.
    timed
        Whether the policy limits the search in seconds, which needs the clock.
    """
    known: dict[str, object] = {"strategy": strategy.decides}
    if timed:
        known |= {"clock": clock, "lanes": ThreadLanes()}
    full: Callable[..., object] = partial(decide_or_fall_back, **known)  # type: ignore[arg-type]
    brief = partial(full, explained=False)
    return Timed(full, brief, clock)  # type: ignore[arg-type]


def policy_of(strategy: Strategy, policy: Policy, *, evictions: bool) -> Policy:
    """
    Take from a policy what a strategy, or a replay without evictions, does not know.
    """
    changes: dict[str, object] = {}
    if not (evictions and strategy.fair):
        off = dict.fromkeys(("preempt", "reclaim", "consolidate"), False)
        changes["evict"] = policy.evict.model_copy(update={**off, "lent_for": 0})
    if not strategy.fair:
        changes["waiting"] = policy.waiting.model_copy(update={"heads": 0})
    return policy.model_copy(update=changes)
