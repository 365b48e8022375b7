"""
Measured evictions: full clusters, planned by both strategies, and what each one loses.
"""

from collections.abc import Callable, Iterator, Sequence

from benchmarks.contract_evict import Bounds, Eviction, Evictions
from benchmarks.full_world import make_full_world
from benchmarks.losses import Losses, losses_of
from benchmarks.measure import total_of, worst_gap
from benchmarks.planned import planned
from benchmarks.rows import Range, Row, tier_lines
from models.gangs import pod_sets
from models.plan import Plan
from models.snapshot import Snapshot


def measure_evictions(contract: Evictions) -> Iterator[Row]:
    """
    Measure every run of a row.
    """
    for run in contract.runs:
        name = f"{contract.name} {run.name}".strip()
        yield _row(name, run, contract.repeat)


def _row(name: str, run: Eviction, repeat: int) -> Row:
    """
    Plan with both strategies; the fastest run counts, and the worst losses of all.
    """
    snapshot = make_full_world(run.world)
    plans = [planned(snapshot, run.policy) for _ in range(repeat)]
    greedy = planned(snapshot, run.policy, "greedy")
    plan = min(plans, key=total_of)
    losses, base = losses_of(snapshot, plan), losses_of(snapshot, greedy)
    facts = {
        **_size(snapshot),
        **losses.facts(),
        **base.facts("greedy"),
        "lostGpusOverGreedy": _over(losses.per_gained, base.per_gained),
        "lostWorkOverGreedy": _over(losses.work_per_gained, base.work_per_gained),
        "variables": plan.model.variables,
    }
    tiers = run.reach.tiers or None
    return Row(
        name=name,
        seconds=dict(plan.seconds or {}),
        greedy_seconds=total_of(greedy),
        tiers=tier_lines(plan, greedy),
        worst_gap=max(worst_gap(plan, tiers) for plan in plans),
        facts=facts,
        notes=(f"status {plan.status}",),
        ranges=tuple(_ranges(run.reach, snapshot, plans, base)),
    )


def _size(snapshot: Snapshot) -> dict[str, float]:
    """
    Count nodes and gangs, and the pods that run and that wait.
    """
    pods = [
        pod.node is not None
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    ]
    return {
        "nodes": len(snapshot.nodes),
        "gangs": len(snapshot.gangs),
        "runningPods": sum(pods),
        "pendingPods": len(pods) - sum(pods),
    }


def _over(value: float, base: float) -> float:
    return round(value / base, 4) if base else float(value > 0)


# --- what must hold ---------------------------------------------------------------


def _ranges(
    reach: Bounds, snapshot: Snapshot, plans: Sequence[Plan], greedy: Losses
) -> Iterator[Range]:
    yield Range(what="seconds", value=min(map(total_of, plans)), limit=reach.seconds)
    yield from _proofs(reach, plans)
    losses = [losses_of(snapshot, plan) for plan in plans]
    exact: list[tuple[str, int | None, Callable[[Losses], int]]] = [
        ("pods evicted", reach.evicted, lambda found: found.evicted),
        ("pods moved", reach.moved, lambda found: found.moved),
        ("GPUs gained", reach.gained, lambda found: found.gained),
    ]
    for what, limit, count in exact:
        if limit is not None:
            far = max((count(found) for found in losses), key=lambda n: abs(n - limit))
            yield Range(what=what, value=far, limit=limit, side="exactly")
    if reach.lost_per_gained is not None:
        most = max(found.per_gained for found in losses)
        yield Range(
            what="GPUs lost per gained", value=most, limit=reach.lost_per_gained
        )
    if reach.over_greedy is not None:
        work = max(found.work_per_gained for found in losses)
        over = _over(work, greedy.work_per_gained)
        yield Range(what="work lost over greedy's", value=over, limit=reach.over_greedy)
    if reach.greedy_per_gained is not None:
        yield Range(
            what="GPUs lost per gained by greedy",
            value=greedy.per_gained,
            limit=reach.greedy_per_gained,
        )


def _proofs(reach: Bounds, plans: Sequence[Plan]) -> Iterator[Range]:
    if reach.tiers:
        gap = max(worst_gap(plan, reach.tiers) for plan in plans)
        yield Range(what="worst gap", value=gap, limit=reach.gap, unit="%")
    if reach.optimal:
        count = sum(plan.status == "optimal" for plan in plans)
        yield Range(
            what="runs proven optimal", value=count, limit=len(plans), side="at least"
        )
    if reach.bound is not None:
        least = min(_known(plan) for plan in plans)
        yield Range(
            what="bound over value of disruption",
            value=least,
            limit=reach.bound,
            side="at least",
        )


def _known(plan: Plan) -> float:
    """
    Give the part of the loss that is proven to be necessary; all, where none is lost.
    """
    tiers = [tier for tier in plan.tiers if tier.name == "disruption"]
    return min((tier.bound / tier.value for tier in tiers if tier.value), default=1.0)
