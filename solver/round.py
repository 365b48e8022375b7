"""
The round: a snapshot and a policy in, a verified plan out.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from models.errors import PlanRejectedError
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.bounds import trivial_bound
from solver.draft import placement_of
from solver.explain import explain
from solver.greedy import greedy
from solver.lanes import Lanes
from solver.outcome import Clock, Outcome, Stopwatch, tier_results
from solver.plan import plan_of
from solver.problem import Problem, problem_of
from solver.score import score, tier_keys
from solver.search import search
from solver.verify import verify

Strategy = Callable[[Problem, Stopwatch], Outcome]
PHASES = ("problem", "greedy", "build", "search", "decode", "verify")


def plan_greedily(problem: Problem, watch: Stopwatch) -> Outcome:
    """
    Plan gang by gang; the bounds are those of arithmetic.
    """
    draft = greedy(problem)
    watch.lap("greedy")
    keys = tier_keys(problem)
    values = score(problem, draft)
    bounds = [trivial_bound(problem, key) for key in keys]
    return Outcome(draft=draft, tiers=tier_results(keys, values, bounds))


STRATEGIES: Mapping[str, Strategy] = {"greedy": plan_greedily, "solver": search}


def decide(
    snapshot: Snapshot,
    policy: Policy,
    *,
    strategy: str = "solver",
    clock: Clock | None = None,
    lanes: Lanes | None = None,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """
    Plan one round and verify it.

    Parameters
    ----------
    snapshot
        What is.
    policy
        What is wanted, and how long the search may take.
    strategy
        ``solver`` or ``greedy``.
    clock
        A monotonic clock; with it the plan says how long each phase took, and only
        with it a limit in seconds can hold.
    lanes
        What two searches may run on at once, with a limit in seconds and two workers.
    progress
        Told the name of each phase as it begins.

    Raises
    ------
    PlanRejectedError
        When the plan breaks a rule; nothing of it may be carried out.
    """
    tell = progress or (lambda _: None)
    watch = Stopwatch(clock, lanes)
    tell("problem")
    problem = problem_of(snapshot, policy)
    watch.lap("problem")
    tell("search")
    outcome = STRATEGIES[strategy](problem, watch)
    tell("verify")
    waiting = explain(problem, outcome.draft)
    plan = plan_of(
        snapshot,
        policy,
        placement_of(problem, outcome.draft),
        outcome,
        strategy=strategy,
        waiting=waiting,
    )
    watch.lap("decode")
    violations = verify(snapshot, policy, plan)
    watch.lap("verify")
    if violations:
        raise PlanRejectedError([str(v) for v in violations])
    if clock is None:
        return plan
    seconds = {phase: watch.seconds.get(phase, 0.0) for phase in PHASES}
    return replace(plan, seconds={**seconds, "total": watch.spent()})
