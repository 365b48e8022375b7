"""
The tiers of the small model, each solved to its proven optimum and locked.
"""

from collections import Counter

from exact.facts import gather
from exact.model import build
from exact.small_model import Shares, SmallModel
from exact.solved import UndecidedError, solved
from exact.tiers import Expr, tier_expressions
from models.gangs import PodPhase, pod_sets
from models.plan import Placement
from models.policy import Policy
from models.snapshot import Snapshot
from solver.effort.cp_sat import cp_model

Value = tuple[str, int | None, int]


def best(snapshot: Snapshot, policy: Policy, shares: Shares) -> list[Value]:
    """
    Give the best vector of the policy's tiers, as (name, band, value).

    Parameters
    ----------
    snapshot
        A small case: up to about ten nodes and gangs.
    policy
        Its tiers are solved in order; ``order`` is always last.
    shares
        The fair share per queue and named resource.
    """
    small = build(gather(snapshot), shares)
    found = _optimise(small, policy)
    if found is None:
        raise UndecidedError("the small model has no plan at all, not even none")
    return found


def best_that_starts(
    gang: str, snapshot: Snapshot, policy: Policy, shares: Shares
) -> list[Value] | None:
    """
    Give the best vector, nobody leaving, of a plan that starts a gang, if there is one.

    Parameters
    ----------
    gang
        Who is to start, of those that wait.
    snapshot, policy, shares
        As for ``best``.
    """
    small = build(gather(snapshot), shares)
    small.cp.add(small.starts[gang] == 1)
    return _optimise(small, policy)


def check_feasible(
    snapshot: Snapshot, policy: Policy, shares: Shares, placement: Placement
) -> list[Value] | None:
    """
    Give the tier values of one placement, or ``None`` when it breaks a rule.
    """
    small = build(gather(snapshot), shares)
    counts = _bind_counts(snapshot, placement)
    if counts.keys() - small.binds.keys():
        return None
    for where, var in small.binds.items():
        small.cp.add(var == counts.get(where, 0))
    if policy.has("entitled") or policy.has("borrowing"):
        for key, var in small.entitled.items():
            small.cp.add(var == (key in placement.entitled))
    return _optimise(small, policy)


def _bind_counts(
    snapshot: Snapshot, placement: Placement
) -> Counter[tuple[str, str, str]]:
    """
    Count a placement's pods per (gang, leaf, node); pods unknown or not pending too.
    """
    leaf_of = {
        f"{gang.namespace}/{pod.name}": (gang.key, leaf.name)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.PENDING
    }
    return Counter(
        (*leaf_of.get(pod, ("", "")), node) for pod, node in placement.binds.items()
    )


def _optimise(small: SmallModel, policy: Policy) -> list[Value] | None:
    """
    Solve tier by tier; ``None`` when no plan is legal.
    """
    found: list[Value] = []
    for name, band, sign, expr in tier_expressions(small, policy):
        value = maximum(small.cp, sign, expr)
        if value is None:
            return None
        small.cp.add(expr == value)
        found.append((name, band, value))
    return found


def maximum(model: cp_model.CpModel, sign: int, expr: Expr) -> int | None:
    """
    Give the greatest value of an expression, or the least where the sign is negative.
    """
    model.maximize(sign * expr)
    solver = solved(model)
    return None if solver is None else solver.value(expr)
