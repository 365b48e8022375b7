"""
Rules about what a plan says of itself: tiers, status, and a line for each gang.
"""

from collections import Counter
from collections.abc import Iterator

from models.plan import GangLine, TierResult
from solver.verify.evidence import Evidence
from solver.verify.violation import Violation

_GETS_PODS = frozenset({"Starting", "Growing"})
_GETS_NONE = frozenset({"Waiting", "Finished", "Running"})


def tier_bounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every tier's bound is on the far side of its value.
    """
    for tier in evidence.plan.tiers:
        gap = tier.bound - tier.value
        if (gap < 0) if tier.direction == "max" else (gap > 0):
            side = "below" if gap < 0 else "above"
            message = f"bound {tier.bound} is {side} the value {tier.value}"
            yield Violation("tier-bound", _tier_name(tier), message)


def tier_proofs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a tier is called proven only with all before it, at its bound.
    """
    unproven: TierResult | None = None
    for tier in evidence.plan.tiers:
        if tier.proof == "proven":
            if tier.bound != tier.value:
                message = (
                    f"called proven, but {tier.value} is not the bound {tier.bound}"
                )
                yield Violation("tier-proof", _tier_name(tier), message)
            elif unproven is not None:
                message = f"called proven, but {_tier_name(unproven)} before it is not"
                yield Violation("tier-proof", _tier_name(tier), message)
        elif unproven is None:
            unproven = tier


def plan_status(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that an optimal plan has every tier proven and an idle one does nothing.
    """
    plan = evidence.plan
    unproven = [tier for tier in plan.tiers if tier.proof != "proven"]
    if plan.status == "optimal" and unproven:
        message = (
            f"called optimal, but {len(unproven)} of {len(plan.tiers)} tiers are not "
            f"proven, first {_tier_name(unproven[0])}"
        )
        yield Violation("plan-status", "plan", message)
    if plan.status == "idle" and plan.operations:
        message = f"called idle, but it has {len(plan.operations)} operations"
        yield Violation("plan-status", "plan", message)


def _tier_name(tier: TierResult) -> str:
    return tier.name if tier.band is None else f"{tier.name}/{tier.band}"


def gang_lines(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every gang has at most one line, which says what the operations do.
    """
    binds = Counter(
        step.operation.gang for step in evidence.steps if step.operation.op == "Bind"
    )
    seen: set[str] = set()
    for line in evidence.plan.gangs:
        message = _contradiction(line, binds[line.name])
        if line.name not in evidence.gangs:
            message = "the plan lists it, but it does not exist"
        elif line.name in seen:
            message = "the plan lists it twice"
        seen.add(line.name)
        if message:
            yield Violation("gang-line", line.name, message)


def _contradiction(line: GangLine, binds: int) -> str:
    if line.pods.binding != binds:
        return f"says {line.pods.binding} pods are bound, {binds} are"
    if line.state in _GETS_PODS and not binds:
        return f"called {line.state}, but no pod of it is bound"
    if line.state in _GETS_NONE and binds:
        return f"called {line.state}, but {binds} pods of it are bound"
    return ""
