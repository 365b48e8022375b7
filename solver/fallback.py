"""
Falling back: what is planned where the judge rejects a plan, or its making breaks.

First as asked, then without evictions and moves, then by greedy without them; each
plan is judged before it leaves.  A mistake in one rule then costs what that rule is
for, and not the round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from models.errors import PlanRejectedError
from models.plan import FailedTry, Fallback, Plan, Proof, TierResult, Way
from models.policy import Evict, Policy
from models.snapshot import Snapshot
from solver.effort.budget import Clock, Lanes
from solver.problem.problem import problem_of
from solver.round import RoundMemo, RoundOptions, budget_of, judged, propose
from solver.score.tiers import tier_keys, trivial_bound

NOBODY_LEAVES = Evict(
    preempt=False, reclaim=False, consolidate=False, stale=False, lentFor=0
)
"""
What may leave in a round that is planned again: nothing.
"""


@dataclass(frozen=True, slots=True)
class _Try:
    """
    One way to plan a round.
    """

    way: Way
    strategy: str
    policy: Policy


def decide_or_fall_back(  # noqa: PLR0913 - as decide
    snapshot: Snapshot,
    policy: Policy,
    *,
    strategy: str = "solver",
    clock: Clock | None = None,
    lanes: Lanes | None = None,
    progress: Callable[[str], None] | None = None,
    explained: bool = True,
    memo: RoundMemo | None = None,
) -> Plan:
    """
    Plan one round and verify it, in lesser ways where it fails; the plan says in which.

    Parameters are those of ``decide``.  All ways together have the limit of
    one.

    Raises
    ------
    PlanRejectedError
        When every way failed, and the plan as asked broke a rule.
    Exception
        What the first way raised, when every way failed, with a note of each other.
    """
    budget = budget_of(policy, clock, lanes)
    asked = RoundOptions(progress=progress, explained=explained, memo=memo)

    def proposed(one: _Try) -> Plan:
        shared = memo if one.way == "as-asked" else None
        options = replace(asked, strategy=one.strategy, memo=shared)
        budget.until = None
        return propose(snapshot, one.policy, budget, options)

    def judge(plan: Plan) -> Plan:
        return judged(snapshot, policy, plan, budget.watch, memo)

    return _first_that_holds(snapshot, _tries(policy, strategy), proposed, judge)


def _first_that_holds(
    snapshot: Snapshot,
    tries: Sequence[_Try],
    proposed: Callable[[_Try], Plan],
    judge: Callable[[Plan], Plan],
) -> Plan:
    failed: list[FailedTry] = []
    first: Exception | None = None
    for one in tries:
        plan: Plan | None = None
        try:
            plan = proposed(one)
            if failed:
                plan = _modest(snapshot, tries[0].policy, plan)
            plan = judge(plan)
        except Exception as error:  # noqa: BLE001 - whatever a strategy does wrong
            first = first or error
            failed.append(_failed(one.way, plan, error))
        else:
            if not failed:
                return plan
            return replace(plan, fallback=Fallback(way=one.way, failed=tuple(failed)))
    assert first is not None
    raise _all_failed(first, tuple(failed))


def _tries(policy: Policy, strategy: str) -> list[_Try]:
    """
    List the ways to plan a round, each only where it differs from those before it.
    """
    calm = policy.model_copy(update={"evict": NOBODY_LEAVES})
    tries = [_Try("as-asked", strategy, policy)]
    if policy.evict.stale or policy.makes_leave(borrowing=False):
        tries.append(_Try("without-evictions", strategy, calm))
    if strategy != "greedy":
        tries.append(_Try("greedy", "greedy", calm))
    return tries


def _failed(way: Way, plan: Plan | None, error: Exception) -> FailedTry:
    if isinstance(error, PlanRejectedError):
        return FailedTry(way=way, violations=tuple(error.violations), plan=plan)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    said = f"{type(error).__name__}: {error}"
    return FailedTry(way=way, error=said, frames=tuple(frames))


def _all_failed(first: Exception, failed: tuple[FailedTry, ...]) -> Exception:
    """
    Give the error of a round that no way could plan: what went wrong as asked.
    """
    if isinstance(first, PlanRejectedError):
        return PlanRejectedError(first.violations, failed)
    for later in failed[1:]:
        why = later.error or later.violations[0]
        first.add_note(f"planned again, {later.way}: {why}")
    return first


# --- what may be claimed ----------------------------------------------------------


def _modest(snapshot: Snapshot, policy: Policy, plan: Plan) -> Plan:
    """
    Let a plan without evictions claim what holds of the round as it was asked.

    With evictions more might have started, so the bounds of starts are those of
    arithmetic.  Where all that waits starts as entitled nobody would have left, and
    all later bounds hold; else these hold for the starts of this plan.
    """
    if not policy.makes_leave(borrowing=False):
        return plan
    problem = problem_of(snapshot, policy)
    most: dict[tuple[str, int | None], int] = {
        (key.name, key.label): trivial_bound(problem, key)
        for key in tier_keys(problem)
        if key.name in {"entitled", "borrowing"}
    }
    tiers: list[TierResult] = []
    earlier = True
    for tier in plan.tiers:
        bound = tier.bound
        if tier.name == "entitled" or not earlier:
            bound = max(bound, most.get((tier.name, tier.band), bound))
        closed = bound == tier.value
        proof: Proof = "gap"
        if closed:
            sure = earlier and tier.proof == "proven"
            proof = "proven" if sure else "conditional"
        earlier = earlier and proof == "proven"
        tiers.append(replace(tier, bound=bound, proof=proof))
    status = "feasible" if plan.status == "optimal" and not earlier else plan.status
    return replace(plan, tiers=tuple(tiers), status=status)
